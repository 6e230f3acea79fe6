/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * userspace/cli/netlink/client.c against a test server with right and wrong
 * answers, in a network namespace without tribd.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "cli/netlink/client.h"
#include "uapi/trib.h"
#include "tests/lib/tap.h"

/* One request: its sender and its sequence number. */
struct ask {
	int fd;
	struct sockaddr_nl from;
	uint32_t seq;
	unsigned int count; /* requests so far, this one included */
	struct nlmsghdr *req;
};

typedef void (*answer_fn)(struct ask *a);

/* A datagram while it is filled. */
struct packet {
	unsigned char data[40000];
	size_t len;
};

static void add(struct packet *p, const struct ask *a, int type, int flags, const void *body,
		size_t len)
{
	struct nlmsghdr nlh = {
		.nlmsg_len = NLMSG_HDRLEN + len,
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = a->seq,
		.nlmsg_pid = a->from.nl_pid,
	};

	memset(p->data + p->len, 0, NLMSG_SPACE(len));
	memcpy(p->data + p->len, &nlh, sizeof(nlh));
	if (len)
		memcpy(p->data + p->len + NLMSG_HDRLEN, body, len);
	p->len += NLMSG_SPACE(len);
}

static void add_object(struct packet *p, const struct ask *a, int flags, uint32_t value)
{
	struct {
		struct genlmsghdr genl;
		struct nlattr nla;
		uint32_t value;
	} body = {
		.genl.cmd = TRIB_CMD_FACE_GET,
		.nla = {.nla_len = 8, .nla_type = 1},
		.value = value,
	};

	add(p, a, TRIB_NL_TYPE, flags, &body, sizeof(body));
}

static void add_error(struct packet *p, const struct ask *a, int err, const char *text, bool capped)
{
	unsigned char body[1024] = {0};
	struct nlmsgerr e = {.error = err, .msg = *a->req};
	struct nlattr nla = {.nla_type = NLMSGERR_ATTR_MSG};
	size_t len = sizeof(e);
	int flags = capped ? NLM_F_CAPPED : 0;

	memcpy(body, &e, sizeof(e));
	if (!capped) {
		memcpy(body + sizeof(e) - sizeof(e.msg), a->req, a->req->nlmsg_len);
		len += NLMSG_ALIGN(a->req->nlmsg_len) - sizeof(e.msg);
	}
	if (text) {
		flags |= NLM_F_ACK_TLVS;
		nla.nla_len = NLA_HDRLEN + strlen(text) + 1;
		memcpy(body + len, &nla, sizeof(nla));
		strcpy((char *)body + len + NLA_HDRLEN, text);
		len += NLA_ALIGN(nla.nla_len);
	}
	add(p, a, NLMSG_ERROR, flags, body, len);
}

static void send_to(const struct ask *a, const void *data, size_t len)
{
	sendto(a->fd, data, len, 0, (const struct sockaddr *)&a->from, sizeof(a->from));
}

static void send_packet(const struct ask *a, struct packet *p)
{
	send_to(a, p->data, p->len);
	p->len = 0;
}

static int server_socket(uint32_t port)
{
	struct sockaddr_nl me = {.nl_family = AF_NETLINK, .nl_pid = port};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);

	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof(me))) {
		perror("server");
		exit(1);
	}
	return fd;
}

static void serve(int fd, answer_fn fn)
{
	static _Thread_local unsigned char buf[40000];
	struct ask a = {.fd = fd, .req = (struct nlmsghdr *)buf};
	socklen_t len;

	for (;;) {
		len = sizeof(a.from);
		if (recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&a.from, &len) <
		    (ssize_t)sizeof(struct nlmsghdr))
			return;
		/* Tells the server to end. */
		if (a.req->nlmsg_type == NLMSG_NOOP)
			return;
		a.seq = a.req->nlmsg_seq;
		a.count++;
		fn(&a);
	}
}

struct server {
	pthread_t thread;
	int fd;
	answer_fn fn;
};

static void *server_main(void *arg)
{
	struct server *s = arg;

	serve(s->fd, s->fn);
	return NULL;
}

static void server_start(struct server *s, answer_fn fn)
{
	s->fd = server_socket(TRIB_NL_PORT);
	s->fn = fn;
	pthread_create(&s->thread, NULL, server_main, s);
}

static void server_stop(struct server *s)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = TRIB_NL_PORT};
	struct nlmsghdr end = {.nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_NOOP};
	int fd = server_socket(0);

	sendto(fd, &end, sizeof(end), 0, (struct sockaddr *)&to, sizeof(to));
	pthread_join(s->thread, NULL);
	close(fd);
	close(s->fd);
}

/* The client's result. */
struct outcome {
	int err;
	unsigned int n;
	uint32_t sum;
	char text[512];
	uid_t uid;
};

static int count(struct nlmsghdr *nlh, void *arg)
{
	struct outcome *o = arg;

	o->n++;
	o->sum += *(uint32_t *)((char *)NLMSG_DATA(nlh) + GENL_HDRLEN + NLA_HDRLEN);
	return 0;
}

