// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as a saved state of compression. A state that is refused changes nothing;
 * one that is loaded is what is saved next, and loads again.
 */
#include <stdlib.h>

#include "../input.h"
#include "tests/lib/compress_world.h"

#define ROOM 4096

static struct sim sim;
static struct cw w;
static struct trib_compress *c;

/* A rank with a tensor that has a residual. */
static void start(void)
{
	static const struct trib_compress_options o = {.schedule = "auto"};
	struct sim_options net = sim_star(2);

	cw_init(&w, &sim, &net, &o, 100);
	cw_gradients(&w);
	if (cw_issue(&w) || !cw_run(&w))
		abort();
	c = w.rank[0].c;
}

static size_t save(uint8_t buf[ROOM])
{
	int64_t len = trib_compress_save(c, buf, ROOM);

	if (len < 0 || len > ROOM)
		abort();
	return (size_t)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t before[ROOM], after[ROOM];
	size_t had, has;
	int rc;

	if (!c)
		start();
	if (size > ROOM)
		return -1;
	had = save(before);
	rc = trib_compress_load(c, data, size);
	has = save(after);
	if (rc) {
		/* Only memory and sense may be lacking. */
		if (rc != -EINVAL || has != had || memcmp(before, after, had))
			abort();
		return 0;
	}
	if (has != size || trib_compress_load(c, after, has))
		abort();
	had = save(before);
	if (had != has)
		abort();
	return 0;
}
