// SPDX-License-Identifier: BSD-2-Clause
/* Makes and parses the names of the protocol. */
#include "job_names.h"

#include <string.h>

/* Bytes of type and length of a component; bytes of a version and a segment. */
#define HEAD_MAX 2
#define NUMBERS_MAX (HEAD_MAX + 8 + HEAD_MAX + 8)

const struct ndn_markers ndn_markers_default = {
	.insert = TRIB_NDN_MARK_INSERT,
	.distribute = TRIB_NDN_MARK_DISTRIBUTE,
	.remove = TRIB_NDN_MARK_DELETE,
};

static bool is_component(const struct ndn_component *c, struct ndn_bytes value)
{
	return c->type == TRIB_NDN_GENERIC && c->value.n == value.n &&
	       !memcmp(c->value.p, value.p, value.n);
}

static bool is_word(const struct ndn_component *c, const char *word)
{
	return is_component(c, (struct ndn_bytes){(const uint8_t *)word, strlen(word)});
}

static bool is_all_generic(const struct ndn_name *name)
{
	unsigned int i;

	for (i = 0; i < name->count; i++)
		if (ndn_name_get(name, i).type != TRIB_NDN_GENERIC)
			return false;
	return true;
}

/* ---- a job's names ---- */

static enum ndn_err check(const struct ndn_name *job, const struct ndn_markers *m)
{
	const char *const word[] = {m->insert, m->distribute, m->remove};
	struct ndn_component first;
	unsigned int i;

	if (!job->count)
		return NDN_E_NAME_EMPTY;
	if (job->count > NDN_JOB_COMPONENTS)
		return NDN_E_NAME_DEEP;
	if (job->len + HEAD_MAX + NDN_GPU_MAX + NUMBERS_MAX > TRIB_NDN_NAME_MAX)
		return NDN_E_NAME_LONG;
	if (!is_all_generic(job))
		return NDN_E_COMPONENT;
	first = ndn_name_get(job, 0);
	for (i = 0; i < 3; i++)
		if (!*word[i] || strlen(word[i]) > NDN_MARKER_MAX || is_word(&first, word[i]) ||
		    !strcmp(word[i], word[(i + 1) % 3]))
			return NDN_E_COMPONENT;
	return NDN_OK;
}

static enum ndn_err mark(struct ndn_name_buf *to, const char *word, const struct ndn_name *job)
{
	enum ndn_err err;

	to->len = 0;
	err = ndn_name_append(to, TRIB_NDN_GENERIC, word, strlen(word));
	return err ? err : ndn_name_append_name(to, job);
}

enum ndn_err ndn_job_names_init(struct ndn_job_names *j, const struct ndn_name *job,
				const struct ndn_markers *markers)
{
	const struct ndn_markers *m = markers ? markers : &ndn_markers_default;
	enum ndn_err err = check(job, m);

	if (!err)
		err = ndn_name_copy(&j->plain, job);
	if (!err)
		err = mark(&j->insert, m->insert, job);
	if (!err)
		err = mark(&j->distribute, m->distribute, job);
	if (!err)
		err = mark(&j->remove, m->remove, job);
	if (!err)
		err = ndn_name_copy(&j->newest, job);
	if (!err)
		err = ndn_name_append(&j->newest, TRIB_NDN_KEYWORD, NDN_WORD_NEWEST,
				      strlen(NDN_WORD_NEWEST));
	return err;
}

/* Names of workers must differ from the markers. */
static bool is_marker(const struct ndn_job_names *j, struct ndn_bytes gpu)
{
	const struct ndn_name_buf *const marked[] = {&j->insert, &j->distribute, &j->remove};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct ndn_name name = ndn_name_of(marked[i]);
		struct ndn_component c = ndn_name_get(&name, 0);

		if (is_component(&c, gpu))
			return true;
	}
	return false;
}

/* ---- making ---- */

static enum ndn_err add_numbers(struct ndn_name_buf *name, enum ndn_name_kind what,
				const struct ndn_name_parts *parts)
{
	enum ndn_err err = NDN_OK;

	if (what == NDN_IS_COLLECT || what == NDN_IS_GRADIENT || what == NDN_IS_MODEL ||
	    what == NDN_IS_NEWEST)
		err = ndn_name_append_number(name, TRIB_NDN_VERSION, parts->version);
	if (!err && (what == NDN_IS_GRADIENT || what == NDN_IS_MODEL))
		err = ndn_name_append_number(name, TRIB_NDN_SEGMENT, parts->segment);
	return err;
}

static enum ndn_err add_gpu(struct ndn_name_buf *name, const struct ndn_job_names *j,
			    const struct ndn_name_parts *parts)
{
	if (!parts->gpu.n || parts->gpu.n > NDN_GPU_MAX || is_marker(j, parts->gpu))
		return NDN_E_COMPONENT;
	return ndn_name_append(name, TRIB_NDN_GENERIC, parts->gpu.p, parts->gpu.n);
}

enum ndn_err ndn_job_name(struct ndn_name_buf *name, const struct ndn_job_names *j,
			  enum ndn_name_kind what, const struct ndn_name_parts *parts)
{
	struct ndn_name plain = ndn_name_of(&j->plain);
	enum ndn_err err = NDN_OK;

