// SPDX-License-Identifier: BSD-2-Clause
/* See hello.h. */
#include "hello.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "peer/error.h"

#define MAGIC 0x54504852 /* "TPHR"; the other byte order reads another number */

/*
 * A rank's hello. @machine tells machines apart: the kernel's boot and the network
 * namespace, since ranks of different namespaces are on different hosts to the network.
 */
struct peer_hello {
	uint32_t magic;
	uint32_t abi;
	uint8_t machine[48];
	uint32_t nnic;
	uint32_t alg;
	uint32_t intra;
	uint32_t reserved;
	struct peer_leader_proc proc;
	uint64_t chunk;
	char shape[32];
};

/* --- options */

static int parse_alg(struct peer_agreed *a, const char *name, struct trib_peer_error *error)
{
	a->alg = name && *name ? peer_alg_parse(name) : PEER_ALG_AUTO;
	if (a->alg < PEER_ALG__MAX)
		return 0;
	return peer_error(
		error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
		"algorithm %.40s does not exist: use auto, direct, ring, halving, bcube or torus",
		name);
}

static int parse_intra(struct peer_agreed *a, const char *name, struct trib_peer_error *error)
{
	a->intra = PEER_INTRA_ALLREDUCE;
	if (!name || !*name || !strcmp(name, "allreduce"))
		return 0;
	if (!strcmp(name, "reduce"))
		a->intra = PEER_INTRA_REDUCE;
	else if (!strcmp(name, "none"))
		a->intra = PEER_INTRA_NONE;
	else
		return peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				  "intra %.40s does not exist: use allreduce, reduce or none",
				  name);
	return 0;
}

static int add_nic(struct peer_agreed *a, const char *name, size_t len,
		   struct trib_peer_error *error)
{
	if (a->nnic == PEER_NICS_MAX || !len || len >= sizeof(a->nic[0]))
		return peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				  "bad list of NICs: want 1 to %d names, separated by commas",
				  PEER_NICS_MAX);
	memcpy(a->nic[a->nnic], name, len);
	a->nic[a->nnic++][len] = '\0';
	return 0;
}

static int list_nics(struct peer_agreed *a, const char *list, struct trib_peer_error *error)
{
	size_t len;
	int rc;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		rc = add_nic(a, list, len, error);
		if (rc || !list[len])
			return rc;
	}
}

static void set_provider(struct peer_agreed *a, const char *name)
{
	snprintf(a->provider_name, sizeof(a->provider_name), "%s", name);
	a->provider = a->provider_name;
}

/* To ask libfabric takes a second. */
static bool has_rdma(void)
{
	DIR *d = opendir("/sys/class/infiniband");
	const struct dirent *e = NULL;

	while (d && (e = readdir(d)) && e->d_name[0] == '.')
		;
	if (d)
		closedir(d);
	return e != NULL;
}

/* RDMA where there is some, else the kernel's TCP. */
static int find_nics(struct peer_agreed *a, const struct trib_peer_conf *conf,
		     struct trib_peer_error *error)
{
	struct peer_nic nic[PEER_NICS_MAX];
	bool stream;
	int i, n;

	if (conf->provider && *conf->provider)
		set_provider(a, conf->provider);
	if (conf->world == 1)
		return 0;
	if (!a->provider && !has_rdma())
		set_provider(a, PEER_PROVIDER_STREAM);
	if (conf->nics && *conf->nics)
		return list_nics(a, conf->nics, error);
	stream = a->provider && !strcmp(a->provider, PEER_PROVIDER_STREAM);
	n = peer_nics_find(stream ? "tcp;ofi_rxm" : a->provider, nic, PEER_NICS_MAX);
	if (n <= 0)
		return peer_error(
			error, TRIB_PEER_SYSTEM, n ? n : -ENODEV, -1,
			"libfabric finds no NIC with an address%s%s: fi_info lists what it has",
			a->provider ? " for provider " : "", a->provider ? a->provider : "");
	for (i = 0; i < n; i++)
		snprintf(a->nic[i], sizeof(a->nic[i]), "%.63s", nic[i].address);
	a->nnic = (unsigned int)n;
	if (!a->provider)
		set_provider(a, nic[0].provider);
	return 0;
}

static void read_machine(uint8_t *out, size_t room)
{
	char boot[40] = "";
	struct stat st = {0};
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	uint64_t ns;

	memset(out, 0, room);
	if (fd >= 0) {
		if (read(fd, boot, sizeof(boot) - 1) < 0)
			boot[0] = '\0';
		close(fd);
	}
	if (stat("/proc/self/ns/net", &st))
		st.st_ino = (ino_t)getpid();
	ns = st.st_ino;
	memcpy(out, boot, sizeof(boot) < room - sizeof(ns) ? sizeof(boot) : room - sizeof(ns));
	memcpy(out + room - sizeof(ns), &ns, sizeof(ns));
}

int peer_agreed_begin(struct peer_agreed *a, const struct trib_peer_conf *conf,
		      struct peer_hello **hello, size_t *len, struct trib_peer_error *error)
{
	struct peer_hello *h;
	int rc;

