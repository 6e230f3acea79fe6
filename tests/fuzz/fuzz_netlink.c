// SPDX-License-Identifier: BSD-2-Clause
/*
 * tribd's netlink server with its faces, jobs and trees, without a kernel
 * (daemon_double.c), fed with sequences of valid and damaged requests. A
 * request that changes something gets exactly one answer. A refused request, or
 * one not from root, changes nothing. All counts stay right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

static ssize_t fuzz_recvmsg(int fd, struct msghdr *h, int flags);

/* The code under test, with its socket replaced. */
#define recvmsg fuzz_recvmsg
#include "daemon/netlink/netlink.c"
#include "daemon/wire.h"
#undef recvmsg

#include "daemon/face/face.h"
#include "daemon/job/job.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/tree/tree.h"
#include "tests/fuzz/input.h"

static struct tribd D;
static char message[TRIB_NL_MSG_MAX] __attribute__((aligned(8)));
static size_t message_len;
static uint32_t message_uid;
static int answers, errors, last_error;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "netlink: %s\n", what);
	abort();
}

/* --- the socket */

static ssize_t fuzz_recvmsg(int fd, struct msghdr *h, int flags)
{
	struct ucred cred = {.pid = 1, .uid = message_uid};
	struct sockaddr_nl *from = h->msg_name;
	struct cmsghdr *c;

	(void)fd;
	(void)flags;
	memcpy(h->msg_iov->iov_base, message, message_len);
	*from = (struct sockaddr_nl){.nl_family = AF_NETLINK, .nl_pid = 7};
	memset(h->msg_control, 0, h->msg_controllen);
	c = CMSG_FIRSTHDR(h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_CREDENTIALS;
	c->cmsg_len = CMSG_LEN(sizeof(cred));
	memcpy(CMSG_DATA(c), &cred, sizeof(cred));
	h->msg_flags = 0;
	return (ssize_t)message_len;
}

/* Answers must be well-formed. */
ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to,
	       socklen_t tolen)
{
	const struct nlmsghdr *nlh = data;
	int rem = (int)len;

	(void)fd;
	(void)flags;
	(void)to;
	(void)tolen;
	must(len <= TRIB_NL_MSG_MAX, "an answer is too long");
	for (; nlmsg_ok(nlh, rem); nlh = nlmsg_next((struct nlmsghdr *)nlh, &rem)) {
		answers++;
		if (nlh->nlmsg_type != NLMSG_ERROR)
			continue;
		errors++;
		last_error = ((struct nlmsgerr *)nlmsg_data(nlh))->error;
	}
	must(rem <= 0, "an answer is cut short");
	return (ssize_t)len;
}

/* --- requests */

static const char *const words[] = {"a",
				    "b",
				    "c",
				    "d",
				    "up",
				    "train",
				    "eval",
				    "p0",
				    "p1",
				    "p2",
				    "p9",
				    "",
				    " ",
				    "\xff",
				    "/",
				    "/ps",
				    "/ps/job",
				    "/insert/x",
				    "/%",
				    "insert",
				    "/v=1/seg=18446744073709551615",
				    "10.0.0.1:7416"};

static void *put(size_t n)
{
	void *at = message + message_len;

	if (message_len + NLMSG_ALIGN(n) > sizeof(message))
		return NULL;
	memset(at, 0, NLMSG_ALIGN(n));
	message_len += NLMSG_ALIGN(n);
	return at;
}

/* Put one attribute, mostly as its set requires. */
static void put_attr(struct input *in, const struct nl_set *set, int depth)
{
	unsigned int type = take8(in) % (set->max + 2);
	const struct nl_attr *a = type <= set->max ? &set->attr[type] : NULL;
	static const uint8_t sizes[] = {1, 2, 4, 8};
	size_t start = message_len, n = 0;
	struct nlattr *at = put(NLA_HDRLEN);
	const char *word;
	uint8_t *body, bend = take8(in);

	if (!at)
		return;
	if (!a || !a->name) {
		n = bend % 9;
	} else if (a->kind == NL_NEST && depth) {
		for (int i = 1 + take8(in) % 8; i && in->left; i--)
			put_attr(in, a->nest, depth - 1);
		n = message_len - start - NLA_HDRLEN;
		goto end;
	} else if (a->kind == NL_TEXT) {
		word = words[take8(in) % (sizeof(words) / sizeof(words[0]))];
		n = strlen(word) + 1;
		body = put(n);
		if (body)
			memcpy(body, word, n);
		goto end;
	} else {
		n = a->kind == NL_BYTES ? a->size : sizes[a->kind & 3];
	}
	if (bend == 0xff)
		n++;
	body = put(n);
	for (size_t i = 0; body && i < n; i++)
		body[i] = i && bend & 0x40 ? 0 : take8(in);
end:
	at->nla_type = (uint16_t)type;
	at->nla_len = (uint16_t)(NLA_HDRLEN + n + (bend == 0xfe));
}

