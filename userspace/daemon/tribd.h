/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tribd's state and what its files call of each other. tribd is one thread: an
 * epoll loop calls handlers, nothing blocks, nothing needs a lock. Everything
 * here is owned by the struct tribd in main.c and lives until its removal
 * function ran; pointers may be kept across turns of the loop only where a
 * hook announces the removal (tree, job) or a count prevents it (face).
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

#include "uapi/trib.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_maps.h"
#include "uapi/trib_wire.h"

struct tribd;
struct tree;
struct job;
struct bpf_object;
struct btf;
struct ndnd;
struct claims;
struct ndnd_peer;

/* --- log.c: one line per event, to stderr, with a level that journald reads */

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_open(enum log_level max);
void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

/* Why a request was refused: one line that names the offending value. */
struct reason {
	char text[240];
};

/* Fills @why (NULL is allowed) and returns @err, a negative errno. */
int refuse(struct reason *why, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- loop.c: file descriptors and timers */

/*
 * One event per turn is dispatched, so a handler may free any watch or timer,
 * its own included. @events: EPOLLIN, EPOLLOUT, ...
 */
struct watch {
	int fd;
	void (*fn)(struct tribd *d, struct watch *w, uint32_t events);
	void *arg;
};

int loop_add(struct tribd *d, struct watch *w, uint32_t events);
int loop_modify(struct tribd *d, struct watch *w, uint32_t events);
void loop_del(struct tribd *d, struct watch *w); /* does not close the fd */

/* One shot. timer_set() on a pending timer moves it; zero-initialise it. */
struct timer {
	LIST_ENTRY(timer) link;
	uint64_t at_ns; /* 0: not pending */
	void (*fn)(struct tribd *d, struct timer *t);
	void *arg;
};

void timer_set(struct tribd *d, struct timer *t, uint32_t ms);
void timer_cancel(struct tribd *d, struct timer *t);
uint64_t now_ns(void); /* CLOCK_MONOTONIC, as bpf_ktime_get_ns() */

/* --- the objects */

/* A network device that XDP is attached to; exists while a face names it. */
struct port {
	TAILQ_ENTRY(port) link;
	char ifname[IF_NAMESIZE];
	uint32_t ifindex; /* 0: the device is gone */
	uint32_t mtu;
	uint8_t mac[6];
	uint8_t mode;	  /* enum trib_xdp_mode */
	bool clsact;	  /* trib_grow is attached, and ndn_grow if loaded */
	bool clsact_ours; /* and we made the qdisc */
	int link_fd;	  /* XDP link, pinned; -1: none */
	char reason[160]; /* why not native, or not at all */
	unsigned int faces;
};

/* A neighbour: a port, an address behind it, and how to reach it. */
struct face {
	TAILQ_ENTRY(face) link;
	char name[TRIB_NAME_MAX];
	struct port *port;
	struct in6_addr addr;  /* of the peer; IPv4 mapped */
	struct in6_addr local; /* ours towards it; all zeros: not known yet */
	uint16_t udp_port;     /* host order */
	uint16_t vlan[2];      /* outer, inner; host order, 0 = none */
	uint8_t mac[6];
	uint8_t local_mac[6];
	bool mac_given; /* by the operator, never resolved */
	bool mac_known;
	bool local_given;
	bool local_known;
	/* The device IP uses: the port, or the VLAN device over it; 0: none. */
	uint32_t l3_ifindex;
	struct in6_addr next_hop; /* whose MAC is wanted */
	uint32_t probe_ms;	  /* back-off */
	/* The routes lead round a dead link: out through this, the LOCAL face,
	 * from where the kernel forwards. NULL: no detour. */
	const struct face *around;
	unsigned int trees; /* uses by trees; deletion is refused */
	struct ndnd_peer
		*ndn; /* what it is to names (names.h); NULL: nothing */
};

struct job {
	TAILQ_ENTRY(job) link;
	char name[TRIB_NAME_MAX];
	uint16_t id;
	uint64_t cookie; /* host order */
	uint32_t world;
	uint32_t window;
	uint32_t owner;
	uint32_t timeout_ms;
	uint64_t rate;
	uint8_t fmt; /* enum trib_fmt that sums of floats travel as */
	unsigned int ntrees;
};

#define RANK_NONE 0xffff /* a child that is a relay */

struct child {
	struct face *face;
	uint16_t rank; /* RANK_NONE: a relay */
};

/*
 * A rank on this host whose results are delivered to cells. @index: at the
 * parent (leaf), or among our own children. @pid, @ring and @priv belong to
 * attach.c and deliver.c; @pid is shown to operators (0: nobody attached).
 * In a row of workers (worker.c) results come to UDP port @port instead, and
 * @epoch is what the process said that it takes part in, 0: none yet.
 */
struct local {
	uint16_t rank;
	uint16_t index;
	uint16_t port;
	uint32_t epoch;
	pid_t pid;
	uint32_t ring;
	void *priv;
};

/* A relay between the ranks of this host and the PS of a shared tree. */
struct hop {
	struct face *face;
	uint16_t relay;
};

/*
 * This host's node of one tree. @row is what `trees` holds; tree.c computes
 * it, join.c owns epoch and the nonces in it, deliver.c owns row.deliver.
 * Whoever changes @row calls tree_row_store().
 */
struct tree {
	TAILQ_ENTRY(tree) link;
	uint16_t id;
	struct job *job;
	unsigned int nchild;
	struct child child[TRIB_CHILDREN_MAX];
	struct face *parent; /* NULL: root */
	uint16_t up_child;
	unsigned int nlocal;
	struct local local[TRIB_RINGS_MAX];
	unsigned int ndown; /* explicit down faces; 0: derived */
	struct face *down[TRIB_CHILDREN_MAX];
	uint32_t slots; /* 2W, or 0 for a leaf: row.slot0 on */
	bool native;	/* its groups are devmaps (group.c) */
	bool stale;	/* a face changed (tree.c) */
	/* Shared trees (pool.c). @mask: as on the wire. */
	uint16_t relay; /* our number; 0: a dedicated tree */
	uint16_t next;
	uint8_t bmwords;
	uint32_t cap; /* 0: none */
	uint32_t age_ms;
	uint32_t mark0;
	uint64_t mask[TRIB_BMWORDS_MAX];
	/* Rows of workers of shared trees (worker.c): not in the maps. */
	struct in6_addr ps;
	uint16_t ps_port; /* host order; 0: no such row */
	unsigned int nhop;
	struct hop hop[TRIB_ATTACH_HOPS];
	struct in6_addr group; /* all zeros: none */
	/* Of another generation than the job's: whoever attaches now is not told
	 * of it, whoever did before goes on in it. */
	bool held;
	uint8_t weight; /* of messages, against the job's other trees */
	/* Newest epoch that ever ran; survives restarts (state file). */
	uint32_t last_epoch;
	struct timer wiped; /* pending: its slots were wiped not long ago */
	struct trib_tree row;
	void *join;    /* join.c's own */
	void *deliver; /* deliver.c's own */
};

TAILQ_HEAD(port_list, port);
TAILQ_HEAD(face_list, face);
TAILQ_HEAD(job_list, job);
TAILQ_HEAD(tree_list, tree);

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
	MAP_DELIVERS,
	MAP_CELLS,
	MAP_RINGS,
	MAP_POOLS,
	MAP_POOL_SLOTS,
	MAP_POOL_TABLE,
	MAP_POOL_MARKS,
	MAP_POOL_FACES,
	MAP_NDN_IN,
	MAP_NDN_LEAVE,
	MAP__MAX,
};

