// SPDX-License-Identifier: BSD-2-Clause
/* How near floats that came back are to the original ones: see nm_stats.h. */
#include <math.h>
#include <string.h>

#include "kernels/half.h"
#include "nm_stats.h"

static const struct {
	const char *name;
	uint32_t fmt;
} formats[] = {{"f32", TRIB_FMT_F32}, {"f16", TRIB_FMT_F16}, {"bf16", TRIB_FMT_BF16}};

#define NFORMATS (sizeof(formats) / sizeof(formats[0]))

const char *nm_fmt_name(uint32_t fmt)
{
	size_t i;

	for (i = 0; i < NFORMATS - 1; i++)
		if (formats[i].fmt == fmt)
			break;
	return formats[i].name;
}

uint32_t nm_fmt_find(const char *name)
{
	size_t i;

	for (i = 0; i < NFORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return formats[i].fmt;
	return 0;
}

static double value(uint32_t fmt, const void *x, size_t i)
{
	uint32_t bits;
	float v;

	if (fmt == TRIB_FMT_F16)
		bits = trib_f16_to(trib_half_at(x, i));
	else if (fmt == TRIB_FMT_BF16)
		bits = trib_bf16_to(trib_half_at(x, i));
	else
		memcpy(&bits, (const char *)x + 4 * i, 4);
	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

void nm_stats_add(struct nm_stats *s, uint32_t fmt, const void *x, const void *back, size_t count)
{
	double v, error;
	size_t i;

	for (i = 0; i < count; i++) {
		v = value(fmt, x, i);
		error = fabs(v - value(fmt, back, i));
		s->energy += v * v;
		s->lost += error * error;
		s->largest = fmax(s->largest, error);
	}
}

double nm_stats_kept(const struct nm_stats *s)
{
	return s->energy > 0 ? 1 - s->lost / s->energy : 1;
}

json_t *nm_stats_json(const struct nm_file *f, const struct nm_stats *s)
{
	uint64_t blocks = f->count / f->block, dense = f->count * nm_file_size(f->fmt);
	char spec[TRIB_NM_TEXT];
	json_t *j;

	trib_nm_print(spec, f->spec);
	j = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "spec", spec, "dtype",
		      nm_fmt_name(f->fmt), "values", (json_int_t)f->count, "kept",
		      (json_int_t)(blocks * trib_nm_packed(f->spec, f->block) +
				   trib_nm_packed(f->spec, f->count % f->block)),
		      "block", (json_int_t)f->block, "dense_bytes", (json_int_t)dense, "bytes",
		      (json_int_t)nm_file_bytes(f));
	json_object_set_new(j, "ratio", json_real((double)dense / (double)nm_file_bytes(f)));
	if (!s)
		return j;
	json_object_set_new(j, "kept_energy", json_real(nm_stats_kept(s)));
	json_object_set_new(j, "largest_error", json_real(s->largest));
	return j;
}
