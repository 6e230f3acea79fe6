// SPDX-License-Identifier: BSD-2-Clause
/* rounds.c over a double of libtrib that returns what the test says. */
#include <errno.h>
#include <string.h>

#include "lib/ndn/rounds.h"
#include "tests/lib/tap.h"

struct trib {
	int detached;
};

struct trib_req {
	int rc;
};

/* Results of the guard and of the gradients. */
static struct trib_req req[2];
static unsigned int issued;
static struct trib handle;

int trib_attach(struct trib **out, const struct trib_options *opts)
{
	(void)opts;
	*out = &handle;
	return 0;
}

int trib_detach(struct trib *t)
{
	t->detached++;
	return 0;
}

int trib_number(const struct trib *t)
{
	(void)t;
	return 7;
}

int trib_world(const struct trib *t)
{
	(void)t;
	return 2;
}

const char *trib_error_text(const struct trib *t)
{
	(void)t;
	return "the double's";
}

int trib_iallreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    enum trib_op op, struct trib_req **out)
{
	(void)t, (void)src, (void)dst, (void)count, (void)dtype, (void)op;
	*out = &req[issued++ % 2];
	return 0;
}

int trib_wait(struct trib_req *r)
{
	return r->rc;
}

static int round_with(int guard, int gradients, struct trib_rounds *tree)
{
	float x[4] = {0};

	memset(&handle, 0, sizeof(handle));
	*tree = (struct trib_rounds){.job = "j", .number = 7};
	expect_eq(trib_rounds_attach(tree), 0);
	req[0].rc = guard;
	req[1].rc = gradients;
	return trib_rounds_round(tree, 1, x, 4);
}

/* The PS clamps it: the ranks go on as after any other sum. */
static void round__that_overflows_is_a_sum(void)
{
	struct trib_rounds tree;

	expect_eq(round_with(0, -ERANGE, &tree), 0);
	expect(tree.t == &handle && !handle.detached);
}

static void round__with_a_value_that_is_not_finite_keeps_the_handle(void)
{
	struct trib_rounds tree;

	expect_eq(round_with(0, -EDOM, &tree), -EDOM);
	expect(tree.t == &handle && !handle.detached);
	expect(!strcmp(tree.error, "the double's"));
}

static void round__other_errors_detach(void)
{
	struct trib_rounds tree;

	expect_eq(round_with(-EHOSTDOWN, -EHOSTDOWN, &tree), -EHOSTDOWN);
	expect(!tree.t && handle.detached == 1);
	expect_eq(round_with(0, -EAGAIN, &tree), -EIO);
	expect(!tree.t && handle.detached == 1);
}

int main(void)
{
	run(round__that_overflows_is_a_sum);
	run(round__with_a_value_that_is_not_finite_keeps_the_handle);
	run(round__other_errors_detach);
	return tap_done();
}