static void put_request(struct input *in)
{
	struct nlmsghdr *nlh = put(NLMSG_HDRLEN);
	struct genlmsghdr *genl = put(GENL_HDRLEN);
	uint8_t cmd = take8(in), how = take8(in);

	nlh->nlmsg_type = how == 0xff ? 0x10 : TRIB_NL_TYPE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (how & 0x20 ? NLM_F_DUMP : 0);
	genl->cmd = cmd % (TRIB_CMD__MAX + 1);
	message_uid = how & 0x10 ? 1000 : 0;
	if (how & 0x40) { /* any value */
		char *raw = put(take8(in));

		while (raw && raw < message + message_len && in->left)
			*raw++ = (char)take8(in);
	}
	for (int i = how & 3; i && in->left; i--)
		put_attr(in, &nl_top, 3);
	nlh->nlmsg_len = (uint32_t)message_len + (how == 0xfe);
}

/* --- what must hold */

/* @held: bits of held trees; @rate, @meet: sums over all jobs. */
struct shape {
	uint64_t faces, jobs, trees, held, rate, meet;
	uint64_t peers, routes, prefixes, times;
};

static struct shape shape_of(void)
{
	struct shape s = {.faces = D.nfaces, .jobs = D.njobs, .trees = D.ntrees};
	const struct ndnd_route *r;
	const struct tree *t;
	const struct face *f;
	const struct job *j;

	TAILQ_FOREACH(t, &D.trees, link)
		s.held |= (uint64_t)t->held << (t->id & 63);
	TAILQ_FOREACH(j, &D.jobs, link) {
		s.rate = s.rate * 31 + j->rate;
		s.meet = s.meet * 31 + j->peers_port;
		must(!j->peers_port || !addr_is_zero(&j->peers), "where a job's peers meet");
	}
	TAILQ_FOREACH(f, &D.faces, link)
		if (f->ndn)
			s.peers = s.peers * 31 + f->ndn->number + 256 * f->ndn->port + f->ndn->kind;
	TAILQ_FOREACH(r, &D.ndn->routes, link)
		s.routes = s.routes * 31 + r->name.len + 256 * r->face->ndn->number;
	s.prefixes = D.ndn->nprefixes;
	s.times = D.ndn->lease_ms + ((uint64_t)D.ndn->leave_ms << 32);
	return s;
}

/* A switch changes only held, job-set only the rate. */
static void change_holds(uint8_t cmd, const struct shape *was, const struct shape *is)
{
	bool same = was->faces == is->faces && was->jobs == is->jobs && was->trees == is->trees;

	if (cmd == TRIB_CMD_TREE_SWITCH)
		must(same && was->rate == is->rate, "a switch did more");
	if (cmd == TRIB_CMD_JOB_SET)
		must(same && was->held == is->held && was->meet == is->meet, "a setting did more");
}

/* Such a row has nothing in the maps, and its ranks have different ports. */
static void worker_holds(const struct tree *t)
{
	unsigned int i, k;
	struct tree *o;

	must(t->weight && t->weight <= TRIB_TREE_WEIGHT_MAX, "a weight");
	must(t->nlocal && !t->nchild && !t->parent && !t->ndown && !t->row.flags &&
		     t->workers.nhop <= TRIB_ATTACH_HOPS,
	     "a row of workers");
	for (i = 0; i < t->workers.nhop; i++)
		must(t->workers.hop[i].relay && t->workers.hop[i].relay != TRIB_RELAY_PS &&
			     t->workers.hop[i].face,
		     "a hop");
	TAILQ_FOREACH(o, &D.trees, link)
		for (i = 0; i < t->nlocal; i++)
			for (k = 0; k < o->nlocal; k++)
				must(t->local[i].port >= 1024 &&
					     (t->local[i].port != o->local[k].port ||
					      (t->local[i].rank == o->local[k].rank &&
					       t->job == o->job)),
				     "a port of two ranks");
}

