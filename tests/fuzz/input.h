/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a fuzzer's input. Bytes that run out read as zero. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *p;
	size_t left;
};

static inline uint8_t take8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

/* Take a big-endian number. */
static inline uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | take8(in);
	return v;
}

#endif /* TESTS_FUZZ_INPUT_H */
