// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sequences of packets through the real trib_xdp and trib_send, each compared
 * with the model: verdict, the packet that leaves, every counter, the slots,
 * cells and rows, the ring records. A difference prints the packet and aborts.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "gen.h"
#include "model.h"

#define OPS_MAX 24
/* Bytes of an skb that a test run needs: a whole IP header. */
#define TEST_RUN_MIN 54

/* The fuzzer's feedback: what happened, not which code ran. */
static uint8_t feedback[8192] __attribute__((section("__libfuzzer_extra_counters")));

static struct frame sent;
static int step;
static uint64_t packets, grown, carried, left;

static void show(const char *what, const struct frame *f)
{
	fprintf(stderr, "%s, %d bytes:", what, f->len);
	for (int i = 0; i < f->len && i < 256; i++)
		fprintf(stderr, "%s%02x", i % 32 ? " " : "\n\t", f->b[i]);
	fprintf(stderr, "\n");
}

#define wrong(...)                                                                                 \
	do {                                                                                       \
		fprintf(stderr, "packet %d of the input, tree %d: ", step, model.tree);            \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fprintf(stderr, "\n");                                                             \
		show("it was", &sent);                                                             \
		abort();                                                                           \
	} while (0)

static void note(uint64_t what)
{
	what *= 0x9e3779b97f4a7c15ULL;
	feedback[what >> 51] = 1;
}

/* --- checks after each packet */

static void same_stats(void)
{
	uint64_t delta[TRIB_STAT__MAX];

	rig_stats(delta);
	for (int i = 0; i < TRIB_STAT__MAX; i++) {
		if (delta[i] != model.stats[i])
			wrong("counter %d grew by %llu, not %llu", i, (unsigned long long)delta[i],
			      (unsigned long long)model.stats[i]);
		if (delta[i])
			note(0x1000000 + i * 64 + model.tree);
	}
}

static void same_records(void)
{
	struct rig_record got[MODEL_RECORDS];
	int n = rig_records(got, MODEL_RECORDS);
	bool used[MODEL_RECORDS] = {false};

	if (n != model.nrecord)
		wrong("%d ring records, not %d", n, model.nrecord);
	/* Rings are read one after the other. */
	for (int i = 0; i < n; i++) {
		int j = 0;

		while (j < n && (used[j] || got[i].ring != model.record[j].ring ||
				 memcmp(&got[i].ev, &model.record[j].ev, sizeof(got[i].ev))))
			j++;
		if (j == n)
			wrong("ring record %d (type %d) is not expected", i, got[i].ev.type);
		used[j] = true;
	}
}

/* Adopt fields that the model cannot know: times, and the last child while some miss. */
static void adopt_unknown(int tree)
{
	for (int i = 0; i < POOL; i++) {
		struct trib_slot *m = model_slot(tree * POOL + i);
		const struct trib_slot *s = rig_slot(tree * POOL + i);

		if (!m->first_ns != !s->first_ns)
			wrong("slot %d: first_ns is %llu", i, (unsigned long long)s->first_ns);
		m->first_ns = s->first_ns;
		m->newest_ns = s->newest_ns;
		if (m->state == TRIB_SLOT_COLLECT)
			m->last = s->last;
	}
	for (int i = 0; i < TRIB_CHILDREN_MAX; i++) {
		struct trib_lag_child *m = &model.lag[tree].child[i];
		const struct trib_lag_child *l = &rig.lag[tree].child[i];

		if (l->lag_ns < m->lag_ns || l->seen_ns < m->seen_ns ||
		    l->start_wait_ns < m->start_wait_ns || l->data_wait_ns < m->data_wait_ns)
			wrong("lag of child %d runs backwards", i);
		m->lag_ns = l->lag_ns;
		m->seen_ns = l->seen_ns;
		m->start_wait_ns = l->start_wait_ns;
		m->data_wait_ns = l->data_wait_ns;
		m->behind_ns = l->behind_ns;
	}
}

static uint64_t since; /* when the packet went in */

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Adopt times that the packet wrote into cells. */
static void adopt_times(void)
{
	for (int i = 0; i < model.ntime; i++) {
		struct trib_cell *m = model.times[i].model;
		const struct trib_cell *c = model.times[i].cell;

		if (model.times[i].took) {
			m->took_ns = c->took_ns;
			continue;
		}
		if (c->sent_ns < since || c->sent_ns > clock_ns())
			wrong("cell of %llx: sent_ns", (unsigned long long)c->state);
		m->sent_ns = c->sent_ns;
	}
	model.ntime = 0;
}

