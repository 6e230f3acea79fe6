/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seats in the table of pending Interests. An Interest needs one, so that no face
 * can fill the table: each face has NDN_SEATS_OWN seats to itself, and faces with
 * a right share the others. A face that finds no free seat gives up the Interest
 * that has waited longest in its own seats; in the shared seats, who holds most
 * gives up first.
 *
 * The word of a seat decides who holds it, and changes by compare and exchange
 * only. Bits of ndn_owner.used and ndn_taken are hints: set means that the word
 * is not 0, or about to be filled or freed. A seat whose row is gone is reused
 * like one whose Interest gives way, so nothing is lost if a step is.
 */
#ifndef TRIB_BPF_SEATS_H
#define TRIB_BPF_SEATS_H

#include "pit.h"

#define SEAT_TRIES 4  /* exchanges or shared holders, before giving up */
#define SEAT_WORDS 64 /* words of ndn_taken that one search looks at */
#define SEAT_HEIRS 16 /* faces of a word of the set that an heir is looked for among */
#define SEAT_MS 1000000ULL

/* Does the face have a right to any name? */
static __always_inline bool seat_may_share(__u32 face)
{
	struct ndn_face *f = bpf_map_lookup_elem(&ndn_faces, &face);

	return f && (f->right_lens || (f->flags & (NDN_FACE_SUBSCRIBE | NDN_FACE_WRITE)));
}

static __always_inline struct ndn_seat *seat_row(__u32 seat)
{
	return bpf_map_lookup_elem(&ndn_seats, &seat);
}

static __always_inline __u64 *seat_set(__u32 word)
{
	return bpf_map_lookup_elem(&ndn_taken, &word);
}

static __always_inline __u32 seat_face(__u64 word)
{
	return word & (NDN_FACES - 1);
}

static __always_inline void seat_share(__u32 face, __u32 more)
{
	struct ndn_owner *o = ndn_owner(face);

	if (o)
		__sync_fetch_and_add(&o->shared, more);
}

/* Set a clear bit of @all. Return: its number; < 0: there is none. */
static __always_inline int seat_bit(__u64 *set, __u64 all)
{
	__u64 left, bit;

	for (int i = 0; i < SEAT_TRIES; i++) {
		left = all & ~*(volatile __u64 *)set;
		if (!left)
			return -1;
		bit = left & -left;
		if (!(__sync_fetch_and_or(set, bit) & bit))
			return __builtin_popcountll(bit - 1);
	}
	return -1;
}

/* ndn_seat_free() - leave @seat, unless @word does not hold it any more */
__noinline int ndn_seat_free(__u32 seat, __u64 word)
{
	struct ndn_seat *p = seat_row(seat);
	struct ndn_owner *o = ndn_owner(seat_face(word));
	struct ndn_owner *all = ndn_owner(0);
	__u64 *set;

	if (!p || !o || !all || !word || __sync_val_compare_and_swap(&p->word, word, 0) != word)
		return 0;
	if (seat < NDN_SEATS_SHARED) {
		__sync_fetch_and_and(&o->used, ~(1ULL << seat % NDN_SEATS_OWN));
		return 0;
	}
	seat -= NDN_SEATS_SHARED;
	set = seat_set(seat / 64);
	if (set)
		__sync_fetch_and_and(set, ~(1ULL << seat % 64));
	__sync_fetch_and_add(&o->shared, -1);
	all->wait = 0;
	return 0;
}

/* Does a host hold all shared seats that it may? Routers have no limit. */
static __always_inline bool seat_has_part(const struct ndn_owner *o, __u32 face,
					  const struct ndn_config *c)
{
	struct ndn_face *f = bpf_map_lookup_elem(&ndn_faces, &face);

	return f && (f->flags & NDN_FACE_HOST) && o->shared >= c->shared / NDN_SHARED_PARTS;
}