static void ndn_hold(void)
{
	unsigned int prefixes = 0, uses = 0, routes = 0;
	const struct face *f, *g;
	const struct ndnd_route *r, *o;

	TAILQ_FOREACH(f, &D.faces, link) {
		if (!f->ndn) {
			must(!addr_is_zero(&f->addr), "a face of nothing");
			continue;
		}
		prefixes += f->ndn->n;
		uses += f->ndn->routes;
		must(f->ndn->number && f->ndn->n <= NDND_PREFIXES_MAX &&
			     (f->ndn->kind == TRIB_FACE_NDN_ROUTER ||
			      f->ndn->kind == TRIB_FACE_NDN_HOST),
		     "an ndn face");
		must(!addr_is_zero(&f->addr) || (!f->ndn->port && !f->trees),
		     "a face without an address");
		TAILQ_FOREACH(g, &D.faces, link)
			must(g == f || !g->ndn || g->ndn->number != f->ndn->number,
			     "a number of two faces");
	}
	TAILQ_FOREACH(r, &D.ndn->routes, link) {
		routes++;
		must(r->face && r->face->ndn, "a route to nobody");
		TAILQ_FOREACH(o, &D.ndn->routes, link)
			must(o == r || !ndnd_name_is_equal(&o->name, &r->name),
			     "two routes of a name");
	}
	must(prefixes == D.ndn->nprefixes && uses == routes && routes == D.ndn->nroutes,
	     "prefixes or routes are miscounted");
}

static void counts_hold(void)
{
	unsigned int faces = 0, jobs = 0, trees = 0, used = 0, uses = 0;
	uint32_t slots = 0, n;
	struct face *f;
	struct job *j;
	struct tree *t;

	TAILQ_FOREACH(f, &D.faces, link) {
		faces++;
		uses += f->trees;
		must(f->port && f->name[0], "a face without a port or name");
	}
	TAILQ_FOREACH(j, &D.jobs, link) {
		jobs++;
		must(j->world && j->world <= TRIB_WORLD_MAX && j->window &&
			     !(j->window & (j->window - 1)),
		     "a job's parameters");
	}
	TAILQ_FOREACH(t, &D.trees, link) {
		trees++;
		n = t->kind == TREE_DEDICATED ? t->dedicated.slots : 0;
		slots += n;
		used += t->nchild + t->ndown + !!t->parent;
		if (t->kind == TREE_WORKERS)
			used += t->workers.nhop;
		must(t->job && t->nchild <= TRIB_CHILDREN_MAX, "a tree");
		must(t->id < D.config.ntrees, "a tree's number");
		must(t->row.slot0 + n <= D.config.nslots, "slots");
		must(t->kind != TREE_SHARED ||
			     (t->parent && t->nchild && t->shared.next != t->shared.relay &&
			      t->shared.cap <= D.config.npool &&
			      t->shared.mark0 + 2 * t->job->window <= D.config.nmarks),
		     "a shared tree");
		if (t->kind == TREE_WORKERS)
			worker_holds(t);
	}
	must(faces == D.nfaces && jobs == D.njobs && trees == D.ntrees, "objects are miscounted");
	must(uses == used, "uses of faces are miscounted");
	must(slots == dedicated_slots_used(&D), "slots are miscounted");
	ndn_hold();
}

static void one_request(struct input *in)
{
	struct shape before = shape_of(), after;
	const struct genlmsghdr *genl;
	const struct nlmsghdr *nlh = (struct nlmsghdr *)message;

	message_len = 0;
	answers = errors = 0;
	put_request(in);
	genl = nlmsg_data(nlh);
	receive(&D, request);
	/* The loop's turns, until all is served. */
	for (int i = 0; D.nl->queue.turn.at_ns && i < 1 << 16; i++) {
		timer_cancel(&D, &D.nl->queue.turn);
		D.nl->queue.turn.fn(&D, &D.nl->queue.turn);
	}
	must(!D.nl->queue.turn.at_ns && !D.nl->queue.count, "a request is never served");
	after = shape_of();
	counts_hold();
	if (nlh->nlmsg_len > message_len) {
		must(!answers, "an answer to what never came whole");
		return;
	}
	must(answers, "no answer");
	must(errors <= 1, "two verdicts");
	if (!errors || last_error || message_uid)
		must(!memcmp(&before, &after, sizeof(before)),
		     "what was refused, or only read, changed something");
	change_holds(genl->cmd, &before, &after);
	if (message_uid && genl->cmd < TRIB_CMD__MAX && nl_command[genl->cmd].changes)
		must(last_error, "somebody may change things");
}

