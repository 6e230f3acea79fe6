// SPDX-License-Identifier: BSD-2-Clause
/* The worker, packet by packet: gradients, probes, malformed packets. */
#include "worker_rig.h"

/* ---- gradients ---- */

static struct ndn_gradient gradient_sent(const struct rig *r, uint64_t v)
{
	struct ndn_gradient g = {0};
	struct ndn_name_parts parts = {0};

	expect_eq(r->last.type, TRIB_NDN_DATA);
	expect_eq(ndn_job_match_gpu(&r->names, &r->last.data.name, &parts), NDN_IS_GRADIENT);
	expect_eq(parts.version, v);
	expect_eq(ndn_content_gradient_decode(&g, r->last.data.content), 0);
	expect_eq(g.segments, SEGMENTS);
	return g;
}

static void collect__is_held_and_answered_again(void)
{
	struct ndn_gradient g;
	struct rig r;
	uint64_t id;

	rig_join(&r, NDN_MODE_SYNC);
	r.data = 0;
	collect(&r, V(1));
	expect_eq(r.data, 0);
	expect_eq(give(&r), 0);
	expect_eq(r.data, 1);
	g = gradient_sent(&r, V(1));
	id = g.id;
	expect_eq(g.base, V(1));
	interest(&r, "/w0/ps/job/v=4294967297/seg=2", 1000);
	g = gradient_sent(&r, V(1));
	expect_eq(g.id, id);
	expect_eq(g.values.n, ELEMENTS * 4 - 2 * SEGMENT);
	/*
	 * A segment beyond the end, and names of other workers and jobs, get no
	 * answer.
	 */
	interest(&r, "/w0/ps/job/v=4294967297/seg=3", 1000);
	interest(&r, "/w1/ps/job/v=4294967297", 1000);
	interest(&r, "/w0/ps/job2/v=4294967297", 1000);
	expect_eq(r.data, 2);
	ndn_worker_free(&r.w);
}

static void collect__is_forgotten_with_its_lifetime(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	r.data = 0;
	collect(&r, V(1));
	r.now += 1001 * NDN_MS;
	expect_eq(give(&r), 0);
	expect_eq(r.data, 0);
	collect(&r, V(1));
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

static void collect__for_a_newer_version_makes_it_fetch(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	expect_eq(give(&r), 0);
	collect(&r, V(1));
	r.interests[NDN_IS_ASK] = 0;
	collect(&r, V(2));
	expect_eq(r.interests[NDN_IS_ASK], 1);
	/* More collect Interests cause no more probes. */
	for (unsigned int i = 0; i < 100; i++)
		collect(&r, V(3 + i));
	expect_eq(r.interests[NDN_IS_ASK], 1);
	expect(r.w.count[NDN_WORKER_PUSHED] > 60);
	ndn_worker_free(&r.w);
}

/* Forged Interests, which live for longest, do not displace the PS's. */
static void collect__is_held_in_a_flood(void)
{
	char name[64];
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	r.data = 0;
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "/w0/ps/job/v=%llu", (unsigned long long)V(9 + i));
		interest(&r, name, 60000);
		snprintf(name, sizeof(name), "/w0/ps/job/v=4294967297/seg=%u", 3 + i);
		interest(&r, name, 60000);
		if (i == 50)
			collect(&r, V(1));
	}
	expect_eq(r.data, 0);
	expect_eq(give(&r), 0);
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