/* ndn_seat_shared() - take a free shared seat for @face. Return: it, or < 0. */
__noinline int ndn_seat_shared(__u32 face, __u64 now)
{
	struct ndn_owner *all = ndn_owner(0), *o = ndn_owner(face);
	const struct ndn_config *c = ndn_conf();
	__u32 words, start, at = 0, i;
	__u64 *set;
	int bit;

	if (!c || !all || !o || c->shared < 64 || all->wait == now)
		return -1;
	if (seat_has_part(o, face, c))
		return -1;
	words = c->shared / 64;
	start = all->hand;
	for (i = 0; i < SEAT_WORDS && i < words; i++) {
		at = (start + i) % words;
		set = seat_set(at);
		if (!set)
			return -1;
		bit = seat_bit(set, ~0ULL);
		if (bit < 0)
			continue;
		all->hand = at;
		__sync_fetch_and_add(&o->shared, 1);
		return NDN_SEATS_SHARED + at * 64 + bit;
	}
	all->hand = at + 1;
	/* Not searched again before the clock moves on or one is freed. */
	if (words <= SEAT_WORDS)
		all->wait = now;
	return -1;
}

/* Take a free seat for @face. Return: it, or < 0: there is none. */
static __always_inline int seat_take(__u32 face, __u64 now)
{
	struct ndn_owner *o = ndn_owner(face);
	int bit;

	if (!o || !face)
		return -1;
	bit = seat_bit(&o->used, (1ULL << NDN_SEATS_OWN) - 1);
	if (bit >= 0)
		return face * NDN_SEATS_OWN + bit;
	return seat_may_share(face) ? ndn_seat_shared(face, now) : -1;
}

/* A word that nobody has had. */
static __always_inline __u64 seat_word(__u32 face)
{
	struct ndn_owner *all = ndn_owner(0);

	return all ? (__sync_fetch_and_add(&all->number, 1) + 1) << 8 | seat_face(face) : 0;
}

/* ndn_seat_fill() - hold a taken seat for @face. Return: its word; 0: failed. */
__noinline __u64 ndn_seat_fill(__u32 seat, __u32 face, __u64 key, __u64 now)
{
	struct ndn_seat *p = seat_row(seat);
	__u64 word = seat_word(face);

	if (!p || !word)
		return 0;
	p->key = key;
	p->since = now;
	/* Full barrier: who sees the word sees the rest. */
	(void)__sync_lock_test_and_set(&p->word, word);
	return word;
}

/* ndn_seat_is_due() - would @face hold less than @owner with one more shared seat? */
__noinline int ndn_seat_is_due(__u32 face, __u32 owner)
{
	struct ndn_owner *o = ndn_owner(face), *from = ndn_owner(owner);
	const struct ndn_config *c = ndn_conf();

	return o && from && c && from->shared > o->shared + 1 && seat_may_share(face) &&
	       !seat_has_part(o, face, c);
}

/* Change the holder of a place, under the lock of its row. */
static __always_inline bool seat_pass(struct ndn_ask *a, __u32 face, __u64 now)
{
	__u64 word = seat_word(face), was = a->word;
	struct ndn_seat *p = seat_row(a->seat);

	if (!p || !word || __sync_val_compare_and_swap(&p->word, was, word) != was)
		return false;
	p->since = now;
	seat_share(seat_face(was), -1);
	seat_share(face, 1);
	a->word = word;
	return true;
}

/**
 * enum ask_left - what becomes of an Interest that its owner gives up
 * @ASK_GONE:   it ends; the caller removes the row.
 * @ASK_MOVED:  it goes on for a face that joined, in another seat.
 * @ASK_PASSED: the same in this seat.
 */
enum ask_left {
	ASK_GONE,
	ASK_MOVED,
	ASK_PASSED,
};

/*
 * ndn_ask_heir() - under the lock of the row: find a face that joined and make it
 * the owner: in a free seat, or in this shared one, if it holds less than the owner.
 *
 * Return: enum ask_left.
 */