static void same_cells(int tree, int rank)
{
	uint8_t *m = model.cells[tree][rank], *r = rig.cells[tree][rank];

	if (!memcmp(m, r, rig_cells_size()))
		return;
	for (int i = 0; i < CELLS; i++) {
		if (memcmp(rig_cell(m, i), rig_cell(r, i), rig.slot_size))
			wrong("cell %d of rank %d: state %llx/%llx nval %u/%u%s", i, rank,
			      (unsigned long long)rig_cell(r, i)->state,
			      (unsigned long long)rig_cell(m, i)->state,
			      ntohs(rig_cell(r, i)->h.nval), ntohs(rig_cell(m, i)->h.nval),
			      memcmp(rig_cell(m, i), rig_cell(r, i), 64) ? "" : ": values");
	}
	wrong("desk of rank %d", rank);
}

static void same_tree(int tree)
{
	adopt_unknown(tree);
	for (int i = tree * POOL; i < (tree + 1) * POOL; i++) {
		const struct trib_slot *m = model_slot(i), *s = rig_slot(i);

		if (memcmp(m, s, rig.slot_size))
			wrong("slot %d: chunk %u/%u state %u/%u seen %llx/%llx "
			      "nval %u/%u%s",
			      i, s->chunk, m->chunk, s->state, m->state,
			      (unsigned long long)s->seen, (unsigned long long)m->seen, s->nval,
			      m->nval, memcmp(m, s, 64) ? "" : ": values");
	}
	if (memcmp(&rig.counts[tree], &model.counts[tree], sizeof(model.counts[tree])))
		wrong("counts differ: sent %u/%u", rig.counts[tree].sent, model.counts[tree].sent);
	if (memcmp(&rig.lag[tree], &model.lag[tree], sizeof(model.lag[tree])))
		wrong("lag differs");
	if (memcmp(&rig.delivers[tree], &model.delivers[tree], sizeof(model.delivers[tree])))
		wrong("deliver row differs");
	for (int i = 0; i < RING_RANKS; i++)
		if (model.cells[tree][i])
			same_cells(tree, i);
}

/* Slots and marks of shared trees. */
static void same_pool(void)
{
	for (int i = 0; i < POOL_SLOTS; i++) {
		struct trib_pool_slot *m = model_pslot(i);
		const struct trib_pool_slot *s = rig_pslot(i);

		if (m->time_ns == SHARED_NOW) {
			if (s->time_ns < since || s->time_ns > clock_ns())
				wrong("shared slot %d: time", i);
			m->time_ns = s->time_ns;
		}
		if (memcmp(m, s, rig.pslot_size))
			wrong("shared slot %d: job %u/%u tree %u/%u epoch "
			      "%u/%u chunk %u/%u state %u/%u nval %u/%u%s",
			      i, s->job, m->job, s->tree, m->tree, s->epoch, m->epoch, s->chunk,
			      m->chunk, s->state, m->state, s->nval, m->nval,
			      memcmp(m, s, 192) ? "" : ": values");
	}
	for (int i = 0; i < T__MAX * POOL; i++)
		if (rig.marks[i] != model.marks[i])
			wrong("mark %d is %llx, not %llx", i, (unsigned long long)rig.marks[i],
			      (unsigned long long)model.marks[i]);
}

static void same_state(void)
{
	same_stats();
	same_records();
	adopt_times();
	if (model.tree)
		same_tree(model.tree);
	if (T_SHARED >> model.tree & 1)
		same_pool();
}

/* --- other events of a relay */

static void wipe(int tree)
{
	for (int i = tree * POOL; i < (tree + 1) * POOL; i++) {
		memset(rig_slot(i), 0, rig.slot_size);
		memset(model_slot(i), 0, rig.slot_size);
	}
}

/* Packets on another CPU have taken the slots to another chunk or state. */
static void move(int tree, uint8_t how)
{
	for (int i = tree * POOL; i < (tree + 1) * POOL; i++) {
		struct trib_slot *s = rig_slot(i);

		if (how & 0x10)
			s->chunk += POOL;
		if (how & 3)
			s->state = (how & 3) - 1;
		model_slot(i)->chunk = s->chunk;
		model_slot(i)->state = s->state;
	}
}

/* Another CPU is in the slot of the chunks with that number. */
static void hold(int tree, int i, uint32_t busy)
{
	rig_slot(tree * POOL + i)->busy = busy;
	model_slot(tree * POOL + i)->busy = busy;
}

/* --- ranks of this host */

/* Rank @rank wrote into its array. */
static void wrote(int tree, int rank)
{
	memcpy(model.cells[tree][rank], rig.cells[tree][rank], rig_cells_size());
	model.dirty |= 1U << tree;
}

