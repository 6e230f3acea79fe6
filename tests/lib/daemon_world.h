/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tribd without a kernel, for unit tests: ports, faces and one job. The
 * header includes all that it needs; each test program has its own world.
 *
 * port p0..p3; face fN on port pN/2 with address 10.0.N.2, all on their own
 * ports if N is even; job "train" of 8 ranks, window 4.
 */
#ifndef DAEMON_WORLD_H
#define DAEMON_WORLD_H

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "daemon/face/face.h"
#include "daemon/job/job.h"
#include "daemon/device/port.h"
#include "daemon/tree/tree.h"
#include "daemon/wire.h"

static struct tribd world;
static struct reason why;

static inline struct in6_addr v4(const char *text)
{
	struct in6_addr a = {};

	a.s6_addr[10] = a.s6_addr[11] = 0xff;
	inet_pton(AF_INET, text, a.s6_addr + 12);
	return a;
}

static inline struct in6_addr v6(const char *text)
{
	struct in6_addr a = {};

	inet_pton(AF_INET6, text, &a);
	return a;
}

/* Make a face as if its device existed and its addresses were known. */
static inline struct face *world_face(const char *name, const char *dev, struct in6_addr addr)
{
	struct face_spec s = {.addr = addr};
	struct face *f;
	int err;

	snprintf(s.name, sizeof(s.name), "%s", name);
	snprintf(s.ifname, sizeof(s.ifname), "%s", dev);
	err = face_restore(&world, &s, &why);
	if (err) {
		printf("# face %s: %s\n", name, why.text);
		return NULL;
	}
	f = face_find(&world, name);
	f->port->ifindex = 10 + (uint32_t)(dev[1] - '0');
	f->port->mode = TRIB_XDP_MODE_NATIVE;
	f->mac_known = f->local_known = true;
	return f;
}

static inline void world_make(void)
{
	struct job_spec job = {.name = "train", .world = 8, .window = 4};

	memset(&world, 0, sizeof(world));
	world.hooks = &wire_hooks;
	TAILQ_INIT(&world.ports);
	TAILQ_INIT(&world.faces);
	TAILQ_INIT(&world.jobs);
	TAILQ_INIT(&world.trees);
	world.config.nval = TRIB_NVAL_SMALL;
	world.config.ntrees = 16;
	world.config.nslots = 1024;
	world.config.instance = 0x1122334455667788;
	world.netns_cookie = 7;
	world_face("a", "p0", v4("10.0.0.2"));
	world_face("b", "p1", v4("10.0.1.2"));
	world_face("c", "p2", v4("10.0.2.2"));
	world_face("c2", "p2", v4("10.0.2.3"));
	world_face("mc", "p2", v4("239.1.1.1"));
	world_face("up", "p3", v4("10.0.3.2"));
	world_face("six", "p4", v6("fd00::2"));
	job_restore(&world, &job, &why);
}

static inline void world_free(void)
{
	tree_free_all(&world);
	job_free_all(&world);
	TAILQ_INIT(&world.trees);
	face_free_all(&world);
}

/* Parse children like "a:0 b:1 c": faces with ranks, or relays. */
static inline void spec_children(struct tree_spec *s, const char *text)
{
	char word[TRIB_NAME_MAX];
	int n;

	while (sscanf(text, " %63s%n", word, &n) == 1) {
		struct child_spec *c = &s->child[s->nchild++];
		char *colon = strchr(word, ':');

		c->rank = colon ? (uint16_t)atoi(colon + 1) : RANK_NONE;
		c->index = INDEX_NONE;
		if (colon)
			*colon = 0;
		snprintf(c->face, sizeof(c->face), "%s", word);
		text += n;
	}
}

static inline struct tree_spec spec_make(uint16_t id, const char *children)
{
	struct tree_spec s = {.id = id, .up_child = INDEX_NONE};

	strcpy(s.job, "train");
	spec_children(&s, children);
	return s;
}

static inline void spec_parent(struct tree_spec *s, const char *face, uint16_t index)
{
	strcpy(s->parent, face);
	s->up_child = index;
}

static inline void spec_local(struct tree_spec *s, uint16_t rank, uint16_t index)
{
	s->local[s->nlocal].rank = rank;
	s->local[s->nlocal++].index = index;
}

/*
 * Make a row of workers of job "train"; spec_local() adds ranks without a port.
 */
static inline struct tree_spec spec_worker(uint16_t id, struct in6_addr ps)
{
	struct tree_spec s = {.id = id, .up_child = INDEX_NONE};

	strcpy(s.job, "train");
	s.workers.ps = ps;
	s.workers.ps_port = TRIB_UDP_PORT;
	return s;
}

static inline void spec_hop(struct tree_spec *s, uint16_t relay, const char *face)
{
	s->workers.hop[s->workers.nhop].relay = relay;
	strcpy(s->workers.hop[s->workers.nhop++].face, face);
}

static inline void spec_down(struct tree_spec *s, const char *face)
{
	strcpy(s->down[s->ndown++], face);
}

#endif /* DAEMON_WORLD_H */
