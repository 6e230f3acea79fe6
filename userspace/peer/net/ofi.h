/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port over libfabric, from inside. ofi.c has its operations, ofi_open.c its
 * objects, ofi_link.c blobs and words of peers, ofi_put.c writes, ofi_mem.c
 * registrations, ofi_info.c the choice of a provider, ofi_rc.c connections.
 *
 *	struct ofi_port -- fabric, domain, endpoint, AV, CQ: used by one thread
 *	   |    `-- area: one registration, which peers write to
 *	   |          | control block, link 0 | ... | slots, link 0 | slots, link 1 ...
 *	struct ofi_link: one per peer
 */
#ifndef PEER_OFI_H
#define PEER_OFI_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "peer/net/fault.h"
#include "peer/net/flow.h"
#include "peer/net/port.h"

#define OFI_VERSION FI_VERSION(1, 15)
#define OFI_NAME_MAX 128      /* bytes of an endpoint's address */
#define OFI_NOTES 4	      /* announcements that the control block holds */
#define OFI_EVENTS 64	      /* completions read at once */
#define OFI_MAGIC 0x50425254U /* "TRBP", also tells byte orders apart */

/** struct ofi_blob - what peers must know of a port; ranks of its links follow */
struct ofi_blob {
	uint32_t magic;
	uint32_t rank;
	uint32_t npeer;
	uint32_t slots;
	uint64_t chunk;
	uint64_t base;
	uint64_t key;
	uint64_t token; /* connections: who asks for one has it from here */
	uint32_t format;
	uint16_t wide;
	uint16_t name_len;
	uint8_t name[OFI_NAME_MAX];
	uint32_t peers[];
};

/** struct ofi_note - an announcement, as it lies in the peer's control block */
struct ofi_note {
	uint64_t addr;
	uint64_t key;
	uint64_t len;
	uint64_t nth;
};

/** struct ofi_ctrl - control block of a link: its peer writes it, hence hostile */
struct ofi_ctrl {
	struct ofi_note notes[OFI_NOTES];
	uint32_t lens[PEER_FLOW_WINDOW];
	uint64_t scratch[8]; /* words whose bytes say nothing */
};

/** struct peer_mem - a registration; ofi_mem.c owns it */
struct peer_mem {
	uintptr_t base;
	size_t len;
	struct fid_mr *mr; /* NULL: not needed yet */
	void *desc;
	uint64_t key;
	unsigned int refs;
	struct peer_mem *next; /* most recently used first */
};

/** struct ofi_op - a write whose completion is to come */
struct ofi_op {
	struct fi_context2 ctx;
	struct ofi_op *next;
	uint32_t link;
	bool small;
};

/* Bytes of a write that is copied when it is issued. */
#define OFI_SMALL 64

/** enum ofi_due - small writes that wait for room in the queue */
enum ofi_due { OFI_DUE_NOTE = 1, OFI_DUE_LEN = 2, OFI_DUE_CREDIT = 4 };

/**
 * struct ofi_link - the way to one peer
 * @known:  connect() took its blob. @there: index of this link at the peer.
 * @ep, @addr: where to write.
 * @ctrl, @slots: the peer's control block and slots for this link, as @key addresses.
 * @due:    enum ofi_due. @len_number, @len_value: the length to be told.
 * @notes:  announcements made; @note: the last one.
 * @heard:  announcements that came; @early: bits of later ones that overtook one;
 *	    @target: the last one.
 */
struct ofi_link {
	uint32_t rank;
	uint32_t there;
	bool known;
	struct fid_ep *ep;
	fi_addr_t addr;
	uint64_t ctrl;
	uint64_t slots;
	uint64_t key;
	struct peer_flow flow;
	unsigned int due;
	uint16_t len_number;
	uint32_t len_value;
	uint32_t notes;
	struct ofi_note note;
	uint32_t heard;
	unsigned int early;
	struct ofi_note target;
	struct ofi_rc_link *rc;
};

struct ofi_port {
	struct peer_port port;
	uint32_t rank, npeer, slots;
	size_t chunk;
	bool wide;
	uint64_t token;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct ofi_rc *rc; /* connections; NULL: reliable datagrams */
	int wait_fd;
	uint8_t *area;
	size_t area_len;
	struct peer_mem *area_mem;
	struct peer_mem *mems;
	struct ofi_op *ops, *free_ops;
	uint8_t *small; /* OFI_SMALL for each of @ops */
	size_t small_len;
	struct peer_mem *small_mem;
	unsigned int unsent; /* writes that read the caller's memory */
	unsigned int flying; /* all writes without completion */
	unsigned int dues;   /* links with something due */
	bool closing;
	struct peer_fault fault;
	struct ofi_link *links;
};

static inline struct ofi_port *ofi_port(struct peer_port *p)
{
	return (struct ofi_port *)p;
}

static inline const struct ofi_port *ofi_port_const(const struct peer_port *p)
{
	return (const struct ofi_port *)p;
}

/* Note a fault, with libfabric's text of @err, which is positive. Return: -errno. */
static inline int ofi_fault(struct ofi_port *o, int err, int peer, const char *doing)
{
	return peer_fault_set(&o->fault, err, peer, "%s: %s", doing, fi_strerror(err));
}

/* ofi_info.c: the NIC and provider of @conf. Return: 0, or -errno with @fault. */
int ofi_info_choose(struct fi_info **out, const struct peer_port_conf *conf,
		    struct peer_fault *fault);
/* Set libfabric's defaults, once, before its first call. */
void ofi_env(void);

/* ofi_open.c */
int ofi_open(struct ofi_port **out, const struct peer_port_conf *conf, struct peer_fault *fault);
void ofi_free(struct ofi_port *o);

/* ofi_mem.c */
struct peer_mem *ofi_mem_get(struct ofi_port *o, void *mem, size_t len);
void ofi_mem_put(struct ofi_port *o, struct peer_mem *m);
void ofi_mem_end(struct ofi_port *o);
/* Register it in fact, for peers' writes. Return: 0 or -errno. */
int ofi_mem_register(struct ofi_port *o, struct peer_mem *m);
/* Address of @p, in @m, as peers say it. */
uint64_t ofi_mem_address(const struct ofi_port *o, const struct peer_mem *m, const void *p);

/* ofi_link.c */
size_t ofi_blob_size(const struct ofi_port *o);
size_t ofi_blob(struct ofi_port *o, void *buf, size_t room);
/* Check a peer's blob. Return: 0, or -EPROTO with the fault. */
int ofi_blob_take(struct ofi_port *o, uint32_t link, const void *blob, size_t len);
/* Take a word of completion data. @via: link it must name, or -1. Return: 0 or -errno. */
int ofi_word(struct ofi_port *o, uint64_t data, int via);
/* Write what is due. Return: 0 or -errno. */
int ofi_dues(struct ofi_port *o);
void ofi_due(struct ofi_port *o, struct ofi_link *l, unsigned int what);
int ofi_due_try(struct ofi_port *o, uint32_t link);

/* ofi_put.c: issue a write with completion data. Return: 0, -EAGAIN, or -errno: a fault. */
int ofi_put(struct ofi_port *o, uint32_t link, const struct peer_mem *m, const void *src,
	    size_t len, uint64_t addr, uint64_t key, const struct peer_flow_word *w);

#endif /* PEER_OFI_H */