__noinline int ndn_ask_heir(struct ndn_ask *a, __u64 key, __u64 now)
{
	__u32 i, word, face, owner, poor = NDN_FACE_NONE;
	__u64 set = 0, bit;
	int seat;

	if (!a)
		return ASK_GONE;
	owner = seat_face(a->word);
	for (i = 0; i < NDN_FACE_WORDS * SEAT_HEIRS; i++) {
		word = i / SEAT_HEIRS & (NDN_FACE_WORDS - 1);
		if (i % SEAT_HEIRS == 0)
			set = a->faces[word];
		bit = set & -set;
		if (!bit)
			continue;
		set -= bit;
		face = 64 * word + __builtin_popcountll(bit - 1);
		if (face == owner)
			continue;
		seat = seat_take(face, now);
		if (seat >= 0) {
			a->seat = seat;
			a->word = ndn_seat_fill(seat, face, key, now);
			return ASK_MOVED;
		}
		if (!poor && a->seat >= NDN_SEATS_SHARED && ndn_seat_is_due(face, owner))
			poor = face;
	}
	return poor && seat_pass(a, poor, now) ? ASK_PASSED : ASK_GONE;
}

/* Did others join the Interest, and does it live? */
static __always_inline bool ask_is_joined(const struct ndn_ask *a, __u64 now)
{
	__u64 any = 0, mine = 1ULL << (a->word & 63);

#pragma clang loop unroll(full)
	for (__u64 i = 0; i < NDN_FACE_WORDS; i++)
		any |= a->faces[i] & ~(i == seat_face(a->word) / 64 ? mine : 0);
	return any && now < a->until;
}

/* Counter of the rows whose keys share some bits with @key. */
static __always_inline __u32 *asks_rows(__u64 key)
{
	__u32 place = key & (NDN_ASKED_PLACES - 1);

	return bpf_map_lookup_elem(&ndn_asked, &place);
}

static __always_inline void asks_counted(__u64 key, __u32 more)
{
	__u32 *n = asks_rows(key);

	if (n)
		__sync_fetch_and_add(n, more);
}

/**
 * enum seat_how - why a seat is taken from its holder
 * @SEAT_IF_OVER:  only if the Interest is over, or gone.
 * @SEAT_ROBBED:   its holder has more than the face.
 * @SEAT_REPLACED: it is the face's own. An Interest that others joined waits if none
 *                 of them finds a seat.
 */
enum seat_how {
	SEAT_IF_OVER = 0,
	SEAT_ROBBED = 1 << 29,
	SEAT_REPLACED = 1 << 30,
	SEAT_HOW = SEAT_ROBBED | SEAT_REPLACED,
};

/* Under the lock of the row, whose seat this is. Return: is the seat free now? */
static __always_inline bool seat_empty(struct ndn_seat *p, struct ndn_ask *a, __u32 how, __u64 now)
{
	__u32 owner = seat_face(a->word);
	int left = ASK_GONE;

	if (!how && now < a->until)
		return false;
	if (ask_is_joined(a, now)) {
		left = ndn_ask_heir(a, p->key, now);
		if (left == ASK_GONE && how == SEAT_REPLACED) {
			p->since = now;
			return false;
		}
	}
	face_remove(a->faces, owner);
	if (left == ASK_GONE)
		a->gone = 1;
	return left != ASK_PASSED;
}

/*
 * ndn_seat_seize() - take @seat from its holder for @face
 * @how: enum seat_how.
 *
 * Return: whether the seat is the caller's, to be filled.
 */
