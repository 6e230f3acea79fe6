// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links of a port over libfabric: blobs, the words of completion data that come, and
 * small writes that are due. All that is read here was written by another process and
 * is hostile.
 */
#include <errno.h>
#include <string.h>

#include "peer/net/ofi.h"
#include "peer/net/ofi_rc.h"

/* The control block that the peer of @link writes. */
static struct ofi_ctrl *link_ctrl(const struct ofi_port *o, uint32_t link)
{
	return (struct ofi_ctrl *)o->area + link;
}

size_t ofi_blob_size(const struct ofi_port *o)
{
	return sizeof(struct ofi_blob) + o->npeer * sizeof(uint32_t);
}

size_t ofi_blob(struct ofi_port *o, void *buf, size_t room)
{
	struct ofi_blob *b = buf;
	size_t size = ofi_blob_size(o), name = OFI_NAME_MAX;
	uint32_t i, rank;

	if (room < size || size > PEER_BLOB_MAX)
		return 0;
	memset(b, 0, size);
	if (o->rc ? ofi_rc_name(o, b->name, &name) : fi_getname(&o->ep->fid, b->name, &name))
		return 0;
	b->magic = OFI_MAGIC;
	b->rank = o->rank;
	b->npeer = o->npeer;
	b->slots = o->slots;
	b->chunk = o->chunk;
	b->wide = o->wide;
	b->token = o->token;
	b->format = o->info->addr_format;
	b->name_len = (uint16_t)name;
	if (o->area_mem) {
		b->base = ofi_mem_address(o, o->area_mem, o->area);
		b->key = o->area_mem->key;
	}
	for (i = 0; i < o->npeer; i++) {
		rank = o->links[i].rank;
		memcpy((uint8_t *)buf + sizeof(*b) + i * sizeof(rank), &rank, sizeof(rank));
	}
	return size;
}

/* Index of the peer's link to us. Return: whether it has one. */
static bool blob_find(const struct ofi_blob *b, const uint8_t *ranks, uint32_t rank, uint32_t *out)
{
	uint32_t i, r;

	for (i = 0; i < b->npeer; i++) {
		memcpy(&r, ranks + i * sizeof(r), sizeof(r));
		if (r == rank) {
			*out = i;
			return true;
		}
	}
	return false;
}

/* Check all but the ranks behind it. Return: NULL, or the mistake. */
static const char *blob_check(const struct ofi_port *o, const struct ofi_blob *b, size_t len)
{
	if (b->magic != OFI_MAGIC)
		return "not a blob of this version and byte order";
	if (b->npeer > PEER_FLOW_LINKS || len != sizeof(*b) + b->npeer * sizeof(uint32_t))
		return "a blob of another length";
	if (b->chunk != o->chunk || b->slots != o->slots)
		return "other chunks or slots";
	if (b->format != o->info->addr_format || !!b->wide != o->wide)
		return "another provider";
	if (!b->name_len || b->name_len > OFI_NAME_MAX)
		return "an address of another length";
	return NULL;
}

int ofi_blob_take(struct ofi_port *o, uint32_t link, const void *blob, size_t len)
{
	struct ofi_link *l = &o->links[link];
	uint8_t own[OFI_NAME_MAX];
	size_t own_len = sizeof(own);
	const char *wrong = "a blob of another length";
	struct ofi_blob b;
	int err;

	if (len >= sizeof(b)) {
		memcpy(&b, blob, sizeof(b));
		wrong = blob_check(o, &b, len);
	}
	err = o->rc ? ofi_rc_name(o, own, &own_len) : fi_getname(&o->ep->fid, own, &own_len);
	if (!wrong && (err || own_len != b.name_len))
		wrong = "an address of another length";
	if (!wrong && b.rank != l->rank)
		wrong = "the blob of another rank";
	if (!wrong && !blob_find(&b, (const uint8_t *)blob + sizeof(b), o->rank, &l->there))
		wrong = "no link to this rank";
	if (wrong)
		return peer_fault_set(&o->fault, EPROTO, (int)l->rank, "rank %u: %s", l->rank,
				      wrong);
	l->ctrl = b.base + l->there * sizeof(struct ofi_ctrl);
	l->slots = b.base + b.npeer * sizeof(struct ofi_ctrl) + l->there * o->slots * o->chunk;
	l->key = b.key;
	if (o->rc)
		err = ofi_rc_connect(o, link, &b);
	else
		err = fi_av_insert(o->av, b.name, 1, &l->addr, 0, NULL) == 1 ? 0 : -EINVAL;
	if (err)
		return peer_fault_set(&o->fault, -err, (int)l->rank, "address of rank %u: %s",
				      l->rank, fi_strerror(-err));
	l->known = true;
	return 0;
}