	switch (what) {
	case NDN_IS_OFFER:
	case NDN_IS_COLLECT:
	case NDN_IS_GRADIENT:
		name->len = 0;
		err = add_gpu(name, j, parts);
		if (!err)
			err = ndn_name_append_name(name, &plain);
		break;
	case NDN_IS_START:
		*name = j->plain;
		err = add_gpu(name, j, parts);
		break;
	case NDN_IS_INSERT:
		*name = j->insert;
		break;
	case NDN_IS_DELETE:
		*name = j->remove;
		break;
	case NDN_IS_ACK:
	case NDN_IS_MODEL:
		*name = j->distribute;
		break;
	case NDN_IS_ASK:
	case NDN_IS_NEWEST:
		*name = j->newest;
		break;
	default:
		return NDN_E_NO_NAME;
	}
	return err ? err : add_numbers(name, what, parts);
}

/* ---- telling apart ---- */

/* Is @name @prefix with @more components? */
static bool extends(const struct ndn_name *name, const struct ndn_name_buf *prefix,
		    unsigned int *more)
{
	struct ndn_name p = ndn_name_of(prefix);

	if (!ndn_name_is_prefix(&p, name))
		return false;
	*more = name->count - p.count;
	return true;
}

/* Read a number in shortest form. Another form is another name. */
static bool get_number(const struct ndn_name *name, unsigned int i, uint32_t type, uint64_t *number)
{
	size_t n;

	if (ndn_name_get_number(name, i, type, number))
		return false;
	n = *number > UINT32_MAX ? 8 : *number > UINT16_MAX ? 4 : *number > UINT8_MAX ? 2 : 1;
	return ndn_name_get(name, i).value.n == n;
}

static bool get_version(const struct ndn_name *name, unsigned int i, struct ndn_name_parts *parts)
{
	return get_number(name, i, TRIB_NDN_VERSION, &parts->version);
}

static bool get_segment(const struct ndn_name *name, unsigned int i, struct ndn_name_parts *parts)
{
	return get_number(name, i, TRIB_NDN_SEGMENT, &parts->segment);
}

static bool get_gpu(const struct ndn_job_names *j, const struct ndn_name *name, unsigned int i,
		    struct ndn_name_parts *parts)
{
	struct ndn_component c = ndn_name_get(name, i);

	if (c.type != TRIB_NDN_GENERIC || !c.value.n || c.value.n > NDN_GPU_MAX ||
	    is_marker(j, c.value))
		return false;
	parts->gpu = c.value;
	return true;
}

enum ndn_name_kind ndn_job_match_gpu(const struct ndn_job_names *j, const struct ndn_name *name,
				     struct ndn_name_parts *parts)
{
	struct ndn_name rest;
	unsigned int more, n;

	*parts = (struct ndn_name_parts){0};
	if (name->count < 2 || !get_gpu(j, name, 0, parts))
		return NDN_IS_OTHER;
	rest = ndn_name_slice(name, 1, name->count - 1U);
	if (!extends(&rest, &j->plain, &more))
		return NDN_IS_OTHER;
	n = name->count;
	if (!more)
		return NDN_IS_OFFER;
	if (more == 1 && get_version(name, n - 1, parts))
		return NDN_IS_COLLECT;
	if (more == 2 && get_version(name, n - 2, parts) && get_segment(name, n - 1, parts))
		return NDN_IS_GRADIENT;
	return NDN_IS_OTHER;
}

enum ndn_name_kind ndn_job_match_ps(const struct ndn_job_names *j, const struct ndn_name *name,
				    struct ndn_name_parts *parts)
{
	unsigned int more, n = name->count;

	*parts = (struct ndn_name_parts){0};
	if (extends(name, &j->insert, &more))
		return more ? NDN_IS_OTHER : NDN_IS_INSERT;
	if (extends(name, &j->remove, &more))
		return more ? NDN_IS_OTHER : NDN_IS_DELETE;
	if (extends(name, &j->distribute, &more)) {
		if (!more)
			return NDN_IS_ACK;
		return more == 2 && get_version(name, n - 2, parts) &&
				       get_segment(name, n - 1, parts)
			       ? NDN_IS_MODEL
			       : NDN_IS_OTHER;
	}
	if (extends(name, &j->newest, &more)) {
		if (!more)
			return NDN_IS_ASK;
		return more == 1 && get_version(name, n - 1, parts) ? NDN_IS_NEWEST : NDN_IS_OTHER;
	}
	if (extends(name, &j->plain, &more) && more == 1 && get_gpu(j, name, n - 1, parts))
		return NDN_IS_START;
	return NDN_IS_OTHER;
}

bool ndn_job_is_offer_to(const struct ndn_name *name, struct ndn_bytes gpu, struct ndn_name *job)
{
	struct ndn_component first;

	if (name->count < 2 || name->count > NDN_JOB_COMPONENTS + 1 || !is_all_generic(name))
		return false;
	first = ndn_name_get(name, 0);
	if (!is_component(&first, gpu))
		return false;
	*job = ndn_name_slice(name, 1, name->count - 1U);
	return true;
}
