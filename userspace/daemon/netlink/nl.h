/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interfaces of the netlink server: attribute tables, commands, dumps.
 */
#ifndef TRIBD_NL_H
#define TRIBD_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "daemon/core/stat_text.h"
#include "daemon/core/tribd.h"

/* --- nl_policy.c */

enum nl_kind { NL_U8, NL_U16, NL_U32, NL_U64, NL_TEXT, NL_BYTES, NL_NEST };

struct nl_set;

/* One attribute; @name as in kmod/trib.yaml. */
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

extern const struct nl_set nl_top, nl_status, nl_face, nl_job, nl_tree, nl_child, nl_group, nl_stat,
	nl_ticket, nl_ndn, nl_route, nl_pit, nl_cs;

/*
 * Check every attribute in @len bytes at @data against @set: it must be known,
 * of the right size, not read only, and given once unless @multi; text must end
 * and be printable. @tb[type] becomes the first of its type. Returns 0, or
 * -errno with @why.
 */
int nl_parse_set(const struct nl_set *set, const void *data, size_t len,
		 struct nlattr *tb[NL_SET_MAX + 1], struct reason *why);
int nl_parse_nest(const struct nl_set *set, const struct nlattr *nest,
		  struct nlattr *tb[NL_SET_MAX + 1], struct reason *why);

/* Return 0 if @tb has @type, else -EINVAL with its name in @why. */
int nl_need(const struct nl_set *set, struct nlattr *const *tb, int type, struct reason *why);

/* --- commands */

enum nl_admin { NL_ADMIN_UNKNOWN, NL_ADMIN_NO, NL_ADMIN_YES };

struct nl_request {
	uint32_t uid; /* of process @pid, which sent it from @port */
	pid_t pid;
	uint32_t port;
	enum nl_admin admin;		   /* for nl_is_admin() */
	struct reason no_admin;		   /* why it is none */
	struct nlattr *tb[NL_SET_MAX + 1]; /* of the command's own nest */
	struct nlattr *ticket;		   /* TICKET_GET has a second one */
	const struct nlattr *args;	   /* content of the nest, for */
	int args_len;			   /* attributes that repeat */
	struct nl_msg *reply;		   /* filled by a GET of one object */
	struct reason why;
};

/* Progress of a dump. */
struct nl_cursor {
	uint32_t at; /* objects done */
	uint32_t uid;
	bool admin;   /* the command's dump_start() set it */
	uint16_t job; /* only trees of this job id; 0: all */
	/*
	 * State of the command; own_free() frees it at the end. If an object
	 * did not fit, dump_next() runs again with the old cursor, but the
	 * content of @own has changed.
	 */
	void *own;
	void (*own_free)(void *own);
};

struct nl_command {
	/* Nest of its arguments, an enum trib_attr; 0: takes none. */
	uint8_t attr;
	bool changes; /* for CAP_NET_ADMIN only; answered by NLMSG_ERROR only */
	int (*run)(struct tribd *d, struct nl_request *r);
	/* Read the arguments of a dump; may be NULL. */
	int (*dump_start)(struct tribd *d, struct nl_request *r, struct nl_cursor *c);
	/*
	 * Put the next object into @m. Returns 1; 0 at the end; -EAGAIN if it has
	 * looked at many rows and goes on when it is called again; or -errno.
	 */
	int (*dump_next)(struct tribd *d, struct nl_cursor *c, struct nl_msg *m);
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
int nl_job_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c);
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

/* May the sender of @r do everything? If not, @r->no_admin has the reason. */
bool nl_is_admin(struct nl_request *r);

/* Bind the port: requests queue up from here on. */
int netlink_init(struct tribd *d);
/* Begin to answer requests. */
int netlink_serve(struct tribd *d);
void netlink_exit(struct tribd *d);

/* --- stats.c */

/* Find the first counter with a number of @id or more, else STAT_NONE. */
#define STAT_NONE UINT32_MAX
uint32_t stat_next(const struct tribd *d, uint32_t id);
/* Name and text of a counter; NULL without such a counter. */
const struct stat_text *stat_text(uint32_t id);
/* Sum counter @id, or TRIB_STAT_NDN + id of NDN, over all CPUs. */
int stat_read(struct tribd *d, uint32_t id, uint64_t *sum);
int stat_reset(struct tribd *d);

#endif /* TRIBD_NL_H */