	*a = (struct peer_agreed){.key = conf->key, .job = conf->job};
	if (!conf->world || conf->world > PEER_WORLD_MAX || conf->rank >= conf->world)
		return peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				  "rank %u of %u: want 1 to %d ranks", conf->rank, conf->world,
				  PEER_WORLD_MAX);
	rc = parse_alg(a, conf->algorithm, error);
	if (!rc)
		rc = parse_intra(a, conf->intra, error);
	if (!rc)
		rc = find_nics(a, conf, error);
	if (!rc && peer_leader_self(conf->gpu, &a->self))
		rc = peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				"GPU %.40s is not in this machine: trib topo show lists them",
				conf->gpu);
	if (rc)
		return rc;
	snprintf(a->shape_text, sizeof(a->shape_text), "%s", conf->shape ? conf->shape : "");
	h = calloc(1, sizeof(*h));
	if (!h)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	h->magic = MAGIC;
	h->abi = TRIB_PEER_ABI;
	h->nnic = a->nnic;
	h->alg = a->alg;
	h->intra = a->intra;
	h->chunk = conf->chunk;
	h->proc = a->self;
	memcpy(h->shape, a->shape_text, sizeof(h->shape));
	read_machine(h->machine, sizeof(h->machine));
	*hello = h;
	*len = sizeof(*h);
	return 0;
}

/* --- conclusions */

static int check(const struct peer_hello *own, const void *other, size_t len, uint32_t rank,
		 struct trib_peer_error *error)
{
	struct peer_hello h;

	if (len == sizeof(h))
		memcpy(&h, other, sizeof(h));
	if (len != sizeof(h) || h.magic != MAGIC || h.abi != TRIB_PEER_ABI)
		return peer_error(
			error, TRIB_PEER_SYSTEM, -EPROTO, (int)rank,
			"rank %u has another version of libtrib-peer, or another byte order", rank);
	if (h.nnic != own->nnic)
		return peer_error(
			error, TRIB_PEER_ARGUMENT, -EINVAL, (int)rank,
			"rank %u has %u NICs, this rank %u: name as many on each (TRIB_PEER_NICS)",
			rank, h.nnic, own->nnic);
	if (h.alg != own->alg || h.intra != own->intra || h.chunk != own->chunk ||
	    memcmp(h.shape, own->shape, sizeof(h.shape)))
		return peer_error(
			error, TRIB_PEER_ARGUMENT, -EINVAL, (int)rank,
			"rank %u has another algorithm, shape, intra or chunk than this rank: give all ranks the same",
			rank);
	return 0;
}

static const uint8_t *machine_of(const void *hello)
{
	return ((const struct peer_hello *)hello)->machine;
}

/* Number the machines in the order of their lowest ranks. */
static int find_machines(struct peer_agreed *a, const void **all, uint32_t world)
{
	uint32_t r, m;

	a->machine = calloc(world, sizeof(*a->machine));
	a->leader = calloc(world, sizeof(*a->leader));
	a->proc = calloc(world, sizeof(*a->proc));
	if (!a->machine || !a->leader || !a->proc)
		return -ENOMEM;
	for (r = 0; r < world; r++) {
		a->proc[r] = ((const struct peer_hello *)all[r])->proc;
		for (m = 0; m < a->machines; m++)
			if (!memcmp(machine_of(all[a->leader[m]]), machine_of(all[r]),
				    sizeof(((struct peer_hello *)0)->machine)))
				break;
		if (m == a->machines)
			a->leader[a->machines++] = r;
		a->machine[r] = m;
	}
	return 0;
}

/* Parse "AxB". */
static bool parse_pair(const char *s, uint32_t *x, uint32_t *y)
{
	uint64_t a, b;

	if (text_digits(&s, 10, &a) || *s++ != 'x' || text_digits(&s, 10, &b) || *s ||
	    a > PEER_WORLD_MAX || b > PEER_WORLD_MAX)
		return false;
	*x = (uint32_t)a;
	*y = (uint32_t)b;
	return true;
}

static struct peer_shape *add_shape(struct peer_agreed *a, uint32_t world, enum peer_alg alg)
{
	struct peer_shape *s = &a->shape[a->nshape++];

	*s = (struct peer_shape){
		.alg = alg,
		.world = world,
		.nics = a->nnic ? a->nnic : 1,
		.halving_below = 64 << 10,
	};
	if (a->machines < world && a->intra != PEER_INTRA_NONE) {
		s->intra = a->intra;
		s->machine = a->machine;
		s->leader = a->leader;
		s->machines = a->machines;
	}
	return s;
}

static int wrong_shape(const struct peer_agreed *a, const char *why, struct trib_peer_error *error)
{
	return peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1, "%s %s: %s",
			  peer_alg_name(a->alg), a->shape_text, why);
}