/*
 * Objects to refer to: a face on each of p0 to p3, two with NDN roles, jobs, a
 * route.
 */
static void furnish(void)
{
	static const char *const name[] = {"a", "b", "c", "up"};
	struct job_spec job = {.name = "train", .world = 4, .window = 4};
	struct job_spec other = {.name = "eval", .world = 4, .window = 4};
	static const struct ndnd_spec router = {
		.has_kind = true,
		.kind = TRIB_FACE_NDN_ROUTER,
	};
	struct reason why;

	for (int i = 0; i < 4; i++) {
		struct face_spec s = {
			.addr = {.s6_addr = {[10] = 0xff, 0xff, 10, 0, i, 2}},
		};

		snprintf(s.name, sizeof(s.name), "%s", name[i]);
		snprintf(s.ifname, sizeof(s.ifname), "p%d", i);
		must(!face_new(&D, &s, &why), "face_new()");
	}
	must(!job_new(&D, &job, &why) && !job_new(&D, &other, &why), "job_new()");
	must(!ndnd_face_set(&D, face_find(&D, "a"), &router, &why) &&
		     !ndnd_face_set(&D, face_find(&D, "up"), &router, &why) &&
		     !ndnd_route_new(&D, "/ps", "up", &why),
	     "ndn");
}

static void start(bool furnished)
{
	memset(&D, 0, sizeof(D));
	D.hooks = &wire_hooks;
	TAILQ_INIT(&D.ports);
	TAILQ_INIT(&D.faces);
	TAILQ_INIT(&D.jobs);
	TAILQ_INIT(&D.trees);
	D.config.nval = TRIB_NVAL_SMALL;
	D.config.ntrees = 8;
	D.config.nslots = 64;
	D.config.npool = 0; /* no map can be read here */
	D.config.nbuckets = 64;
	D.config.nmarks = 64;
	D.nl = calloc(1, sizeof(*D.nl));
	D.nl->watch.fd = -1;
	nl_clients_init(&D.nl->clients, &D.nl->queue);
	nl_queue_init(&D.nl->queue, &D.nl->clients, serve);
	must(!ndnd_init(&D), "ndnd_init()");
	D.ndn->on = true;
	D.ndn->entries = D.ndn->cache = 64;
	for (int i = 0; i < NDND_MAP__MAX; i++)
		D.ndn->map[i] = 100 + i; /* daemon_double.c */
	if (furnished)
		furnish();
}

static void end(void)
{
	nl_queue_exit(&D, &D.nl->queue);
	nl_clients_exit(&D, &D.nl->clients);
	free(D.nl);
	tree_free_all(&D);
	job_free_all(&D);
	face_free_all(&D);
	ndnd_exit(&D);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	start(take8(&in) & 3);
	for (int i = 0; i < 32 && in.left; i++)
		one_request(&in);
	end();
	return 0;
}

/* --- requests that chance does not make: trees, and changes to them */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

struct output {
	uint8_t *p;
	size_t size, max;
	uint32_t rnd;
};

static uint32_t rnd(struct output *o, uint32_t n)
{
	o->rnd = o->rnd * 1664525 + 1013904223;
	return (o->rnd >> 8) % n;
}

static void byte(struct output *o, unsigned int v)
{
	if (o->size < o->max)
		o->p[o->size++] = (uint8_t)v;
}

/* Write input for put_attr(): a word, a small number, a nest of @n. */
static void attr_word(struct output *o, int type, int word)
{
	byte(o, (unsigned int)type);
	byte(o, 0);
	byte(o, (unsigned int)word);
}

static void attr_small(struct output *o, int type, unsigned int v)
{
	byte(o, (unsigned int)type);
	byte(o, 0x40);
	byte(o, v);
}

static void attr_nest(struct output *o, int type, unsigned int n)
{
	byte(o, (unsigned int)type);
	byte(o, 0);
	byte(o, n - 1);
}

