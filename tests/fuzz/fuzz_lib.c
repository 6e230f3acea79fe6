// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine, given packets that are not as they should
 * be: bent copies of real ones, in the middle of real collectives on an
 * imagined network (tests/lib/engine_world.h). Copies with another secret, epoch
 * or tree must change no result; others may, but must do no harm to memory,
 * and end all collectives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/secrets.h"
#include "tests/lib/engine_script.h"

struct input {
	const uint8_t *p;
	size_t left;
};

static struct input in;
static struct script sc;
static bool foreign; /* all bent copies are somebody else's */

static uint8_t take8(void)
{
	if (!in.left)
		return 0;
	in.left--;
	return *in.p++;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "lib: %s\n", what);
	abort();
}

/* Something that must not be taken for ours. */
static void disown(struct trib_hdr *h)
{
	switch (take8() & 3) {
	case 0:
		h->auth ^= 1ULL << (take8() & 63);
		break;
	case 1:
		h->epoch ^= htobe32(1U << (take8() & 31));
		break;
	case 2:
		h->tree ^= htobe16(1 << (take8() & 15));
		break;
	default:
		h->job ^= htobe16(1 << (take8() & 15));
	}
}

static void bend(uint8_t *p, size_t len)
{
	static const uint8_t types[] = {TRIB_T_GRAD,  TRIB_T_RESULT, TRIB_T_NEED, TRIB_T_ALIVE,
					TRIB_T_ABORT, TRIB_T_START,  TRIB_T_JOIN, 64};
	struct trib_hdr *h = (struct trib_hdr *)p;
	uint8_t how = take8(), at = take8(), value = take8();

	switch (how & 7) {
	case 0:
		h->type = types[value & 7];
		break;
	case 1:
		h->chunk = htobe32(be32toh(h->chunk) + (int8_t)value);
		break;
	case 2:
		h->nval = htobe16(be16toh(h->nval) + (int8_t)value);
		break;
	case 3:
		h->aux = htobe16(value);
		break;
	case 4:
	case 5:
		p[at % sizeof(*h)] ^= value;
		break;
	default:
		p[(at << 4 | value >> 4) % len] ^= value;
	}
}

/* Every packet on its way down may bring a bent copy with it. */
static bool tap(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	uint8_t how;
	uint8_t *copy;
	size_t n = len;

	if (up || !in.left)
		return false;
	how = take8();
	if (how < 0x80)
		return false;
	if (how >= 0xf0)
		n = take8() < 0x80 ? len * take8() / 256 : len + take8();
	copy = malloc(n);
	if (!copy)
		return false;
	memset(copy, 0, n);
	memcpy(copy, pkt, n < len ? n : len);
	for (int i = how & 3; i && n >= sizeof(struct trib_hdr); i--)
		bend(copy, n);
	/* A relay that is wrong, not a stranger. */
	if (!foreign && n >= sizeof(struct trib_hdr) && how & 16)
		secrets_down((struct trib_hdr *)copy, copy + sizeof(struct trib_hdr),
			     (n - sizeof(struct trib_hdr)) & ~7UL, w->t->place.rep.tree[0].addr);
	if (foreign && n >= sizeof(struct trib_hdr))
		disown((struct trib_hdr *)copy);
	w->t->eng.now = s->now;
	trib_packet_rx(&w->t->eng, copy, n, how & 4);
	free(copy);
	/* Sometimes in place of the real one. */
	return !foreign && how & 8;
}

static bool over(struct sim *s)
{
	return script_done(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int windows[] = {1, 2, 4, 16};
	struct sim_options o = {.wire = {.delay = 50000}};
	struct sim s;
	uint8_t what;

	in = (struct input){data, size};
	what = take8();
	foreign = what & 1;
	o.seed = take8();
	o.workers = 2 + (what >> 1 & 1);
	o.window = windows[what >> 2 & 3];
	o.nval = what & 0x10 ? TRIB_NVAL_SMALL : 16;
	o.wire.loss = what & 0x20 ? 20 : 0;
	o.timeout_ms = 500;
	sim_init(&s, &o);
	s.tap = tap;
	script_init(&sc, &s, 1 + (what >> 6), 200, o.nval);
	script_start(&sc);
	must(sim_run(&s, over, s.now + 120 * TRIB_SEC), "somebody hangs");
	must(!foreign || script_good(&sc), "somebody else's packet did harm");
	script_free(&sc);
	sim_free(&s);
	return 0;
}
