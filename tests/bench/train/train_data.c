// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-train-data: writes the samples that trib-train generates, for a peer that is not
 * written in C.
 *
 *	bench-train-data TASK SEED TRAIN TEST RANK WORLD >FILE
 *
 * The file has two sets, of training and of testing: each a number of samples, 64 bits,
 * then the floats of all, then a byte with the class of each.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/train/task.h"

static int write_set(enum task_kind kind, enum task_set set, char **argv, const char *total)
{
	unsigned int rank = (unsigned int)atoi(argv[5]), world = (unsigned int)atoi(argv[6]);
	struct task_part p;
	uint64_t n;
	int rc;

	rc = task_generate(&p, kind, (uint64_t)atoll(argv[2]), set, (size_t)atoll(total), rank,
			   world);
	n = p.n;
	if (!rc)
		rc = fwrite(&n, sizeof(n), 1, stdout) != 1 ||
		     fwrite(p.x, sizeof(float) * TASK_DIM, p.n, stdout) != p.n ||
		     fwrite(p.label, 1, p.n, stdout) != p.n;
	task_free(&p);
	return rc;
}

int main(int argc, char **argv)
{
	int kind = 0;

	if (argc == 7)
		while (kind < TASK__MAX && strcmp(argv[1], task_name((enum task_kind)kind)))
			kind++;
	if (argc != 7 || kind == TASK__MAX || atoi(argv[6]) < 1) {
		fprintf(stderr, "usage: bench-train-data TASK SEED TRAIN TEST RANK WORLD >FILE\n");
		return 2;
	}
	if (write_set((enum task_kind)kind, TASK_TRAIN, argv, argv[3]) ||
	    write_set((enum task_kind)kind, TASK_TEST, argv, argv[4]) || fflush(stdout)) {
		fprintf(stderr, "bench-train-data: cannot write\n");
		return 1;
	}
	return 0;
}