static struct outcome request_here(int flags)
{
	struct outcome o = {0};
	struct client *c = NULL;
	struct nl_msg *msg = client_message(TRIB_CMD_FACE_GET, flags);
	pid_t pid;

	expect_eq(client_open(&c), 0);
	if (!c || !msg)
		exit(1);
	client_timeout(c, 300);
	o.err = client_request(c, msg, count, &o);
	snprintf(o.text, sizeof(o.text), "%s", client_text(c));
	client_peer(c, &pid, &o.uid);
	nlmsg_free(msg);
	client_close(c);
	return o;
}

static struct outcome request(answer_fn fn, int flags)
{
	struct outcome o;
	struct server s;

	server_start(&s, fn);
	o = request_here(flags);
	server_stop(&s);
	return o;
}

static void client__no_server_is_said_clearly(void)
{
	struct outcome o = request_here(NLM_F_ACK);

	expect_eq(o.err, -ECONNREFUSED);
	expect(!strcmp(o.text,
		       "no tribd answers in this network namespace: start one, see tribd(8)"));
}

static void ack(struct ask *a)
{
	struct packet p = {.len = 0};

	add_error(&p, a, 0, NULL, true);
	send_packet(a, &p);
}

static void client__ack_of_root_is_taken(void)
{
	struct outcome o = request(ack, NLM_F_ACK);

	expect_eq(o.err, 0);
	expect_eq(o.uid, 0);
}

static bool saw_ack;

static void look_at_flags(struct ask *a)
{
	saw_ack = a->req->nlmsg_flags & NLM_F_ACK;
	expect_eq(a->req->nlmsg_type, TRIB_NL_TYPE);
	ack(a);
}

static void client__flags_are_the_callers(void)
{
	request(look_at_flags, NLM_F_ACK);
	expect(saw_ack);
	request(look_at_flags, 0);
	expect(!saw_ack);
}

static void refuse_capped(struct ask *a)
{
	struct packet p = {.len = 0};

	add_error(&p, a, -EEXIST, "face w0 exists", true);
	send_packet(a, &p);
}

static void refuse_whole(struct ask *a)
{
	struct packet p = {.len = 0};

	add_error(&p, a, -EEXIST, "face w1 exists", false);
	send_packet(a, &p);
}

static void refuse_bare(struct ask *a)
{
	struct packet p = {.len = 0};

	add_error(&p, a, -ENOENT, NULL, true);
	send_packet(a, &p);
}

static void client__error_text_is_found(void)
{
	struct outcome o = request(refuse_capped, NLM_F_ACK);

	expect_eq(o.err, -EEXIST);
	expect(!strcmp(o.text, "face w0 exists"));
	o = request(refuse_whole, NLM_F_ACK);
	expect_eq(o.err, -EEXIST);
	expect(!strcmp(o.text, "face w1 exists"));
	o = request(refuse_bare, NLM_F_ACK);
	expect_eq(o.err, -ENOENT);
	expect(!strcmp(o.text, strerror(ENOENT)));
}

static void one_object(struct ask *a)
{
	struct packet p = {.len = 0};

	add_object(&p, a, 0, 42);
	send_packet(a, &p);
}

static void client__one_object_ends_a_get(void)
{
	struct outcome o = request(one_object, 0);

	expect_eq(o.err, 0);
	expect_eq(o.n, 1);
	expect_eq(o.sum, 42);
}

/* 300 objects in three datagrams, DONE in the last. */
static void list(struct ask *a, int intr)
{
	struct packet p = {.len = 0};
	uint32_t i, none = 0;

	for (i = 1; i <= 300; i++) {
		add_object(&p, a, NLM_F_MULTI | (i == 150 ? intr : 0), i);
		if (i % 100 == 0 && i < 300)
			send_packet(a, &p);
	}
	add(&p, a, NLMSG_DONE, NLM_F_MULTI, &none, sizeof(none));
	send_packet(a, &p);
}

static void whole_list(struct ask *a)
{
	list(a, 0);
}

static void changes_once(struct ask *a)
{
	list(a, a->count == 1 ? NLM_F_DUMP_INTR : 0);
}

static void changes_always(struct ask *a)
{
	list(a, NLM_F_DUMP_INTR);
}

static void client__dump_is_put_together(void)
{
	struct outcome o = request(whole_list, NLM_F_DUMP);

	expect_eq(o.err, 0);
	expect_eq(o.n, 300);
	expect_eq(o.sum, 300 * 301 / 2);
}

static void client__changed_dump_is_taken_again(void)
{
	struct outcome o = request(changes_once, NLM_F_DUMP);

	expect_eq(o.err, 0);
	expect_eq(o.n, 300);
	o = request(changes_always, NLM_F_DUMP);
	expect_eq(o.err, -EAGAIN);
	expect_eq(o.n, 0);
}

static void empty_list(struct ask *a)
{
	struct packet p = {.len = 0};

	add(&p, a, NLMSG_DONE, NLM_F_MULTI, NULL, 0);
	send_packet(a, &p);
}

