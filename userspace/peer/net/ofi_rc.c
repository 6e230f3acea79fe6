// SPDX-License-Identifier: BSD-2-Clause
/*
 * A connection a link, of verbs or tcp. With verbs each write with data uses up a receive
 * at its target (FI_RX_CQ_DATA): as many are posted as words can be under way, and each anew when it
 * was used. A receive names its link, so that no peer can speak for another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "peer/net/ofi_rc.h"

/** struct rc_hello - data of a connection request; the token is from the target's blob */
struct rc_hello {
	uint32_t magic;
	uint32_t rank;
	uint64_t token;
};

/** struct rc_receive - context of a posted receive, which has no buffer */
struct rc_receive {
	struct fi_context2 ctx;
	uint32_t link;
};

/** struct ofi_rc_link - connection of a link */
struct ofi_rc_link {
	bool connected;
};

/**
 * struct ofi_rc - connections of a port
 * @receives: of all links, @per_link each, in their order.
 * @events:   epoll descriptor for both queues, or -1.
 */
struct ofi_rc {
	struct fid_pep *pep;
	struct fid_eq *eq;
	struct rc_receive *receives;
	uint32_t per_link;
	struct ofi_rc_link *links;
	int events;
};

/* Both queues wake one descriptor. Without, the caller polls. */
static void rc_events(struct ofi_port *o)
{
	struct epoll_event e = {.events = EPOLLIN};
	int fd;

	o->rc->events = -1;
	if (o->wait_fd < 0 || fi_control(&o->rc->eq->fid, FI_GETWAIT, &fd))
		return;
	o->rc->events = epoll_create1(EPOLL_CLOEXEC);
	if (o->rc->events >= 0 && (epoll_ctl(o->rc->events, EPOLL_CTL_ADD, fd, &e) ||
				   epoll_ctl(o->rc->events, EPOLL_CTL_ADD, o->wait_fd, &e))) {
		close(o->rc->events);
		o->rc->events = -1;
	}
}

static int rc_memory(struct ofi_port *o)
{
	struct ofi_rc *rc = o->rc;
	uint32_t i, j;

	rc->per_link = OFI_RC_RECEIVES;
	if (rc->per_link > o->info->rx_attr->size)
		rc->per_link = (uint32_t)o->info->rx_attr->size;
	rc->links = calloc(o->npeer + 1, sizeof(*rc->links));
	rc->receives = calloc((size_t)o->npeer * rc->per_link + 1, sizeof(*rc->receives));
	if (!rc->links || !rc->receives)
		return -ENOMEM;
	for (i = 0; i < o->npeer; i++) {
		o->links[i].rc = &rc->links[i];
		for (j = 0; j < rc->per_link; j++)
			rc->receives[i * rc->per_link + j].link = i;
	}
	return 0;
}

int ofi_rc_open(struct ofi_port *o)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	int err;

	o->rc = calloc(1, sizeof(*o->rc));
	if (!o->rc)
		return ofi_fault(o, ENOMEM, -1, "connections");
	o->rc->events = -1;
	err = rc_memory(o);
	if (!err && getrandom(&o->token, sizeof(o->token), 0) != sizeof(o->token))
		err = -EIO;
	if (!err)
		err = fi_eq_open(o->fabric, &attr, &o->rc->eq, NULL);
	if (!err)
		err = fi_passive_ep(o->fabric, o->info, &o->rc->pep, NULL);
	if (!err)
		err = fi_pep_bind(o->rc->pep, &o->rc->eq->fid, 0);
	if (!err)
		err = fi_listen(o->rc->pep);
	if (err)
		return ofi_fault(o, -err, -1, "listening endpoint");
	rc_events(o);
	return 0;
}

void ofi_rc_close(struct ofi_port *o)
{
	struct ofi_rc *rc = o->rc;
	uint32_t i;

	for (i = 0; i < o->npeer; i++) {
		if (!o->links[i].ep)
			continue;
		fi_shutdown(o->links[i].ep, 0);
		fi_close(&o->links[i].ep->fid);
	}
	if (rc->pep)
		fi_close(&rc->pep->fid);
	if (rc->eq)
		fi_close(&rc->eq->fid);
	if (rc->events >= 0)
		close(rc->events);
	free(rc->links);
	free(rc->receives);
	free(rc);
	o->rc = NULL;
}

int ofi_rc_name(const struct ofi_port *o, void *name, size_t *len)
{
	return fi_getname(&o->rc->pep->fid, name, len);
}

bool ofi_rc_ready(const struct ofi_link *l)
{
	return l->rc->connected;
}

static int rc_post(struct ofi_link *l, struct rc_receive *r)
{
	ssize_t err = fi_recv(l->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, r);

	return err ? (int)err : 0;
}

/* Make the endpoint of a link, with its receives. Return: 0 or -errno. */
static int rc_endpoint(struct ofi_port *o, uint32_t link, struct fi_info *info)
{
	struct ofi_link *l = &o->links[link];
	uint32_t i;
	int err = fi_endpoint(o->domain, info, &l->ep, l);

	if (err) {
		l->ep = NULL;
		return err;
	}
	err = fi_ep_bind(l->ep, &o->rc->eq->fid, 0);
	if (!err)
		err = fi_ep_bind(l->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!err)
		err = fi_enable(l->ep);
	for (i = 0; i < o->rc->per_link && !err; i++)
		err = rc_post(l, &o->rc->receives[link * o->rc->per_link + i]);
	return err;
}

