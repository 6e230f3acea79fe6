// SPDX-License-Identifier: BSD-2-Clause
/* Names of the protocol: making and parsing; and the clock that paces packets. */
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/app/job_names.h"
#include "ndn/app/ps/pace.h"

#define V ((3ULL << 32) | 5)

static struct ndn_job_names job;
static struct ndn_name_buf last;

static struct ndn_bytes word(const char *s)
{
	return (struct ndn_bytes){(const uint8_t *)s, strlen(s)};
}

static enum ndn_err init(const char *text, const struct ndn_markers *m)
{
	struct ndn_name_buf buf;
	struct ndn_name name;

	if (ndn_name_parse(&buf, text))
		return NDN_E_TEXT;
	name = ndn_name_of(&buf);
	return ndn_job_names_init(&job, &name, m);
}

static struct ndn_name parsed(const char *text)
{
	expect_eq(ndn_name_parse(&last, text), NDN_OK);
	return ndn_name_of(&last);
}

static const struct {
	enum ndn_name_kind what;
	const char *text;
} names[] = {
	{NDN_IS_OFFER, "/gpu0/ps/job"},
	{NDN_IS_COLLECT, "/gpu0/ps/job/v=12884901893"},
	{NDN_IS_GRADIENT, "/gpu0/ps/job/v=12884901893/seg=7"},
	{NDN_IS_START, "/ps/job/gpu0"},
	{NDN_IS_INSERT, "/insert/ps/job"},
	{NDN_IS_DELETE, "/delete/ps/job"},
	{NDN_IS_ACK, "/distribute/ps/job"},
	{NDN_IS_MODEL, "/distribute/ps/job/v=12884901893/seg=7"},
	{NDN_IS_ASK, "/ps/job/32=newest"},
	{NDN_IS_NEWEST, "/ps/job/32=newest/v=12884901893"},
};

static void ndn__are_made_as_in_the_contract(void)
{
	struct ndn_name_parts parts = {word("gpu0"), V, 7};
	char text[NDN_NAME_TEXT_MAX];
	struct ndn_name_buf buf;
	struct ndn_name name;

	expect_eq(init("/ps/job", NULL), NDN_OK);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		expect_eq(ndn_job_name(&buf, &job, names[i].what, &parts), NDN_OK);
		name = ndn_name_of(&buf);
		expect_eq(ndn_name_text(&name, text, sizeof(text)), NDN_OK);
		if (!expect(!strcmp(text, names[i].text)))
			printf("# %s\n", text);
	}
}

static void ndn__are_told_apart(void)
{
	expect_eq(init("/ps/job", NULL), NDN_OK);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct ndn_name name = parsed(names[i].text);
		enum ndn_name_kind what = names[i].what;
		struct ndn_name_parts p;
		bool is_gpu = what <= NDN_IS_GRADIENT;

		expect_eq(ndn_job_match_gpu(&job, &name, &p), is_gpu ? what : NDN_IS_OTHER);
		if (is_gpu)
			expect(p.gpu.n == 4 && !memcmp(p.gpu.p, "gpu0", 4));
		else
			expect_eq(ndn_job_match_ps(&job, &name, &p), what);
		if (what == NDN_IS_GRADIENT || what == NDN_IS_MODEL)
			expect(p.version == V && p.segment == 7);
		if (what == NDN_IS_START)
			expect(p.gpu.n == 4 && !memcmp(p.gpu.p, "gpu0", 4));
	}
}

static void ndn__of_others_are_not_ours(void)
{
	static const char *const others[] = {
		"/ps",
		"/ps/job",
		"/ps/other/gpu0",
		"/gpu0/ps",
		"/gpu0/ps/job/extra",
		"/gpu0/ps/job/seg=7",
		"/gpu0/ps/job/v=1/v=2",
		"/gpu0/ps/job/v=1/seg=7/x",
		"/insert/ps",
		"/insert/ps/job/x",
		"/delete/ps/job/x",
		"/distribute/ps/job/v=1",
		"/distribute/ps/job/v=1/seg=1/x",
		"/distribute/ps/job/x/seg=1",
		"/distribute/ps/job/54=%00%01/seg=1",
		"/ps/job/32=other",
		"/ps/job/newest/v=1",
		"/ps/job/32=newest/seg=1",
		"/ps/job/gpu0/x",
	};
	struct ndn_name_parts p;

	expect_eq(init("/ps/job", NULL), NDN_OK);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct ndn_name name = parsed(others[i]);

		expect_eq(ndn_job_match_gpu(&job, &name, &p), NDN_IS_OTHER);
		if (!expect(!ndn_job_match_ps(&job, &name, &p)))
			printf("# %s\n", others[i]);
	}
}

