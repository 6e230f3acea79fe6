// SPDX-License-Identifier: BSD-2-Clause
/*
 * Distributed versions: a copy of the values, and segments as packets that are
 * encoded and signed once, when first sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ps.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are sent in host byte order");

static enum ndn_err segment_make(struct nps_job *job, const struct nps_kept *k, uint32_t s,
				 uint8_t *buf, size_t size, size_t *len)
{
	const struct nps_spec *spec = &job->spec;
	struct ndn_model m = {.segments = job->segments, .last = k->last};
	struct ndn_name_parts parts = {.version = k->version, .segment = s};
	uint32_t n = ndn_content_segment_bytes(spec->elements, spec->segment, s);
	uint8_t content[NDN_HEADER_MAX + NDN_SEGMENT_MAX];
	size_t head = ndn_content_model_encode(content, &m);

	memcpy(content + head, (const uint8_t *)k->values + (uint64_t)s * spec->segment, n);
	return nps_data_make(job, NDN_IS_MODEL, &parts, (struct ndn_bytes){content, head + n},
			     &job->segments, buf, size, len);
}

/* Measure the longest packet: a full segment, the largest numbers. */
static int room_measure(struct nps_job *job)
{
	uint8_t content[NDN_HEADER_MAX + NDN_SEGMENT_MAX] = {0};
	struct ndn_name_parts parts = {.version = UINT64_MAX, .segment = job->segments - 1};
	struct ndn_bytes bytes = {content, sizeof(struct ndn_wire_model) + job->spec.segment};
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	size_t len;

	if (nps_data_make(job, NDN_IS_MODEL, &parts, bytes, &job->segments, buf, sizeof(buf), &len))
		return -EINVAL;
	job->room = (uint32_t)len;
	return 0;
}

uint64_t nps_version(const struct nps_job *job)
{
	return (uint64_t)job->incarnation << 32 | job->model.n;
}

struct nps_kept *nps_job_out(struct nps_job *job)
{
	return &job->kept[job->now_out];
}

uint64_t nps_published(const struct nps_job *job)
{
	return job->kept[job->now_out].version;
}

int nps_kept_init(struct nps_job *job)
{
	unsigned int i;

	if (room_measure(job))
		return -EINVAL;
	for (i = 0; i < NPS_KEPT; i++) {
		struct nps_kept *k = &job->kept[i];

		k->values = calloc(job->spec.elements, sizeof(*k->values));
		k->pkt = calloc(job->segments, job->room);
		k->len = calloc(job->segments, sizeof(*k->len));
		if (!k->values || !k->pkt || !k->len)
			return -ENOMEM;
	}
	return 0;
}

void nps_kept_free(struct nps_job *job)
{
	unsigned int i;

	for (i = 0; i < NPS_KEPT; i++) {
		free(job->kept[i].values);
		free(job->kept[i].pkt);
		free(job->kept[i].len);
	}
}

void nps_kept_put(struct nps_job *job)
{
	struct nps_kept *k;

	job->now_out = (job->now_out + 1) % NPS_KEPT;
	k = &job->kept[job->now_out];
	k->version = nps_version(job);
	k->last = job->over;
	memcpy(k->values, job->model.values, job->spec.elements * sizeof(*k->values));
	memset(k->len, 0, job->segments * sizeof(*k->len));
	job->newest.len = 0;
}

struct nps_kept *nps_kept_find(struct nps_job *job, uint64_t version)
{
	unsigned int i;

	for (i = 0; i < NPS_KEPT; i++)
		if (version && job->kept[i].version == version)
			return &job->kept[i];
	return NULL;
}

const uint8_t *nps_kept_segment(struct nps_job *job, struct nps_kept *k, uint32_t s, size_t *len)
{
	uint8_t *pkt = k->pkt + (size_t)s * job->room;

	if (!k->len[s]) {
		if (segment_make(job, k, s, pkt, job->room, len)) {
			job->drop[NPS_DROP_ENCODE]++;
			return NULL;
		}
		k->len[s] = (uint16_t)*len;
	}
	*len = k->len[s];
	return pkt;
}