int ofi_rc_connect(struct ofi_port *o, uint32_t link, const struct ofi_blob *b)
{
	struct rc_hello h = {.magic = OFI_MAGIC, .rank = o->rank, .token = b->token};
	struct fi_info *info;
	int err;

	if (o->rank > o->links[link].rank)
		return 0;
	info = fi_dupinfo(o->info);
	if (!info)
		return -ENOMEM;
	free(info->dest_addr);
	info->dest_addr = malloc(b->name_len);
	info->dest_addrlen = b->name_len;
	if (info->dest_addr) {
		memcpy(info->dest_addr, b->name, b->name_len);
		err = rc_endpoint(o, link, info);
		if (!err)
			err = fi_connect(o->links[link].ep, info->dest_addr, &h, sizeof(h));
	} else {
		err = -ENOMEM;
	}
	fi_freeinfo(info);
	return err;
}

bool ofi_rc_is_receive(const struct ofi_port *o, const void *context)
{
	const struct rc_receive *r = context;

	return r >= o->rc->receives && r < o->rc->receives + o->npeer * o->rc->per_link;
}

int ofi_rc_take(struct ofi_port *o, void *context, bool again)
{
	struct rc_receive *r = context;
	struct ofi_link *l = &o->links[r->link];
	int err = again ? rc_post(l, r) : 0;

	if (err)
		ofi_fault(o, -err, (int)l->rank, "receive");
	return (int)r->link;
}

/* Link of the rank that asks for a connection, or -1: none, or not with its token. */
static int rc_asked(const struct ofi_port *o, const struct rc_hello *h)
{
	uint32_t i;

	if (h->magic != OFI_MAGIC || h->token != o->token || h->rank >= o->rank)
		return -1;
	for (i = 0; i < o->npeer; i++)
		if (o->links[i].rank == h->rank)
			return o->links[i].ep ? -1 : (int)i;
	return -1;
}

/* Somebody wants to connect. Return: 0 or -errno. */
static int rc_request(struct ofi_port *o, struct fi_eq_cm_entry *e, size_t len)
{
	struct rc_hello h = {0};
	int link = -1, err = 0;

	if (len >= sizeof(*e) + sizeof(h)) {
		memcpy(&h, e->data, sizeof(h));
		link = rc_asked(o, &h);
	}
	if (link < 0) {
		fi_reject(o->rc->pep, e->info->handle, NULL, 0);
	} else {
		err = rc_endpoint(o, (uint32_t)link, e->info);
		if (!err)
			err = fi_accept(o->links[link].ep, NULL, 0);
	}
	fi_freeinfo(e->info);
	return err ? ofi_fault(o, -err, (int)o->links[link].rank, "accept") : 0;
}

/* Rank of the link whose endpoint this is, or -1. */
static int rc_rank(const struct ofi_port *o, fid_t fid)
{
	uint32_t i;

	for (i = 0; i < o->npeer; i++)
		if (o->links[i].ep && fid == &o->links[i].ep->fid)
			return (int)o->links[i].rank;
	return -1;
}

static int rc_error(struct ofi_port *o)
{
	struct fi_eq_err_entry e = {0};
	int rank;

	if (fi_eq_readerr(o->rc->eq, &e, 0) < 0)
		return 0;
	rank = rc_rank(o, e.fid);
	/* A request that was given up is none of ours. */
	if (rank < 0)
		return 0;
	return peer_fault_set(&o->fault, e.err, rank, "connection to rank %d: %s", rank,
			      fi_strerror(e.err));
}

int ofi_rc_poll(struct ofi_port *o)
{
	union {
		struct fi_eq_cm_entry cm;
		uint8_t room[sizeof(struct fi_eq_cm_entry) + 256];
	} e;
	struct ofi_link *l;
	uint32_t event;
	ssize_t n;
	int rank;

	n = fi_eq_read(o->rc->eq, &event, &e, sizeof(e), 0);
	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL)
		return rc_error(o);
	if (n < (ssize_t)sizeof(e.cm))
		return ofi_fault(o, n < 0 ? (int)-n : EIO, -1, "connection events");
	if (event == FI_CONNREQ)
		return rc_request(o, &e.cm, (size_t)n);
	rank = rc_rank(o, e.cm.fid);
	if (rank < 0)
		return 0;
	l = e.cm.fid->context;
	if (event == FI_CONNECTED)
		l->rc->connected = true;
	if (event == FI_SHUTDOWN && !o->closing)
		return peer_fault_set(&o->fault, ECONNRESET, rank, "rank %d has ended", rank);
	return 0;
}

int ofi_rc_fd(const struct ofi_port *o)
{
	return o->rc->events;
}

bool ofi_rc_rest(struct ofi_port *o)
{
	struct fid *fids[] = {&o->cq->fid, &o->rc->eq->fid};

	return fi_trywait(o->fabric, fids, 2) == FI_SUCCESS;
}