static void job__name_that_cannot_be_is_refused(void)
{
	static const struct ndn_markers same = {"a", "b", "a"}, empty = {"a", "", "c"},
					mine = {"join", "tell", "part"};
	char text[256] = "/ps/";

	expect_eq(init("/", NULL), NDN_E_NAME_EMPTY);
	expect_eq(init("/insert/job", NULL), NDN_E_COMPONENT);
	expect_eq(init("/ps/v=1", NULL), NDN_E_COMPONENT);
	expect_eq(init("/a/b/c/d/e/f/g/h/i", NULL), NDN_E_NAME_DEEP);
	expect_eq(init("/a/b/c/d/e/f/g/h", NULL), NDN_OK);
	memset(text + 4, 'x', 200);
	expect_eq(init(text, NULL), NDN_E_NAME_LONG);
	expect_eq(init("/ps/job", &same), NDN_E_COMPONENT);
	expect_eq(init("/ps/job", &empty), NDN_E_COMPONENT);
	expect_eq(init("/tell/job", &mine), NDN_E_COMPONENT);
	expect_eq(init("/insert/job", &mine), NDN_OK);
}

static void job__longest_names_fit(void)
{
	static const struct ndn_markers m = {"123456789012345678901234567890",
					     "12345678901234567890123456789d",
					     "12345678901234567890123456789r"};
	uint8_t gpu[NDN_GPU_MAX];
	struct ndn_name_parts parts = {{gpu, sizeof(gpu)}, UINT64_MAX, UINT64_MAX};
	struct ndn_name_buf buf;
	char text[256] = "/";
	unsigned int n;

	memset(gpu, 'g', sizeof(gpu));
	for (n = 1; n < 254; n++) {
		text[n] = 'x';
		if (init(text, &m))
			break;
		for (int i = NDN_IS_OFFER; i <= NDN_IS_NEWEST; i++)
			expect_eq(ndn_job_name(&buf, &job, i, &parts), NDN_OK);
	}
	expect(n > 150);
}

static void offer__is_known_by_the_worker(void)
{
	struct ndn_name name = parsed("/gpu0/a/b/c"), p;
	char text[NDN_NAME_TEXT_MAX];

	expect(ndn_job_is_offer_to(&name, word("gpu0"), &p));
	expect_eq(ndn_name_text(&p, text, sizeof(text)), NDN_OK);
	expect(!strcmp(text, "/a/b/c"));
	expect(!ndn_job_is_offer_to(&name, word("gpu"), &p));
	name = parsed("/gpu0");
	expect(!ndn_job_is_offer_to(&name, word("gpu0"), &p));
	name = parsed("/gpu0/ps/job/v=1");
	expect(!ndn_job_is_offer_to(&name, word("gpu0"), &p));
}

/* Count packets of 1000 bytes at 1 MB/s; the caller asks once a step. */
static unsigned int paced(struct ndn_pace *p, uint64_t from, uint64_t step, uint64_t until)
{
	unsigned int n = 0;

	for (uint64_t t = from; t < until; t += step)
		while (ndn_pace_is_open(p, t)) {
			ndn_pace_take(p, t, 1000);
			n++;
		}
	return n;
}

static void pace__keeps_the_rate(void)
{
	struct ndn_pace p = {1000000, 5000000, 0};

	expect_eq(paced(&p, 1000000000, 10000, 2000000000), 1005);
	/* A caller that is late catches up. */
	p.next = 0;
	expect_eq(paced(&p, 3000000000, 4000000, 4000000000), 1002);
	/* A long sleep earns no more than the burst. */
	expect_eq(paced(&p, 90000000000, 1, 90000000001), 6);
}

int main(void)
{
	run(ndn__are_made_as_in_the_contract);
	run(ndn__are_told_apart);
	run(ndn__of_others_are_not_ours);
	run(job__name_that_cannot_be_is_refused);
	run(job__longest_names_fit);
	run(offer__is_known_by_the_worker);
	run(pace__keeps_the_rate);
	return tap_done();
}