static void failed_list(struct ask *a)
{
	struct packet p = {.len = 0};
	int err = -ENOMEM;

	add_object(&p, a, NLM_F_MULTI, 1);
	add(&p, a, NLMSG_DONE, NLM_F_MULTI, &err, sizeof(err));
	send_packet(a, &p);
}

static void client__dump_may_be_empty_or_fail(void)
{
	struct outcome o = request(empty_list, NLM_F_DUMP);

	expect_eq(o.err, 0);
	expect_eq(o.n, 0);
	o = request(failed_list, NLM_F_DUMP);
	expect_eq(o.err, -ENOMEM);
	expect_eq(o.n, 0);
}

static void old_answer_first(struct ask *a)
{
	struct packet p = {.len = 0};
	uint32_t seq = a->seq;

	a->seq = seq - 7;
	add_object(&p, a, 0, 1000);
	send_packet(a, &p);
	a->seq = seq;
	one_object(a);
}

static void client__answer_to_another_request_is_skipped(void)
{
	struct outcome o = request(old_answer_first, 0);

	expect_eq(o.err, 0);
	expect_eq(o.sum, 42);
}

/* Another process knows the client's port and sequence number. */
static void stranger_first(struct ask *a)
{
	struct ask other = *a;
	struct packet p = {.len = 0};

	other.fd = server_socket(0);
	add_object(&p, &other, 0, 1000);
	send_packet(&other, &p);
	close(other.fd);
	one_object(a);
}

static void client__datagram_from_another_port_is_skipped(void)
{
	struct outcome o = request(stranger_first, 0);

	expect_eq(o.err, 0);
	expect_eq(o.sum, 42);
}

static void silent(struct ask *a)
{
	(void)a;
}

static void client__silence_ends_by_time(void)
{
	struct outcome o = request(silent, 0);

	expect_eq(o.err, -ETIMEDOUT);
	expect(strstr(o.text, "300 ms") != NULL);
}

static void cut_header(struct ask *a)
{
	send_to(a, "abc", 3);
}

static void cut_body(struct ask *a)
{
	struct packet p = {.len = 0};

	add_object(&p, a, 0, 42);
	send_to(a, p.data, p.len - 4);
}

static void cut_error(struct ask *a)
{
	struct packet p = {.len = 0};

	add(&p, a, NLMSG_ERROR, 0, "1234", 4);
	send_packet(a, &p);
}

static void cut_genl(struct ask *a)
{
	struct packet p = {.len = 0};

	add(&p, a, TRIB_NL_TYPE, 0, "12", 2);
	send_packet(a, &p);
}

static void odd_type(struct ask *a)
{
	struct packet p = {.len = 0};

	add(&p, a, 0x1234, 0, "12345678", 8);
	send_packet(a, &p);
}

static void odd_error(struct ask *a)
{
	struct packet p = {.len = 0};

	add_error(&p, a, 17, NULL, true);
	send_packet(a, &p);
}

/* The request that comes back claims to be longer than the answer. */
static void lying_error(struct ask *a)
{
	struct nlmsgerr e = {.error = -EPERM, .msg = *a->req};
	struct packet p = {.len = 0};

	e.msg.nlmsg_len = 0x7fffffff;
	add(&p, a, NLMSG_ERROR, NLM_F_ACK_TLVS, &e, sizeof(e));
	send_packet(a, &p);
}

static void client__broken_answers_are_refused(void)
{
	static const answer_fn broken[] = {cut_header, cut_body, cut_error,
					   cut_genl,   odd_type, odd_error};
	struct outcome o;
	size_t i;

	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		o = request(broken[i], 0);
		if (!expect(o.err == -EPROTO))
			printf("# case %zu: %d %s\n", i, o.err, o.text);
		expect_eq(o.n, 0);
	}
	o = request(lying_error, NLM_F_ACK);
	expect_eq(o.err, -EPERM);
	expect(!strcmp(o.text, strerror(EPERM)));
}

/* Another user took the port while tribd was down. */
static void client__impostor_is_not_trusted(void)
{
	struct outcome o;
	int ready[2], fd;
	pid_t pid;
	char byte;

	expect_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setgid(65534) || setuid(65534))
			_exit(1);
		fd = server_socket(TRIB_NL_PORT);
		if (write(ready[1], "r", 1) == 1)
			serve(fd, one_object);
		_exit(0);
	}
	expect_eq(read(ready[0], &byte, 1), 1);
	o = request_here(0);
	expect_eq(o.err, -EPERM);
	expect_eq(o.n, 0);
	expect(strstr(o.text, "65534") != NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	if (unshare(CLONE_NEWNET))
		tap_skip_all("needs root for a network namespace");
	run(client__no_server_is_said_clearly);
	run(client__ack_of_root_is_taken);
	run(client__flags_are_the_callers);
	run(client__error_text_is_found);
	run(client__one_object_ends_a_get);
	run(client__dump_is_put_together);
	run(client__changed_dump_is_taken_again);
	run(client__dump_may_be_empty_or_fail);
	run(client__answer_to_another_request_is_skipped);
	run(client__datagram_from_another_port_is_skipped);
	run(client__silence_ends_by_time);
	run(client__broken_answers_are_refused);
	run(client__impostor_is_not_trusted);
	return tap_done();
}