/* One gradient for two versions would be counted twice, or not at all. */
static void collect__binds_a_gradient_to_one_version(void)
{
	struct ndn_gradient g;
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	model(&r, V(2), false);
	model(&r, V(3), false);
	expect_eq(take(&r), -EAGAIN);
	expect_eq(give(&r), 0);
	collect(&r, V(2));
	g = gradient_sent(&r, V(2));
	expect_eq(g.base, V(1));
	r.data = 0;
	collect(&r, V(3));
	expect_eq(r.data, 0);
	/* The next gradient is for the newest version. */
	expect_eq(take(&r), 0);
	expect_eq(r.version, V(3));
	expect_eq(give(&r), 0);
	expect_eq(r.data, 1);
	g = gradient_sent(&r, V(3));
	expect_eq(g.base, V(3));
	collect(&r, V(2));
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

static void collect__forged_takes_no_gradient(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	expect_eq(give(&r), 0);
	r.data = 0;
	collect(&r, V(0xffffffff));
	expect_eq(r.data, 0);
	model(&r, V(2), false);
	collect(&r, V(2));
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

static void collect__waits_until_the_ps_tells_of_the_version(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	expect_eq(give(&r), 0);
	r.data = 0;
	collect(&r, V(2));
	expect_eq(r.data, 0);
	segment(&r, V(2), 1, false, &r.key);
	expect_eq(r.data, 1);
	expect_eq(gradient_sent(&r, V(2)).base, V(1));
	ndn_worker_free(&r.w);
}

static void async__another_life_of_the_ps_voids_the_gradient(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	expect_eq(give(&r), 0);
	model(&r, (2ULL << 32) + 1, false);
	r.data = 0;
	collect(&r, (2ULL << 32) + 1);
	expect_eq(r.data, 0);
	expect_eq(take(&r), 0);
	expect_eq(r.version, (2ULL << 32) + 1);
	ndn_worker_free(&r.w);
}

/* ---- what is missing ---- */

static void probe__asks_past_caches_and_for_the_newest(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	expect_eq(give(&r), 0);
	segment(&r, V(2), 1, false, &r.key);
	r.fresh = 0;
	r.interests[NDN_IS_ASK] = r.interests[NDN_IS_MODEL] = 0;
	/* Probes alternate: fresh, cached, newest, cached, fresh, ... */
	while (r.w.count[NDN_WORKER_PROBES] < 8)
		pass(&r, NDN_MS);
	expect_eq(r.interests[NDN_IS_ASK], 2);
	expect_eq(r.interests[NDN_IS_MODEL], 6 * 2);
	/*
	 * The 1st and 5th of the six have MustBeFresh; probes for the newest
	 * always have it.
	 */
	expect_eq(r.fresh, 2 * 2 + 2);
	ndn_worker_free(&r.w);
}

static void probe__backs_off(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	expect_eq(give(&r), 0);
	collect(&r, V(1));
	/* Many leases of silence, except for renewals. */
	for (unsigned int i = 0; i < 40; i++) {
		pass(&r, 500 * NDN_MS);
		ack(&r);
	}
	expect(r.w.count[NDN_WORKER_PROBES] >= 8);
	expect(r.w.count[NDN_WORKER_PROBES] <= 16);
	ndn_worker_free(&r.w);
}

static void fetch__of_a_large_model_grows(void)
{
	uint8_t content[NDN_HEADER_MAX];
	struct ndn_newest n = {.segments = 500};
	struct ndn_start s;
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	s = start_of(&r);
	s.elements = 500 * SEGMENT / 4;
	ndn_worker_want(&r.w, r.now);
	interest(&r, "/w0/ps/job", 1000);
	start(&r, &s);
	ack(&r);
	data(&r, NDN_IS_NEWEST, V(1), 0, content, ndn_content_newest_encode(content, &n), &r.key);
	expect_eq(r.interests[NDN_IS_MODEL], 8);
	for (uint32_t i = 0, want = 8; i < 500; i++) {
		uint8_t segment_content[NDN_HEADER_MAX + SEGMENT] = {0};
		struct ndn_model m = {.segments = 500};
		size_t head = ndn_content_model_encode(segment_content, &m);

		r.now += NDN_MS / 10;
		data(&r, NDN_IS_MODEL, V(1), i, segment_content, head + SEGMENT, &r.key);
		if (i + 1 == want)
			want += want < 120 ? want + 8 : 64;
		expect_eq(r.interests[NDN_IS_MODEL], want < 500 ? want : 500);
	}
	expect_eq(r.w.version, V(1));
	ndn_worker_free(&r.w);
}

/* ---- malformed packets ---- */

static void rubbish__is_counted(void)
{
	static const uint8_t junk[] = {6, 3, 1, 2, 3};
	struct ndn_lp lp = {.is_nack = true, .nack_reason = 150};
	uint8_t buf[256];
	struct rig r;
	size_t len;

	rig_join(&r, NDN_MODE_SYNC);
	ndn_worker_receive(&r.w, r.now, junk, sizeof(junk));
	ndn_worker_receive(&r.w, r.now, junk, 0);
	expect_eq(r.w.count[NDN_WORKER_BAD_NDN], 2);
	ndn_worker_leave(&r.w, r.now);
	expect_eq(r.last.type, TRIB_NDN_INTEREST);
	expect_eq(ndn_lp_encode(&lp, r.last.interest.wire, buf, sizeof(buf), &len), NDN_OK);
	ndn_worker_receive(&r.w, r.now, buf, len);
	expect_eq(r.w.count[NDN_WORKER_NACKS], 1);
	ndn_worker_free(&r.w);
}

int main(void)
{
	run(collect__is_held_and_answered_again);
	run(collect__is_held_in_a_flood);
	run(collect__is_forgotten_with_its_lifetime);
	run(collect__for_a_newer_version_makes_it_fetch);
	run(collect__binds_a_gradient_to_one_version);
	run(collect__forged_takes_no_gradient);
	run(collect__waits_until_the_ps_tells_of_the_version);
	run(async__another_life_of_the_ps_voids_the_gradient);
	run(probe__asks_past_caches_and_for_the_newest);
	run(probe__backs_off);
	run(fetch__of_a_large_model_grows);
	run(rubbish__is_counted);
	return tap_done();
}
