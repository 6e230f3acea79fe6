/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The netlink server's inner interfaces: what attributes may look like, what
 * a command does, and how answers are made.
 */
#ifndef TRIBD_NL_H
#define TRIBD_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "daemon/core/stat_text.h"
#include "daemon/core/tribd.h"

/* --- nl_policy.c: pure */

enum nl_kind { NL_U8, NL_U16, NL_U32, NL_U64, NL_TEXT, NL_BYTES, NL_NEST };

struct nl_set;

/* One attribute. @name as in trib.yaml. */
struct nl_attr {
	const char *name;
	uint8_t kind;
	bool read_only; /* refused in requests */
	bool multi;	/* may be repeated */
	uint16_t size;	/* NL_BYTES: exactly; NL_TEXT: at most, NUL included */
	const struct nl_set *nest;
};

struct nl_set {
	const char *name;
	const struct nl_attr *attr; /* by type; 0 is unused */
	unsigned int max;	    /* highest type */
};

#define NL_SET_MAX 31 /* highest type of any set */

extern const struct nl_set nl_top, nl_status, nl_face, nl_job, nl_tree,
	nl_child, nl_group, nl_stat, nl_ticket, nl_ndn, nl_route, nl_pit, nl_cs;

/*
 * Checks every attribute in @len bytes at @data against @set: known, of the
 * right size, text that ends and can be printed, not read only, not twice.
 * @tb[type] is the first of its type. 0 or -errno with @why.
 */
int nl_parse_set(const struct nl_set *set, const void *data, size_t len,
		 struct nlattr *tb[NL_SET_MAX + 1], struct reason *why);
int nl_parse_nest(const struct nl_set *set, const struct nlattr *nest,
		  struct nlattr *tb[NL_SET_MAX + 1], struct reason *why);

/* 0, or -EINVAL naming what is missing. */
int nl_need(const struct nl_set *set, struct nlattr *const *tb, int type,
	    struct reason *why);

/* --- commands */

struct nl_request {
	uint32_t uid;
	struct nlattr *tb[NL_SET_MAX + 1]; /* of the command's own nest */
	struct nlattr *ticket;		   /* TICKET_GET has a second one */
	const struct nlattr *args;	   /* inside of the nest: */
	int args_len;			   /* repeated ones are found there */
	struct nl_msg *reply;		   /* GET of one object fills it */
	struct reason why;
};

/* Where a dump stands. */
struct nl_cursor {
	uint32_t at; /* objects dealt with */
	uint32_t uid;
	uint16_t job; /* only trees of this job id; 0: all */
	/* Of the command; freed when the dump ends. What did not fit is asked
	 * for again with the cursor as it was, but what this points to is not. */
	void *own;
	void (*own_free)(void *own);
};

struct nl_command {
	/* The nest its arguments are in, an enum trib_attr; 0: none. */
	uint8_t attr;
	bool changes; /* takes uid 0, answered by an error message only */
	int (*run)(struct tribd *d, struct nl_request *r);
	/* Optional: looks at the arguments of a dump. */
	int (*dump_start)(struct tribd *d, struct nl_request *r,
			  struct nl_cursor *c);
	/* Puts the next object into @m: 1; or there is none: 0; or -errno. */
	int (*dump_next)(struct tribd *d, struct nl_cursor *c,
			 struct nl_msg *m);
};

extern const struct nl_command nl_command[TRIB_CMD__MAX];

/* nl_status.c */
int nl_status_get(struct tribd *d, struct nl_request *r);
/* nl_face.c */
int nl_face_new(struct tribd *d, struct nl_request *r);
int nl_face_set(struct tribd *d, struct nl_request *r);
int nl_face_del(struct tribd *d, struct nl_request *r);
int nl_face_get(struct tribd *d, struct nl_request *r);
int nl_face_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
/* nl_job.c */
int nl_job_new(struct tribd *d, struct nl_request *r);
int nl_job_set(struct tribd *d, struct nl_request *r);
int nl_job_del(struct tribd *d, struct nl_request *r);
int nl_job_get(struct tribd *d, struct nl_request *r);
int nl_job_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
int nl_ticket_get(struct tribd *d, struct nl_request *r);
/* nl_tree.c */
int nl_tree_new(struct tribd *d, struct nl_request *r);
int nl_tree_del(struct tribd *d, struct nl_request *r);
int nl_tree_wipe(struct tribd *d, struct nl_request *r);
int nl_tree_switch(struct tribd *d, struct nl_request *r);
/* nl_tree_get.c */
int nl_tree_get(struct tribd *d, struct nl_request *r);
int nl_tree_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c);
int nl_tree_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
/* nl_group.c */
int nl_group_get(struct tribd *d, struct nl_request *r);
int nl_group_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
/* nl_ndn.c */
int nl_ndn_get(struct tribd *d, struct nl_request *r);
int nl_ndn_set(struct tribd *d, struct nl_request *r);
int nl_route_new(struct tribd *d, struct nl_request *r);
int nl_route_del(struct tribd *d, struct nl_request *r);
int nl_route_get(struct tribd *d, struct nl_request *r);
int nl_route_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c);
int nl_route_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
/* nl_pit.c */
int nl_pit_get(struct tribd *d, struct nl_request *r);
int nl_pit_del(struct tribd *d, struct nl_request *r);
int nl_pit_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c);
int nl_pit_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
int nl_cs_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c);
int nl_cs_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
int nl_cs_wipe(struct tribd *d, struct nl_request *r);
/* nl_stats.c */
int nl_stats_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
int nl_stats_reset(struct tribd *d, struct nl_request *r);

/* --- netlink.c */

/* Takes the port: requests queue up from here on. */
int netlink_init(struct tribd *d);
/* Starts to answer them. */
int netlink_serve(struct tribd *d);
void netlink_exit(struct tribd *d);

/* --- stats.c */

/* The first number from @id on that has a counter; STAT_NONE. */
#define STAT_NONE UINT32_MAX
uint32_t stat_next(const struct tribd *d, uint32_t id);
/* NULL for a number that has no counter. */
const struct stat_text *stat_text(uint32_t id);
/* Of id, or TRIB_STAT_NDN + id; the sum over CPUs. */
int stat_read(struct tribd *d, uint32_t id, uint64_t *sum);
int stat_reset(struct tribd *d);

#endif /* TRIBD_NL_H */