/* Each rank has sent some chunks: four, or D where XDP sends the next. */
static void ranks_begin(uint32_t base, uint32_t dist)
{
	for (int tree = 0; tree < T__MAX; tree++) {
		for (int rank = 0; rank < RING_RANKS; rank++) {
			uint8_t *at[2] = {rig.cells[tree][rank], model.cells[tree][rank]};
			const struct trib_deliver *d = &rig.delivers[tree];
			uint32_t sent = d->reflex.auth || d->host ? dist : 4;

			for (int j = 0; at[0] && j < 2; j++)
				gen_cells(at[j], rig.trees[tree].epoch, base, sent, dist);
		}
	}
}

static void rank_writes(struct input *in, uint32_t base)
{
	int tree = take8(in) % T__MAX, rank = take8(in) % RING_RANKS;

	while (!rig.cells[tree][0])
		tree = (tree + 1) % T__MAX;
	if (!rig.cells[tree][rank])
		rank = 0;
	gen_write(in, rig.cells[tree][rank], rig.trees[tree].epoch, base);
	wrote(tree, rank);
}

/* Disturb slots and marks of shared trees. */
static void disturb_pool(uint8_t how)
{
	for (int i = 0; i < POOL_SLOTS; i++) {
		struct trib_pool_slot *s = rig_pslot(i), *m = model_pslot(i);

		if (how >> 6)
			s->busy = m->busy = i == how % POOL_SLOTS && how & 0x20;
		else if (!(how & 0x20))
			memset(s, 0, rig.pslot_size);
		else if (how & 0x10)
			s->chunk += POOL;
		else if (how & 8)
			s->state = how % 3;
		else
			s->time_ns = 0; /* long ago */
		if (!(how >> 6))
			memcpy(m, s, rig.pslot_size);
	}
	if (!(how >> 5) && how & 1) {
		memset(rig.marks, 0, sizeof(model.marks));
		memset(model.marks, 0, sizeof(model.marks));
	}
}

static void disturb(int tree, uint8_t how)
{
	model.dirty |= 1U << tree;
	if (T_SHARED >> tree & 1 && how >> 6 < 2) {
		disturb_pool(how);
		return;
	}
	switch (how >> 6) {
	case 0:
		if (how & 0x20)
			move(tree, how);
		else
			wipe(tree);
		break;
	case 1:
		hold(tree, how % POOL, how >> 5 & 1);
		break;
	default: /* a new epoch, or none */
		if (tree != T_PAUSED)
			rig.trees[tree].epoch = how & 3;
	}
}

/* --- one packet */

static void check_drop_counted(int verdict)
{
	int n = 0;

	for (int i = TRIB_DROP_SHORT; i < TRIB_STAT__MAX; i++)
		n += model.stats[i];
	/* The model must keep this rule itself: counters equal the model's. */
	if (verdict == V_DROP && !n && !model.stats[TRIB_ADDED] && !model.stats[TRIB_POOL_MERGED] &&
	    !model.stats[TRIB_DELIVERED] && !model.stats[TRIB_RUNG])
		wrong("dropped, and no reason counted");
	/* Contributions that are no packets have reasons of their own. */
	if (n > 1 + model.refused)
		wrong("%d reasons counted", n);
}

/* trib_grow must leave a packet without orders alone. */
static void ignore(struct frame *f, uint32_t ifindex)
{
	memset(model.stats, 0, sizeof(model.stats));
	model.nrecord = 0;
	sent = *f;
	if (rig_grow(f, ifindex) != V_UNSPEC)
		wrong("trib_grow took a packet without orders");
	same_state();
	if (f->len != sent.len || memcmp(f->b, sent.b, f->len))
		wrong("trib_grow changed a packet without orders");
}

/* Sign a header as the rewrites of its group have it, by direction. */
static void sign_copy(struct trib_hdr *h, const void *pay)
{
	struct trib_key key = rig_key(model.tree, h->flags & TRIB_F_UP ? KEY_RELAY : KEY_DOWN);

	if (trib_auth_is_secret(h->type))
		h->auth = trib_key_secret(&key);
	else if (!(T_SHARED >> model.tree & 1))
		h->auth = trib_auth(&key, h, pay, 8 * h->bmwords);
}