static void write_tree(struct output *o)
{
	unsigned int nchild = rnd(o, 4), up = rnd(o, 2), local = rnd(o, 2);
	unsigned int down = !rnd(o, 4), first = rnd(o, 4);

	byte(o, TRIB_CMD_TREE_NEW);
	byte(o, 1);
	unsigned int shared = up && !rnd(o, 3), index = !shared || !rnd(o, 8);

	attr_nest(o, TRIB_A_TREE, 1 + nchild + up * (1 + index) + local + down + 3 * shared);
	attr_word(o, TRIB_A_TREE_JOB, 5);
	for (unsigned int i = 0; i < nchild; i++) {
		attr_nest(o, TRIB_A_TREE_CHILD, 2);
		attr_word(o, TRIB_A_CHILD_FACE, (first + i) % 4);
		attr_small(o, TRIB_A_CHILD_RANK, i);
	}
	if (up) {
		attr_word(o, TRIB_A_TREE_PARENT, 4);
		if (index)
			attr_small(o, TRIB_A_TREE_UP_CHILD, rnd(o, 3));
	}
	if (shared) {
		attr_small(o, TRIB_A_TREE_RELAY, rnd(o, 3));
		attr_small(o, TRIB_A_TREE_NEXT, rnd(o, 4));
		attr_small(o, TRIB_A_TREE_CAP, rnd(o, 6));
	}
	if (local) {
		attr_nest(o, TRIB_A_TREE_LOCAL, 2);
		attr_small(o, TRIB_A_CHILD_RANK, rnd(o, 4));
		attr_small(o, TRIB_A_CHILD_INDEX, rnd(o, 4));
	}
	if (down)
		attr_word(o, TRIB_A_TREE_DOWN, rnd(o, 5));
}

/* Write @n bytes unchanged. */
static void attr_bytes(struct output *o, int type, const uint8_t *v, unsigned int n)
{
	byte(o, (unsigned int)type);
	byte(o, 0);
	while (n--)
		byte(o, *v++);
}

static void write_worker(struct output *o)
{
	uint8_t ps[16] = {[10] = 0xff, 0xff, 10, 0, 9, 2};
	uint8_t group[16] = {[10] = 0xff, 0xff, 239, 1, 1, 2};
	unsigned int nlocal = rnd(o, 3), nhop = rnd(o, 5);
	bool has_group = !rnd(o, 4), job2 = !rnd(o, 4);
	bool has_weight = !rnd(o, 4);

	byte(o, TRIB_CMD_TREE_NEW);
	byte(o, 1);
	attr_nest(o, TRIB_A_TREE, 2 + nlocal + nhop + has_group + has_weight);
	attr_word(o, TRIB_A_TREE_JOB, job2 ? 6 : 5);
	attr_bytes(o, TRIB_A_TREE_PS, ps, sizeof(ps));
	for (unsigned int i = 0; i < nlocal; i++) {
		uint8_t port[2] = {(uint8_t)rnd(o, 4), 0x1d};

		attr_nest(o, TRIB_A_TREE_LOCAL, 2);
		attr_small(o, TRIB_A_CHILD_RANK, rnd(o, 4));
		attr_bytes(o, TRIB_A_CHILD_PORT, port, sizeof(port));
	}
	for (unsigned int i = 0; i < nhop; i++) {
		attr_nest(o, TRIB_A_TREE_HOP, 2);
		attr_small(o, TRIB_A_CHILD_RELAY, i + !!rnd(o, 8));
		attr_word(o, TRIB_A_CHILD_FACE, (int)rnd(o, 5));
	}
	if (has_group)
		attr_bytes(o, TRIB_A_TREE_GROUP, group, sizeof(group));
	if (has_weight)
		attr_small(o, TRIB_A_TREE_WEIGHT, rnd(o, 80));
}

static void write_use(struct output *o)
{
	static const uint8_t cmds[] = {TRIB_CMD_TREE_DEL, TRIB_CMD_TREE_GET, TRIB_CMD_TREE_WIPE};

	byte(o, cmds[rnd(o, 3)]);
	byte(o, 1);
	attr_nest(o, TRIB_A_TREE, 1);
	attr_small(o, TRIB_A_TREE_ID, 1 + rnd(o, 3));
}

/* Switch to random trees, some of them missing. */
static void write_switch(struct output *o)
{
	unsigned int live = rnd(o, 4);

	byte(o, TRIB_CMD_TREE_SWITCH);
	byte(o, 1);
	attr_nest(o, TRIB_A_TREE, 1 + live);
	attr_word(o, TRIB_A_TREE_JOB, 5 + !rnd(o, 8));
	while (live--)
		attr_small(o, TRIB_A_TREE_LIVE, rnd(o, 5));
}

static void write_set(struct output *o)
{
	unsigned int more = !rnd(o, 4);

	byte(o, TRIB_CMD_JOB_SET);
	byte(o, 1);
	attr_nest(o, TRIB_A_JOB, 2 + more);
	attr_word(o, TRIB_A_JOB_NAME, 5 + !rnd(o, 8));
	attr_small(o, TRIB_A_JOB_RATE, rnd(o, 256));
	if (more) /* members that a job keeps for life */
		attr_small(o, TRIB_A_JOB_WORLD, rnd(o, 8));
}

