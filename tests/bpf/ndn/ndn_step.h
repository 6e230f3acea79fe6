/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of tests: run one packet of a face through the NDN forwarder and check the
 * result. Static, for inclusion by each test program.
 */
#ifndef TEST_NDN_STEP_H
#define TEST_NDN_STEP_H

#include <linux/bpf.h>
#include <string.h>
#include "ndn_world.h"
#include "tests/lib/tap.h"

#define JOB "/ps/job"

static struct nframe f;
static uint8_t ndn[NFRAME_MAX];
static int ndn_len;

static inline int send_interest(int face, struct ask a)
{
	if (!a.life)
		a.life = 4000;
	ndn_len = ndn_make_interest(ndn, &a);
	nframe_from(&f, face, ndn, ndn_len);
	return ndn_run(&f, face);
}

#define interest(face, ...) send_interest(face, (struct ask){.name = __VA_ARGS__})

static inline int send_data(int face, const char *name, int content)
{
	ndn_len = ndn_make_data(ndn, name, content);
	nframe_from(&f, face, ndn, ndn_len);
	return ndn_run(&f, face);
}

/* The output is for @face and equals the input, byte by byte. */
static inline void expect_passed_to(int face)
{
	expect(nframe_is_for(&f, face));
	expect_eq(f.n, ndn_len);
	expect(!memcmp(f.b + f.off, ndn, ndn_len));
	expect_eq(ndn_the_drop(), -1);
}

static inline void expect_dropped(int verdict, int why)
{
	expect_eq(verdict, XDP_DROP);
	expect_eq(ndn_the_drop(), why);
}

/* First part of the entry of the job. */
static inline struct ndn_entry *entry(void)
{
	static struct ndn_entry none;
	int row = ndn_entry_row(JOB);

	return expect(row >= 0) ? &nw.pit[row] : &none;
}

/* Second part of the entry of the job. */
static inline struct ndn_more *more(void)
{
	static struct ndn_more none;
	int row = ndn_entry_row(JOB);

	return row >= 0 ? &nw.more[row] : &none;
}

static inline uint64_t living(void)
{
	struct ndn_entry *e = entry();

	return e->live[0] | e->live[1] | e->live[2];
}

/* Subscribe @face and let upstream acknowledge it. */
static inline void subscribe(int face)
{
	interest(face, "/insert" JOB);
	send_data(UP, "/distribute" JOB, 0);
}

/* Make the times of the entry older. */
static inline void age(uint64_t ns)
{
	struct ndn_entry *e = entry();
	struct ndn_more *m = more();

	e->acked -= e->acked ? ns : 0;
	m->asked -= m->asked ? ns : 0;
	m->until -= m->until ? ns : 0;
	m->sent -= m->sent ? ns : 0;
	e->taken -= e->taken ? ns : 0;
	e->lap_end -= ns;
}

static inline uint64_t faces_of_flight(void)
{
	struct ndn_flight *l = ndn_flight_of(&f);

	return l ? l->faces[0] : 0;
}

#endif /* TEST_NDN_STEP_H */
