/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files through the codec. All return enum cli_code. */
#ifndef TRIB_CLI_NM_RUN_H
#define TRIB_CLI_NM_RUN_H

#include "cli/core/cli.h"
#include "nm_stats.h"

/**
 * struct nm_run - one run
 * @f:     given for raw files, but @f.count; read from the head of others.
 * @level: instruction set.
 * @in:    file to read; "-" is standard input, but for raw files.
 * @out:   file to replace; "-" is standard output.
 * @raw:   original floats, to compare with; or NULL.
 * @stats: measure what was kept.
 * @kept:  the result of that.
 */
struct nm_run {
	struct nm_file f;
	struct nm_level level;
	const char *in;
	const char *out;
	const char *raw;
	bool stats;
	struct nm_stats kept;
};

/* Compress raw floats. Without @out, only measure. */
int nm_compress(struct cli *c, struct nm_run *r);

/* Expand to raw floats. Without @out, only check, and compare with @raw. */
int nm_expand(struct cli *c, struct nm_run *r);

/* True if a file can be opened and begins as those of trib codec do. */
bool nm_is_compressed(const char *name);

#endif /* TRIB_CLI_NM_RUN_H */
