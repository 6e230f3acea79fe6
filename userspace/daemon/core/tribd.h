/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct tribd: one per process, owned by main.c. tribd is one thread: an epoll
 * loop calls handlers, nothing blocks, nothing needs a lock. Objects live until
 * their room's removal function ran. A pointer to one may be kept across turns
 * of the loop only where a hook announces its end (tree, job) or a count
 * prevents it (face).
 *
 * Order of every change: validate all, write the maps (the row that makes it
 * visible last), save the state file, answer. A failure undoes in reverse.
 */
#ifndef TRIBD_H
#define TRIBD_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/host/home.h"
#include "hooks.h"
#include "log.h"
#include "loop.h"
#include "uapi/trib.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_maps.h"
#include "uapi/trib_wire.h"

/* Maps of the tree object, in the order of its pins; load/bpf_load.c. */
enum map_id {
	MAP_CONFIG,
	MAP_TREES,
	MAP_SLOTS,
	MAP_GROUPS,
	MAP_PORTS,
	MAP_MEMBERS,
	MAP_REWRITES,
	MAP_STATS,
	MAP_LAG,
	MAP_COUNTS,
	MAP_DELIVERS,
	MAP_CELLS,
	MAP_RINGS,
	MAP_POOLS,
	MAP_POOL_SLOTS,
	MAP_POOL_TABLE,
	MAP_POOL_MARKS,
	MAP_POOL_FACES,
	MAP_FORWARDS,
	MAP_SPREAD,
	MAP_CPUS,
	MAP_GROW_NEXT,
	MAP_NDN_IN,
	MAP_NDN_LEAVE,
	MAP__MAX,
};

enum prog_id {
	PROG_XDP,    /* on every port */
	PROG_EGRESS, /* in every devmap entry */
	PROG_GROW,   /* clsact ingress of every port */
	PROG_MOVED,  /* in every entry of cpus */
	PROG_PASS,   /* pinned for veth peers, not attached */
	PROG__MAX,
};

struct options {
	const char *instance; /* NULL: by network namespace */
	uint32_t nval;	      /* 0: auto */
	uint32_t nslots;      /* 0: default, or what is pinned */
	uint32_t ntrees;
	uint32_t pool;	    /* slots of the shared pool; 0: default, or what is pinned */
	uint32_t ndn;	    /* entries of the PIT; 0: no NDN forwarder */
	uint32_t ndn_cache; /* segments in its cache */
	enum log_level log;
	uint32_t spread; /* CPUs that share the work of trees; 0: by the ports */
	bool no_reflex;	 /* ranks send by sockets */
	bool purge;
	bool check; /* only say whether a start would succeed */
};

TAILQ_HEAD(port_list, port);
TAILQ_HEAD(face_list, face);
TAILQ_HEAD(job_list, job);
TAILQ_HEAD(tree_list, tree);

struct tribd {
	const struct hooks *hooks;
	struct options opt;
	char instance[TRIB_NAME_MAX];
	char pin_dir[128]; /* /sys/fs/bpf/trib/<instance> */
	char run_dir[128]; /* /run/trib/<instance> */
	int lock_fd;
	int sock[HOME__MAX];	   /* bound; core/sockets.c */
	bool sock_kept[HOME__MAX]; /* the former tribd's, with what it did not read */
	uint64_t netns_cookie;	   /* unique for all time, unlike the inode */
	char maker[48];		   /* tribd that wrote the state file, for texts */
	uint64_t start_ns;
	bool stop;

	int epoll_fd;
	LIST_HEAD(, timer) timers; /* sorted */

	struct bpf_object *obj;
	struct btf *btf; /* of the object; owned by obj */
	int map[MAP__MAX];
	int prog[PROG__MAX];
	int ndn_grow;		   /* clsact program of the NDN forwarder; 0: not loaded */
	struct trib_config config; /* the row of the map trib_config */
	uint32_t pool;		   /* used slots of the shared pool: up to config.npool */
	bool adopted;
	bool kfuncs; /* programs call the module's functions */

	struct port_list ports;
	struct face_list faces;
	struct job_list jobs;
	struct tree_list trees; /* by ascending id */
	unsigned int nfaces;
	unsigned int njobs;
	unsigned int ntrees;
	/* Why the state file cannot be written now (-errno); it is tried again. */
	int save_err;
	struct timer save_again;
	/* Incremented when an object comes or goes: dumps notice. */
	uint32_t generation;
	uint64_t unproven; /* session packets that did not prove their sender */

	/* Private to the files of these names; NULL before their init(). */
	struct netlink *nl;
	struct rtnl *rtnl;
	struct udp *udp;
	struct attach *attach;
	struct deliver *deliver;
	struct ndnd *ndn;
	struct ways *ways;
	struct claims *claims; /* NULL also without generic netlink */
};

#endif /* TRIBD_H */
