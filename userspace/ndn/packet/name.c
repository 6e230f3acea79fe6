// SPDX-License-Identifier: BSD-2-Clause
/* Names in wire format: check, take apart, compare, append. */
#include <string.h>

#include "packet.h"

static enum ndn_err check_component(const struct ndn_tlv *t)
{
	if (t->type > TRIB_NDN_COMPONENT_TYPE_MAX)
		return NDN_E_COMPONENT;
	if ((t->type == TRIB_NDN_DIGEST || t->type == TRIB_NDN_PARAMS_DIGEST) &&
	    t->value.n != TRIB_NDN_DIGEST_SIZE)
		return NDN_E_SIZE;
	return NDN_OK;
}

enum ndn_err ndn_name_decode(struct ndn_name *name, const uint8_t *value, size_t n)
{
	const uint8_t *p = value;
	enum ndn_err err;
	struct ndn_tlv t;

	if (n > TRIB_NDN_NAME_MAX)
		return NDN_E_NAME_LONG;
	memset(name, 0, sizeof(*name));
	name->value = value;
	name->len = n;
	while (p < value + n) {
		if (name->count == TRIB_NDN_COMPONENTS_MAX)
			return NDN_E_NAME_DEEP;
		err = ndn_tlv_read(&p, value + n, &t);
		if (!err)
			err = check_component(&t);
		if (err)
			return err;
		name->at[++name->count] = p - value;
	}
	return NDN_OK;
}

enum ndn_err ndn_name_read(struct ndn_tlv_walk *w, struct ndn_name *name, struct ndn_tlv *t)
{
	enum ndn_err err;

	if (ndn_tlv_walk_is_over(w))
		return NDN_E_NO_NAME;
	err = ndn_tlv_walk_next(w, t);
	if (err)
		return err;
	if (t->type != TRIB_NDN_NAME)
		return NDN_E_NO_NAME;
	err = ndn_name_decode(name, t->value.p, t->value.n);
	if (!err && !name->count)
		err = NDN_E_NAME_EMPTY;
	return err;
}

struct ndn_name ndn_name_of(const struct ndn_name_buf *buf)
{
	struct ndn_name name;

	/* Cannot fail: the content of a name_buf was checked. */
	ndn_name_decode(&name, buf->bytes, buf->len);
	return name;
}

enum ndn_err ndn_name_copy(struct ndn_name_buf *buf, const struct ndn_name *name)
{
	buf->len = 0;
	return ndn_name_append_name(buf, name);
}

struct ndn_component ndn_name_get(const struct ndn_name *name, unsigned int i)
{
	const uint8_t *p = name->value + name->at[i];
	struct ndn_component c = {0};
	struct ndn_tlv t;

	if (!ndn_tlv_read(&p, name->value + name->at[i + 1], &t)) {
		c.type = t.type;
		c.value = t.value;
	}
	return c;
}

enum ndn_err ndn_name_get_number(const struct ndn_name *name, unsigned int i, uint32_t type,
				 uint64_t *number)
{
	struct ndn_component c = ndn_name_get(name, i);

	if (c.type != type)
		return NDN_E_NUMBER;
	return ndn_tlv_number(c.value, number);
}

struct ndn_name ndn_name_slice(const struct ndn_name *name, unsigned int first, unsigned int count)
{
	struct ndn_name part = {.value = name->value + name->at[first],
				.len = name->at[first + count] - name->at[first],
				.count = count};

	for (unsigned int i = 1; i <= count; i++)
		part.at[i] = name->at[first + i] - name->at[first];
	return part;
}

enum ndn_err ndn_name_append_name(struct ndn_name_buf *buf, const struct ndn_name *more)
{
	struct ndn_name have = ndn_name_of(buf);

	if (have.len + more->len > TRIB_NDN_NAME_MAX)
		return NDN_E_NAME_LONG;
	if (have.count + more->count > TRIB_NDN_COMPONENTS_MAX)
		return NDN_E_NAME_DEEP;
	if (more->len)
		memmove(buf->bytes + buf->len, more->value, more->len);
	buf->len += more->len;
	return NDN_OK;
}

enum ndn_err ndn_name_append(struct ndn_name_buf *buf, uint32_t type, const void *value, size_t n)
{
	uint8_t bytes[TRIB_NDN_NAME_MAX];
	struct ndn_tlv_writer w;
	struct ndn_name one;
	enum ndn_err err;

	if (!type)
		return NDN_E_TYPE_ZERO;
	ndn_tlv_writer_begin(&w, bytes, sizeof(bytes));
	ndn_tlv_put(&w, type, value, n);
	if (w.err)
		return NDN_E_NAME_LONG;
	err = ndn_name_decode(&one, w.p, w.end - w.p);
	return err ? err : ndn_name_append_name(buf, &one);
}

enum ndn_err ndn_name_append_number(struct ndn_name_buf *buf, uint32_t type, uint64_t number)
{
	uint8_t bytes[8];

	return ndn_name_append(buf, type, bytes, ndn_tlv_number_write(bytes, number));
}

/*
 * Types and lengths are in shortest form, whose first byte grows with the number.
 * The order of bytes is therefore the canonical order of components.
 */
int ndn_name_compare(const struct ndn_name *a, const struct ndn_name *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	int order = n ? memcmp(a->value, b->value, n) : 0;

	return order ? order : a->len - b->len;
}

bool ndn_name_is_equal(const struct ndn_name *a, const struct ndn_name *b)
{
	return a->len == b->len && ndn_name_is_prefix(a, b);
}

/* Bytes suffice: lengths precede values, so components end together. */
bool ndn_name_is_prefix(const struct ndn_name *prefix, const struct ndn_name *name)
{
	return prefix->len <= name->len &&
	       (!prefix->len || !memcmp(prefix->value, name->value, prefix->len));
}

unsigned int ndn_name_only(const struct ndn_name *name, uint32_t type, unsigned int *count)
{
	unsigned int at = name->count;

	*count = 0;
	for (unsigned int i = 0; i < name->count; i++) {
		if (ndn_name_get(name, i).type != type)
			continue;
		at = i;
		++*count;
	}
	return *count == 1 ? at : name->count;
}