static void follow_grow(struct frame *f, uint32_t ifindex)
{
	int want, got, at, paylen, child;
	struct trib_hdr h, *out;
	const void *pay;

	want = model_grow(f, &h, &pay);
	got = rig_send(f, ifindex);
	grown++;
	if (got != want)
		wrong("trib_send said %d, not %d", got, want);
	same_state();
	/* Headers are written for each receiver: none, no headers. */
	if (got != V_STOLEN || !model.stats[TRIB_EGRESS])
		return;
	at = 14 + (f->b[12] == 0x86 ? 40 : 20) + 8;
	out = (struct trib_hdr *)(f->b + at);
	paylen = h.bmwords * 8 + trib_values_len(h.flags, h.nm, ntohs(h.nval));
	if (f->len != at + (int)sizeof(h) + paylen)
		wrong("grown to %d bytes, not %d", f->len, at + (int)sizeof(h) + paylen);
	child = out->flags & TRIB_F_UP && !(T_SHARED >> model.tree & 1) ? h.child : out->child;
	if ((out->flags ^ h.flags) & ~TRIB_F_UP || child != h.child)
		wrong("grown: flags %x, child %x", out->flags, out->child);
	h.flags = out->flags;
	h.child = out->child;
	if (!(model.errand.arg[1] & HOW_ANSWER))
		sign_copy(&h, pay);
	if (memcmp(out, &h, sizeof(h)))
		wrong("grown: header");
	if (memcmp(out + 1, pay, paylen))
		wrong("grown: payload");
}

/* Bytes of the frame that are defined: not those that trib_send will fill. */
static int compared(const struct frame *f)
{
	return model.errand.arg[1] & HOW_FILL ? model.pay : f->len;
}

/* @then: an event before the packet comes to trib_send. */
static void one_packet(struct frame *f, uint32_t ifindex, uint8_t then)
{
	static struct frame expect;
	int want, got, n;

	sent = *f;
	expect = *f;
	since = clock_ns();
	want = model_xdp(&expect, ifindex);
	check_drop_counted(want);
	got = rig_xdp(f, ifindex);
	packets++;
	carried += model.stats[TRIB_TX_REFLEX] + model.stats[TRIB_ADDED_HERE];
	left += model.stats[TRIB_REFLEX_LEFT];
	if (got != want)
		wrong("trib_xdp said %d, not %d", got, want);
	same_state();
	note(model.tree | model.act << 4 | want << 8 |
	     (uint64_t)sent.b[sent.len > 64 ? 43 : 0] << 16);
	if (got == V_DROP)
		return;
	n = compared(&expect);
	if (f->len != expect.len || memcmp(f->b, expect.b, n)) {
		show("left", f);
		show("expected", &expect);
		wrong("what left differs");
	}
	if (memcmp(&rig.errand, &model.errand, sizeof(rig.errand)))
		wrong("orders %x %x, not %x %x", rig.errand.arg[0], rig.errand.arg[1],
		      model.errand.arg[0], model.errand.arg[1]);
	if (got != V_PASS)
		return;
	if (model.errand.magic) {
		if (then >= 0xc0)
			disturb(model.tree, then << 2 | (then & 3));
		follow_grow(f, ifindex);
	} else if (f->len >= TEST_RUN_MIN && (then & 1)) {
		ignore(f, ifindex);
	}
}

static void report(void)
{
	fprintf(stderr,
		"fuzz-xdp: %llu packets checked, %llu of them grown; %llu contributions carried, "
		"%llu left\n",
		(unsigned long long)packets, (unsigned long long)grown, (unsigned long long)carried,
		(unsigned long long)left);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	uint64_t delta[TRIB_STAT__MAX];

	(void)argc;
	(void)argv;
	rig_open();
	model_open();
	rig_stats(delta);
	atexit(report);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t dirty;
	struct input in = {data, size};
	uint8_t how = take8(&in);
	uint32_t base = how & 1 ? 0xfffffffcU : 0;
	struct frame f;

	rig_reset(dirty);
	model_reset(dirty);
	ranks_begin(base, how & 2 ? 1 : WINDOW);
	for (step = 0; step < OPS_MAX && in.left; step++) {
		uint8_t op = take8(&in);

		if (op >= OP_WRITE && op < OP_DISTURB) {
			rank_writes(&in, base);
		} else if (op >= OP_DISTURB) {
			int tree = T_NONE + 1 + take8(&in) % (T__MAX - 1);

			disturb(tree, take8(&in));
		} else {
			uint32_t port = op >= OP_RAW ? gen_raw(&in, &f) : gen_packet(&in, base, &f);

			one_packet(&f, port, take8(&in));
		}
	}
	/* Nothing else may have changed. */
	for (model.tree = 0; model.tree < T__MAX; model.tree++)
		same_tree(model.tree);
	same_pool();
	dirty = model.dirty;
	return 0;
}