/* A face with, without, or once with an NDN role. */
static void write_ndn_face(struct output *o)
{
	uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)rnd(o, 4)};
	bool set = rnd(o, 2), ether = !rnd(o, 4), may = rnd(o, 2);
	uint8_t addr[16] = {[10] = 0xff, 0xff, 10, 0, (uint8_t)rnd(o, 4), 3};
	uint8_t port[2] = {0, 0};

	byte(o, set ? TRIB_CMD_FACE_SET : TRIB_CMD_FACE_NEW);
	byte(o, 1);
	attr_nest(o, TRIB_A_FACE, 2 + 2 * may + ether + (set ? 0 : 2));
	attr_word(o, TRIB_A_FACE_NAME, (int)rnd(o, 4) + (set ? 0 : 7));
	attr_small(o, TRIB_A_FACE_NDN, rnd(o, 3));
	if (may) {
		attr_word(o, TRIB_A_FACE_NDN_SUBSCRIBE, 14 + (int)rnd(o, 3));
		attr_word(o, TRIB_A_FACE_NDN_WRITE, 11 + (int)rnd(o, 9));
	}
	if (ether)
		attr_bytes(o, TRIB_A_FACE_NDN_PORT, port, sizeof(port));
	if (set)
		return;
	attr_word(o, TRIB_A_FACE_IFNAME, 7 + (int)rnd(o, 4));
	if (ether)
		attr_bytes(o, TRIB_A_FACE_MAC, mac, sizeof(mac));
	else
		attr_bytes(o, TRIB_A_FACE_ADDR, addr, sizeof(addr));
}

static void write_route(struct output *o)
{
	bool del = !rnd(o, 3);

	byte(o, del ? TRIB_CMD_ROUTE_DEL : TRIB_CMD_ROUTE_NEW);
	byte(o, 1);
	attr_nest(o, TRIB_A_ROUTE, del ? 1 : 2);
	attr_word(o, TRIB_A_ROUTE_PREFIX, 14 + (int)rnd(o, 7));
	if (!del)
		attr_word(o, TRIB_A_ROUTE_FACE, (int)rnd(o, 5));
}

static void write_rows(struct output *o)
{
	static const uint8_t cmds[] = {TRIB_CMD_PIT_GET, TRIB_CMD_PIT_DEL, TRIB_CMD_CS_GET,
				       TRIB_CMD_CS_WIPE};
	uint8_t cmd = cmds[rnd(o, 4)];
	bool cs = cmd == TRIB_CMD_CS_GET || cmd == TRIB_CMD_CS_WIPE;

	byte(o, cmd);
	byte(o, rnd(o, 2) ? 0x21 : 1);
	attr_nest(o, cs ? TRIB_A_CS : TRIB_A_PIT, 1);
	attr_word(o, 1, 14 + (int)rnd(o, 6));
}

static void write_dump(struct output *o)
{
	static const uint8_t cmds[] = {TRIB_CMD_TREE_GET, TRIB_CMD_GROUP_GET, TRIB_CMD_FACE_GET,
				       TRIB_CMD_JOB_GET,  TRIB_CMD_ROUTE_GET, TRIB_CMD_PIT_GET,
				       TRIB_CMD_CS_GET};

	byte(o, cmds[rnd(o, sizeof(cmds))]);
	byte(o, 0x20);
}

static void write_del(struct output *o)
{
	bool job = rnd(o, 2);

	byte(o, job ? TRIB_CMD_JOB_DEL : TRIB_CMD_FACE_DEL);
	byte(o, 1);
	attr_nest(o, job ? TRIB_A_JOB : TRIB_A_FACE, 1);
	attr_word(o, 1, job ? 5 : (int)rnd(o, 5));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static void (*const write[])(struct output * o) = {
		write_tree,   write_tree, write_worker,	  write_use,	  write_dump,  write_del,
		write_switch, write_set,  write_ndn_face, write_ndn_face, write_route, write_rows,
	};
	struct output o = {data, size, max, seed};

	if (rnd(&o, 4))
		return LLVMFuzzerMutate(data, size, max);
	if (!size || !rnd(&o, 3)) {
		o.size = 0;
		byte(&o, 1);
	}
	for (unsigned int n = 1 + rnd(&o, 8); n; n--)
		write[rnd(&o, sizeof(write) / sizeof(write[0]))](&o);
	return o.size;
}
