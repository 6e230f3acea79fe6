// SPDX-License-Identifier: BSD-2-Clause
/*
 * The saved state, little-endian:
 *
 *	struct saved
 *	@tensors times: key, count (u64 each), count floats
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "compress.h"

#define MAGIC "TRIBCMP1"

/* @judge: @norm are sums that the next step decides by. */
struct saved {
	char magic[8];
	uint64_t step;
	uint64_t seed;
	int32_t rung;
	int32_t calm;
	uint32_t judge;
	uint32_t norm[2];
	uint32_t zero;
	uint64_t tensors;
};

static size_t saved_bytes(const struct trib_compress *c, uint64_t *tensors)
{
	size_t len = sizeof(struct saved);
	const struct tensor *x;
	unsigned int i;

	*tensors = 0;
	for (i = 0; i < TENSOR_CHAINS; i++) {
		for (x = c->table[i]; x; x = x->next) {
			if (!x->residual)
				continue;
			len += 16 + 4 * x->count;
			++*tensors;
		}
	}
	return len;
}

static void put32(uint8_t *p, const void *v)
{
	uint32_t w;

	memcpy(&w, v, 4);
	w = htole32(w);
	memcpy(p, &w, 4);
}

static void get32(void *v, const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, 4);
	w = le32toh(w);
	memcpy(v, &w, 4);
}

/* Return: 0 with @p moved on, -ENOMEM, or -EIO. */
static int put_tensor(struct trib_compress *c, uint8_t **p, const struct tensor *x)
{
	uint64_t head[2] = {htole64(x->key), htole64(x->count)};
	float *near = malloc(4 * x->count + 1);
	int rc = -ENOMEM;
	size_t i;

	if (!near)
		return rc;
	rc = x->lost ? -EIO : c->work->residual_get(c, near, x->residual, x->count);
	memcpy(*p, head, sizeof(head));
	*p += sizeof(head);
	for (i = 0; !rc && i < x->count; i++, *p += 4)
		put32(*p, &near[i]);
	free(near);
	return rc;
}

static int put_all(struct trib_compress *c, uint8_t *p, uint64_t tensors)
{
	struct saved s = {
		.magic = MAGIC,
		.step = htole64(c->step),
		.seed = htole64(c->seed),
		.rung = (int32_t)htole32((uint32_t)c->schedule.rung),
		.calm = (int32_t)htole32((uint32_t)c->schedule.calm),
		.judge = htole32(c->judge),
		.tensors = htole64(tensors),
	};
	const struct tensor *x;
	unsigned int i;
	int rc = 0;

	put32((uint8_t *)&s.norm[0], &c->norm[0]);
	put32((uint8_t *)&s.norm[1], &c->norm[1]);
	memcpy(p, &s, sizeof(s));
	p += sizeof(s);
	for (i = 0; i < TENSOR_CHAINS; i++)
		for (x = c->table[i]; x && !rc; x = x->next)
			if (x->residual)
				rc = put_tensor(c, &p, x);
	return rc;
}

int64_t trib_compress_save(struct trib_compress *c, void *buf, size_t len)
{
	uint64_t tensors;
	size_t need;
	int rc;

	rc = compress_rest(c);
	if (rc)
		return rc;
	need = saved_bytes(c, &tensors);
	if (buf && need <= len)
		rc = put_all(c, buf, tensors);
	return rc ? rc : (int64_t)need;
}

static int get_tensor(struct trib_compress *c, struct tensor *x, const uint8_t *p)
{
	float *near = malloc(4 * x->count + 1);
	int rc = -ENOMEM;
	size_t i;

	if (!near)
		return rc;
	for (i = 0; i < x->count; i++)
		get32(&near[i], p + 4 * i);
	rc = c->work->residual_put(c, x->residual, near, x->count);
	free(near);
	return rc;
}

/* Read tensors into @table. */
static int get_tensors(struct trib_compress *c, struct tensor *table[TENSOR_CHAINS],
		       const uint8_t *p, size_t len, uint64_t n)
{
	struct tensor *x;
	uint64_t head[2];
	int rc;

	for (; n; n--) {
		if (len < sizeof(head))
			return -EINVAL;
		memcpy(head, p, sizeof(head));
		p += sizeof(head);
		len -= sizeof(head);
		head[1] = le64toh(head[1]);
		if (head[1] > len / 4)
			return -EINVAL;
		rc = tensor_add(c, table, le64toh(head[0]), head[1], &x);
		if (rc)
			return rc;
		rc = x->residual ? get_tensor(c, x, p) : 0;
		if (rc)
			return rc;
		p += 4 * head[1];
		len -= 4 * head[1];
	}
	return len ? -EINVAL : 0;
}

int trib_compress_load(struct trib_compress *c, const void *buf, size_t len)
{
	struct tensor *table[TENSOR_CHAINS] = {0};
	struct saved s;
	int32_t rung;
	int rc;

	rc = compress_rest(c);
	if (rc)
		return rc;
	if (len < sizeof(s))
		return -EINVAL;
	memcpy(&s, buf, sizeof(s));
	rung = (int32_t)le32toh((uint32_t)s.rung);
	if (memcmp(s.magic, MAGIC, sizeof(s.magic)) || le64toh(s.step) > INT32_MAX || rung < 0 ||
	    rung >= schedule_rungs() || s.zero)
		return -EINVAL;
	rc = get_tensors(c, table, (const uint8_t *)buf + sizeof(s), len - sizeof(s),
			 le64toh(s.tensors));
	if (rc) {
		tensor_free_all(c, table);
		return rc;
	}
	tensor_free_all(c, c->table);
	memcpy(c->table, table, sizeof(table));
	c->step = le64toh(s.step);
	c->seed = le64toh(s.seed);
	c->schedule.rung = rung;
	c->schedule.calm = (int32_t)le32toh((uint32_t)s.calm);
	c->judge = s.judge;
	get32(&c->norm[0], (uint8_t *)&s.norm[0]);
	get32(&c->norm[1], (uint8_t *)&s.norm[1]);
	return 0;
}