static int one_shape(struct peer_agreed *a, uint32_t world, struct trib_peer_error *error)
{
	struct peer_shape *s = add_shape(a, world, a->alg);
	uint32_t leaders = peer_shape_leaders(s), x = 0, y = 0;
	const char *why;

	if (a->shape_text[0] && !parse_pair(a->shape_text, &x, &y))
		return wrong_shape(a, "want a shape like 2x3", error);
	if (a->alg == PEER_ALG_BCUBE) {
		if (!x && !peer_shape_bcube(leaders, s->nics, &x, &y))
			return wrong_shape(a, "the leaders are no n^k with k NICs: name a shape",
					   error);
		s->n = x;
		s->k = y;
	} else if (a->alg == PEER_ALG_TORUS) {
		if (!x && !peer_shape_torus(leaders, &x, &y))
			return wrong_shape(a, "the leaders make no matrix", error);
		s->rows = x;
		s->cols = y;
	}
	why = peer_shape_wrong(s);
	return why ? wrong_shape(a, why, error) : 0;
}

static void add_if_right(struct peer_agreed *a, uint32_t world, enum peer_alg alg)
{
	struct trib_peer_error ignored;
	enum peer_alg asked = a->alg;
	unsigned int before = a->nshape;

	a->alg = alg;
	if (one_shape(a, world, &ignored))
		a->nshape = before;
	a->alg = asked;
}

/* "auto": all that the world allows; peer_agreed_pick() chooses for each call. */
static void all_shapes(struct peer_agreed *a, uint32_t world)
{
	static const enum peer_alg algs[] = {PEER_ALG_HALVING, PEER_ALG_RING, PEER_ALG_BCUBE,
					     PEER_ALG_TORUS, PEER_ALG_DIRECT};

	for (unsigned int i = 0; i < sizeof(algs) / sizeof(algs[0]); i++)
		add_if_right(a, world, algs[i]);
}

void peer_agreed_apart(struct peer_agreed *a)
{
	unsigned int i;

	a->napart = a->machines > 1 && a->shape[0].machine ? a->nshape : 0;
	for (i = 0; i < a->napart; i++) {
		a->shape[a->nshape + i] = a->shape[i];
		a->shape[a->nshape + i].apart = true;
	}
}

/* Nobody without the job's key can guess the name. */
static void name_memory(struct peer_agreed *a, const uint8_t *machine)
{
	struct trib_sip s;
	uint64_t h[2];
	int i, k;

	for (i = 0; i < 2; i++) {
		trib_sip_init(&s, &a->key);
		trib_sip_word(&s, (uint64_t)i);
		trib_sip_word(&s, a->job);
		for (k = 0; k < 48; k += 8)
			trib_sip_word(&s, trib_sip_load(machine + k));
		h[i] = trib_sip_end(&s, 0);
	}
	snprintf(a->shm_name, sizeof(a->shm_name), "trib-%016lx%016lx", h[0], h[1]);
}

int peer_hello_agree(struct peer_agreed *a, const void **all, const size_t *lens, uint32_t world,
		     uint32_t rank, struct trib_peer_error *error)
{
	struct peer_hello own;
	uint32_t r;
	int rc;

	memcpy(&own, all[rank], sizeof(own));
	for (r = 0; r < world; r++) {
		rc = check(&own, all[r], lens[r], r, error);
		if (rc)
			return rc;
	}
	if (find_machines(a, all, world))
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	name_memory(a, own.machine);
	a->world = world;
	return 0;
}

uint32_t peer_agreed_leader(struct peer_agreed *a, uint32_t rank)
{
	struct peer_leader_proc proc[PEER_WORLD_MAX];
	uint32_t ranks[PEER_WORLD_MAX], r;
	unsigned int n = 0;

	for (r = 0; r < a->world; r++)
		if (a->machine[r] == a->machine[rank]) {
			proc[n] = a->proc[r];
			ranks[n++] = r;
		}
	if (n == 1 || a->intra == PEER_INTRA_NONE)
		return rank;
	return ranks[peer_leader_find(a->nnic ? a->nic[0] : NULL, proc, n, a->why_leader,
				      sizeof(a->why_leader))];
}

int peer_agreed_lead(struct peer_agreed *a, const void **all, const size_t *lens, uint32_t world,
		     struct trib_peer_error *error)
{
	uint32_t m, leader;

	/* The lowest rank of each machine speaks for it. */
	for (m = 0; m < a->machines; m++) {
		if (lens[a->leader[m]] != sizeof(leader))
			return peer_error(error, TRIB_PEER_SYSTEM, -EPROTO, (int)a->leader[m],
					  "rank %u names no leader", a->leader[m]);
		memcpy(&leader, all[a->leader[m]], sizeof(leader));
		if (leader >= world || a->machine[leader] != m)
			return peer_error(error, TRIB_PEER_SYSTEM, -EPROTO, (int)a->leader[m],
					  "rank %u names a leader of another machine",
					  a->leader[m]);
		a->leader[m] = leader;
	}
	if (a->alg == PEER_ALG_AUTO)
		all_shapes(a, world);
	else if (one_shape(a, world, error))
		return error->err;
	peer_agreed_apart(a);
	return 0;
}

void peer_agreed_free(struct peer_agreed *a)
{
	free(a->proc);
	free(a->machine);
	free(a->leader);
}