/* An announcement came, maybe before an older one. */
static int word_announce(struct ofi_port *o, uint32_t link, uint16_t number)
{
	struct ofi_link *l = &o->links[link];
	uint16_t ahead = number - (uint16_t)l->heard;
	struct ofi_note n;

	if (ahead >= OFI_NOTES || l->early >> ahead & 1)
		return -EPROTO;
	l->early |= 1u << ahead;
	for (; l->early & 1; l->early >>= 1, l->heard++) {
		memcpy(&n, &link_ctrl(o, link)->notes[l->heard % OFI_NOTES], sizeof(n));
		if (n.nth != l->heard || n.addr + n.len < n.addr)
			return -EPROTO;
		l->target = n;
	}
	return 0;
}

static int word_take(struct ofi_port *o, const struct peer_flow_word *w)
{
	struct peer_flow *f = &o->links[w->link].flow;
	bool staged = w->kind == PEER_FLOW_STAGED;
	uint32_t len = w->whole ? (uint32_t)o->chunk : o->wide ? w->len : UINT32_MAX;

	switch (w->kind) {
	case PEER_FLOW_STAGED:
	case PEER_FLOW_DIRECT:
		if (!staged && !o->links[w->link].notes)
			return -EPROTO;
		if (o->wide && len == UINT32_MAX)
			return -EPROTO;
		return peer_flow_arrived(f, w->number, staged, len);
	case PEER_FLOW_LEN:
		if (o->wide)
			return -EPROTO;
		memcpy(&len, (uint8_t *)&link_ctrl(o, w->link)->lens[w->number % PEER_FLOW_WINDOW],
		       sizeof(len));
		return peer_flow_length(f, w->number, len);
	case PEER_FLOW_CREDIT:
		return peer_flow_credit(f, w->number);
	case PEER_FLOW_ANNOUNCE:
		return word_announce(o, w->link, w->number);
	case PEER_FLOW_BYE:
		return o->closing ? 0 : -ECONNRESET;
	}
	return -EPROTO;
}

int ofi_word(struct ofi_port *o, uint64_t data, int via)
{
	struct peer_flow_word w;
	int peer = via < 0 ? -1 : (int)o->links[via].rank;
	int err = peer_flow_unpack(data, &w);

	if (!err && (w.link >= o->npeer || (via >= 0 && w.link != (uint32_t)via)))
		err = -EPROTO;
	if (!err) {
		peer = (int)o->links[w.link].rank;
		err = word_take(o, &w);
	}
	if (err == -ECONNRESET)
		return peer_fault_set(&o->fault, ECONNRESET, peer, "rank %d has closed", peer);
	if (err)
		return peer_fault_set(&o->fault, EPROTO, peer,
				      "completion data %#llx, which no peer of ours sends",
				      (unsigned long long)data);
	return 0;
}

void ofi_due(struct ofi_port *o, struct ofi_link *l, unsigned int what)
{
	if (!l->due)
		o->dues++;
	l->due |= what;
}

/* Issue one small write. */
static int due_put(struct ofi_port *o, uint32_t link, enum peer_flow_kind kind, uint16_t number,
		   const void *src, size_t len, size_t at)
{
	struct ofi_link *l = &o->links[link];
	struct peer_flow_word w = {.kind = kind, .link = l->there, .number = number};

	return ofi_put(o, link, NULL, src, len, l->ctrl + at, l->key, &w);
}

int ofi_due_try(struct ofi_port *o, uint32_t link)
{
	struct ofi_link *l = &o->links[link];
	uint64_t zero = 0;
	int err = 0;

	if (!l->known)
		return -EAGAIN;
	if (l->due & OFI_DUE_NOTE) {
		err = due_put(o, link, PEER_FLOW_ANNOUNCE, (uint16_t)l->note.nth, &l->note,
			      sizeof(l->note),
			      offsetof(struct ofi_ctrl, notes[l->note.nth % OFI_NOTES]));
		if (!err)
			l->due &= ~OFI_DUE_NOTE;
	}
	if (!err && l->due & OFI_DUE_LEN) {
		err = due_put(o, link, PEER_FLOW_LEN, l->len_number, &l->len_value,
			      sizeof(l->len_value),
			      offsetof(struct ofi_ctrl, lens[l->len_number % PEER_FLOW_WINDOW]));
		if (!err)
			l->due &= ~OFI_DUE_LEN;
	}
	if (!err && l->due & OFI_DUE_CREDIT) {
		err = due_put(o, link, PEER_FLOW_CREDIT, (uint16_t)l->flow.taken, &zero,
			      sizeof(zero), offsetof(struct ofi_ctrl, scratch[0]));
		if (!err) {
			peer_flow_tell(&l->flow);
			l->due &= ~OFI_DUE_CREDIT;
		}
	}
	if (!l->due)
		o->dues--;
	return err;
}

int ofi_dues(struct ofi_port *o)
{
	uint32_t i;
	int err;

	for (i = 0; i < o->npeer && o->dues; i++) {
		if (!o->links[i].due)
			continue;
		err = ofi_due_try(o, i);
		if (err && err != -EAGAIN)
			return err;
	}
	return 0;
}
