// SPDX-License-Identifier: BSD-2-Clause
/* Opens and frees what a port has of libfabric. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "peer/net/ofi.h"
#include "peer/net/ofi_rc.h"

#define CQ_MAX 65536
#define OPS_MIN 64

static int open_links(struct ofi_port *o, const struct peer_port_conf *conf)
{
	uint32_t i;

	o->rank = conf->rank;
	o->npeer = conf->npeer;
	o->slots = conf->slots;
	o->chunk = conf->chunk;
	o->wait_fd = -1;
	o->links = calloc(conf->npeer ? conf->npeer : 1, sizeof(*o->links));
	if (!o->links)
		return ofi_fault(o, ENOMEM, -1, "links");
	for (i = 0; i < o->npeer; i++) {
		o->links[i].rank = conf->peers[i];
		o->links[i].addr = FI_ADDR_UNSPEC;
		peer_flow_init(&o->links[i].flow, (uint32_t)o->chunk, o->slots);
	}
	return 0;
}

/* Contexts of writes: as many as the queue takes, and as credits can ask for. */
static int open_ops(struct ofi_port *o)
{
	size_t n = (size_t)o->npeer * 2 * o->slots, i;

	if (n < OPS_MIN)
		n = OPS_MIN;
	if (n > o->info->tx_attr->size)
		n = o->info->tx_attr->size;
	o->ops = calloc(n, sizeof(*o->ops));
	if (!o->ops)
		return ofi_fault(o, ENOMEM, -1, "contexts");
	for (i = 0; i < n; i++) {
		o->ops[i].next = o->free_ops;
		o->free_ops = &o->ops[i];
	}
	o->small_len = n * OFI_SMALL;
	return 0;
}

static int open_cq(struct ofi_port *o)
{
	/* verbs sets aside all that a link's queue may hold, posted or not, and sends none else. */
	size_t link =
		o->info->rx_attr->size > OFI_RC_RECEIVES ? o->info->rx_attr->size : OFI_RC_RECEIVES;
	size_t want = o->info->tx_attr->size + (size_t)o->npeer * link;
	struct fi_cq_attr attr = {
		.size = want < CQ_MAX ? want : CQ_MAX,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_FD,
	};
	int err = fi_cq_open(o->domain, &attr, &o->cq, NULL);

	if (err) {
		attr.wait_obj = FI_WAIT_NONE;
		err = fi_cq_open(o->domain, &attr, &o->cq, NULL);
	}
	if (err)
		return ofi_fault(o, -err, -1, "completion queue");
	if (attr.wait_obj == FI_WAIT_NONE || fi_control(&o->cq->fid, FI_GETWAIT, &o->wait_fd))
		o->wait_fd = -1;
	return 0;
}

static int open_domain(struct ofi_port *o)
{
	int err = fi_fabric(o->info->fabric_attr, &o->fabric, NULL);

	if (err)
		return ofi_fault(o, -err, -1, "fabric");
	err = fi_domain(o->fabric, o->info, &o->domain, NULL);
	return err ? ofi_fault(o, -err, -1, o->info->domain_attr->name) : 0;
}

/* Reliable datagrams: one endpoint for all links. */
static int open_endpoint(struct ofi_port *o)
{
	struct fi_av_attr attr = {.type = FI_AV_UNSPEC, .count = o->npeer};
	uint32_t i;
	int err = fi_av_open(o->domain, &attr, &o->av, NULL);

	if (err)
		return ofi_fault(o, -err, -1, "address vector");
	err = fi_endpoint(o->domain, o->info, &o->ep, NULL);
	if (err)
		return ofi_fault(o, -err, -1, "endpoint");
	err = fi_ep_bind(o->ep, &o->av->fid, 0);
	if (!err)
		err = fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!err)
		err = fi_enable(o->ep);
	if (err)
		return ofi_fault(o, -err, -1, "endpoint");
	for (i = 0; i < o->npeer; i++)
		o->links[i].ep = o->ep;
	return 0;
}

/* Memory that peers write to: control blocks, then slots. */
static int open_area(struct ofi_port *o)
{
	size_t slots = o->slots * o->chunk;
	int err;

	o->area_len = o->npeer * (sizeof(struct ofi_ctrl) + slots);
	if (!o->area_len)
		return 0;
	o->area =
		mmap(NULL, o->area_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (o->area == MAP_FAILED) {
		o->area = NULL;
		return ofi_fault(o, ENOMEM, -1, "staging slots");
	}
	o->area_mem = ofi_mem_get(o, o->area, o->area_len);
	if (!o->area_mem)
		return ofi_fault(o, ENOMEM, -1, "registration of staging slots");
	err = ofi_mem_register(o, o->area_mem);
	return err ? ofi_fault(o, -err, -1, "registration of staging slots") : 0;
}

/* Copies of small writes. */
static int open_small(struct ofi_port *o)
{
	int err;

	o->small = mmap(NULL, o->small_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (o->small == MAP_FAILED) {
		o->small = NULL;
		return ofi_fault(o, ENOMEM, -1, "small writes");
	}
	o->small_mem = ofi_mem_get(o, o->small, o->small_len);
	if (!o->small_mem)
		return ofi_fault(o, ENOMEM, -1, "registration of small writes");
	err = ofi_mem_register(o, o->small_mem);
	return err ? ofi_fault(o, -err, -1, "registration of small writes") : 0;
}

int ofi_open(struct ofi_port **out, const struct peer_port_conf *conf, struct peer_fault *fault)
{
	struct ofi_port *o;
	int err;

	memset(fault, 0, sizeof(*fault));
	err = peer_port_check(conf, fault);
	if (err)
		return err;
	o = calloc(1, sizeof(*o));
	if (!o)
		return peer_fault_set(fault, ENOMEM, -1, "port: no memory");
	err = open_links(o, conf);
	if (!err)
		err = ofi_info_choose(&o->info, conf, &o->fault);
	if (!err)
		err = open_domain(o);
	if (!err)
		err = open_cq(o);
	if (!err)
		err = open_ops(o);
	if (!err)
		err = o->info->ep_attr->type == FI_EP_MSG ? ofi_rc_open(o) : open_endpoint(o);
	if (!err)
		err = open_area(o);
	if (!err)
		err = open_small(o);
	if (err) {
		*fault = o->fault;
		ofi_free(o);
		return err;
	}
	o->wide = o->info->domain_attr->cq_data_size >= 8;
	*out = o;
	return 0;
}

void ofi_free(struct ofi_port *o)
{
	if (o->rc)
		ofi_rc_close(o);
	if (o->ep)
		fi_close(&o->ep->fid);
	ofi_mem_end(o);
	if (o->area)
		munmap(o->area, o->area_len);
	if (o->small)
		munmap(o->small, o->small_len);
	if (o->av)
		fi_close(&o->av->fid);
	if (o->cq)
		fi_close(&o->cq->fid);
	if (o->domain)
		fi_close(&o->domain->fid);
	if (o->fabric)
		fi_close(&o->fabric->fid);
	if (o->info)
		fi_freeinfo(o->info);
	free(o->ops);
	free(o->links);
	free(o);
}