__noinline int ndn_seat_seize(__u32 seat, __u32 face, __u32 how, __u64 now)
{
	struct ndn_seat *p = seat_row(seat);
	bool mine = true, gone = false;
	struct ndn_ask *a;
	__u64 word, key;

	if (!p)
		return 0;
	word = *(volatile __u64 *)&p->word;
	if (!word || word == NDN_SEAT_BUSY)
		return 0;
	key = p->key;
	a = bpf_map_lookup_elem(&ndn_asks, &key);
	if (a) {
		if (!try_lock(&a->lock))
			return 0;
		if (a->word == word && !a->gone) {
			mine = seat_empty(p, a, how, now);
			gone = a->gone;
		}
		unlock(&a->lock);
	}
	if (gone && !bpf_map_delete_elem(&ndn_asks, &key)) {
		asks_counted(key, -1);
		ndn_count(NDN_STAT_REPLACED);
	}
	if (!mine || __sync_val_compare_and_swap(&p->word, word, NDN_SEAT_BUSY) != word)
		return 0;
	if (seat >= NDN_SEATS_SHARED) {
		seat_share(seat_face(word), -1);
		seat_share(face, 1);
	}
	return 1;
}

/*
 * ndn_seat_next() - the shared seat that is next in turn
 *
 * Return: its number + enum seat_how: robbed if its holder has more than @face,
 * replaced if that is @face itself, after @age. < 0: there is none.
 */
__noinline int ndn_seat_next(__u32 face, __u64 age, __u64 now)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_owner *all = ndn_owner(0);
	struct ndn_seat *p;
	__u32 seat, who;

	if (!c || !all || !c->shared)
		return -1;
	seat = NDN_SEATS_SHARED + __sync_fetch_and_add(&all->victim, 1) % c->shared;
	p = seat_row(seat);
	if (!p)
		return -1;
	who = seat_face(*(volatile __u64 *)&p->word);
	if (who == face)
		return seat | (now - p->since >= age ? SEAT_REPLACED : 0);
	return seat | (ndn_seat_is_due(face, who) ? SEAT_ROBBED : 0);
}

/*
 * ndn_seat_oldest() - the seat of @face's own that has been held longest
 *
 * Return: it, + SEAT_REPLACED; < 0: none for longer than @age.
 */
__noinline int ndn_seat_oldest(__u32 face, __u64 age, __u64 now)
{
	__u64 since = ~0ULL, word = ~0ULL;
	struct ndn_owner *o = ndn_owner(face);
	struct ndn_seat *p;
	__u32 i, oldest = 0;

	if (!o || now < o->wait)
		return -1;
	for (i = 0; i < NDN_SEATS_OWN; i++) {
		p = seat_row(face * NDN_SEATS_OWN + i);
		if (!p)
			return -1;
		/* Numbers tell those of one tick of the clock apart. */
		if (p->since > since || (p->since == since && p->word > word))
			continue;
		since = p->since;
		word = p->word;
		oldest = i;
	}
	o->wait = since + age;
	return now < since + age ? -1 : (face * NDN_SEATS_OWN + oldest) | SEAT_REPLACED;
}

/* ndn_seat_get() - a seat for the Interest in hand, to be filled; < 0: none */
__noinline int ndn_seat_get(void)
{
	struct ndn_work *w = ndn_work();
	__u32 face, i;
	__u64 age;
	int seat;

	if (!w)
		return -1;
	face = w->face & (NDN_FACES - 1);
	seat = seat_take(face, w->now);
	if (seat >= 0)
		return seat;
	age = w->flags & NDN_FACE_HOST ? NDN_REPLACE_MS * SEAT_MS : 0;
	for (i = seat_may_share(face) ? 0 : SEAT_TRIES; i < 2 * SEAT_TRIES; i++) {
		seat = i < SEAT_TRIES ? ndn_seat_next(face, age, w->now)
				      : ndn_seat_oldest(face, age, w->now);
		if (seat >= 0 && ndn_seat_seize(seat & ~SEAT_HOW, face, seat & SEAT_HOW, w->now))
			return seat & ~SEAT_HOW;
	}
	return -1;
}

#endif /* TRIB_BPF_SEATS_H */