enum prog_id {
	PROG_XDP,    /* on every port */
	PROG_EGRESS, /* in every devmap entry */
	PROG_GROW,   /* clsact ingress of every port */
	PROG_PASS,   /* for veth peers; only pinned */
	PROG__MAX,
};

struct options {
	const char *instance; /* NULL: by network namespace */
	uint32_t nval;	      /* 0: auto */
	uint32_t nslots;      /* 0: default, or what is pinned */
	uint32_t ntrees;
	uint32_t pool;	    /* slots of the shared pool; 0: as nslots */
	uint32_t ndn;	    /* entries of the PIT; 0: no NDN forwarder */
	uint32_t ndn_cache; /* segments that it keeps */
	enum log_level log;
	bool purge;
};

struct tribd {
	struct options opt;
	char instance[TRIB_NAME_MAX];
	char pin_dir[128]; /* /sys/fs/bpf/trib/<instance> */
	char run_dir[128]; /* /run/trib/<instance> */
	int lock_fd;
	uint64_t netns_cookie; /* never used twice, unlike the inode */
	uint64_t start_ns;
	bool stop;

	int epoll_fd;
	LIST_HEAD(, timer) timers; /* sorted */

	struct bpf_object *obj;
	struct btf *btf; /* of the object; owned by obj */
	int map[MAP__MAX];
	int prog[PROG__MAX];
	struct trib_config config; /* as in the maps: sizes, nval */
	uint32_t
		pool; /* slots in use of the shared pool: at most config.npool */
	bool adopted;
	bool kfuncs; /* the module's are in use */

	struct port_list ports;
	struct face_list faces;
	struct job_list jobs;
	struct tree_list trees; /* by ascending id */
	unsigned int nfaces;
	unsigned int njobs;
	unsigned int ntrees;
	/* Counts changes of the set of objects: dumps notice. */
	uint32_t generation;

	struct netlink *nl; /* netlink.c */
	struct rtnl *rtnl;  /* rtnl.c */
	struct udp *udp;    /* udp.c */
	struct attach *attach;
	struct join *join;
	struct deliver *deliver;
	struct ndnd *ndn;      /* names.c */
	struct claims *claims; /* claims.c; NULL: no generic netlink */
};

/* --- face.c, job.c, tree.c: look-up; NULL if there is none */

struct face *face_find(struct tribd *d, const char *name);
struct job *job_find(struct tribd *d, const char *name);
struct job *job_find_id(struct tribd *d, uint16_t id);
struct tree *tree_find(struct tribd *d, uint16_t id);
/* The trees of @job in ascending id; @after NULL starts. */
struct tree *job_next_tree(struct tribd *d, const struct job *job,
			   const struct tree *after);
/* The entry for @rank in @t->local, or NULL. */
struct local *tree_local(struct tree *t, uint16_t rank);

/* Writes @t->row to the map; 0 or -errno (logged). Readers see old or new
 * 64-bit words, so change what they must not mix in steps. */
int tree_row_store(struct tribd *d, struct tree *t);
/* Reads it back; what BPF and a former tribd left. */
int tree_row_load(struct tribd *d, const struct tree *t, struct trib_tree *row);

/*
 * Returns after every BPF program that was running has ended: what it read
 * from a map before is no longer in use.
 */
void bpf_quiesce(struct tribd *d);

/* BTF type id of struct @name in the loaded object, or 0. */
uint32_t bpf_btf_struct(struct tribd *d, const char *name);

/* --- state.c: names and numbers that the maps do not hold */

/* Writes /run/trib/<instance>/state.json atomically; 0 or -errno (logged).
 * join.c calls it when tree.last_epoch grew, before START(RUN) goes out. */
int state_save(struct tribd *d);
/* The same as if @object (a face, a tree, or a job with its trees) were gone
 * already: the first step of its removal, and the only one that may fail. */
int state_save_without(struct tribd *d, const void *object);

/* --- udp.c: the socket at TRIB_UDP_PORT, IPv4 and IPv6 */

/* A datagram that the data plane admitted and passed on, or that came in
 * through a port without XDP: nothing in it is to be trusted. */
struct udp_packet {
	const void *data;
	size_t len;
	struct in6_addr src; /* IPv4 mapped */
	struct in6_addr dst;
	uint16_t sport;	  /* host order */
	uint32_t ifindex; /* L3 device: compare with face.l3_ifindex */
};

/* True if @p came from where packets of @f come from (not its UDP port). */
bool face_sent(const struct face *f, const struct udp_packet *p);

/*
 * Sends @len bytes from our port 7417 and @via's local address, out of @via's
 * device, with DF set. @to NULL: to @via's own address; @port 0: its port.
 * 0, -EAGAIN (queue full: as good as lost), -EMSGSIZE, -errno.
 */
int udp_send(struct tribd *d, const struct face *via, const struct in6_addr *to,
	     uint16_t port, const void *data, size_t len);
/* The same to whoever is no face, as the kernel routes it. 0 or -errno. */
int udp_send_to(struct tribd *d, const struct in6_addr *to, uint16_t port,
		const void *data, size_t len);

/*
 * --- hooks of attach.c, join.c and deliver.c
 *
 * X_init() runs before netlink requests are served and before the adopted
 * trees are announced; X_exit() at the end, with the trees still there and
 * without *_tree_removed (everything stays pinned and runs on).
 */

int attach_init(struct tribd *d);
void attach_exit(struct tribd *d);
/* The job is about to go: close its connections (its trees follow). */
void attach_job_removed(struct tribd *d, struct job *job);
/* Attached processes, of @job or (NULL) of all. */
unsigned int attach_count(struct tribd *d, const struct job *job);

int join_init(struct tribd *d);
void join_exit(struct tribd *d);
/* Called by udp.c for every datagram; @p lives for this call only. */
void join_packet(struct tribd *d, const struct udp_packet *p);
/* The row is in the map and used; @adopted: it was there before this tribd,
 * with its epoch and nonces. An error undoes the addition. */
int join_tree_added(struct tribd *d, struct tree *t, bool adopted);
/* The row is still in the map: tell whom it concerns (TRIB_ABORT_ADMIN). */
void join_tree_removed(struct tribd *d, struct tree *t);

int deliver_init(struct tribd *d);
void deliver_exit(struct tribd *d);
/*
 * Called with @t->nlocal > 0, before the row is made visible and before
 * join_tree_added(): makes the cells and sets @t->row.deliver (number = tree
 * id). With @adopted, row.deliver is what the map holds. An error undoes.
 */
int deliver_tree_added(struct tribd *d, struct tree *t, bool adopted);
/* After the row was cleared and bpf_quiesce(). */
void deliver_tree_removed(struct tribd *d, struct tree *t);

#endif /* TRIBD_H */
