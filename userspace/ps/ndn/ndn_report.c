// SPDX-License-Identifier: BSD-2-Clause
/* Counters of trib-ps ndn, those of refusals included, as one JSON object. */
#include "ndn_report.h"
#include "base/json_write.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void add(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *worker_pack(const struct nps_guest *g, uint64_t now)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_stringn((const char *)g->worker->name, g->worker->len));
	json_object_set_new(o, "member", json_boolean(g->member));
	json_object_set_new(o, "asking", json_boolean(g->asking));
	add(o, "silent-ms", (now - g->heard) / NDN_MS);
	add(o, "taken", g->taken & UINT32_MAX);
	add(o, "segments", g->begun ? g->have : 0);
	/* Estimate of the time from a version to its whole gradient. */
	add(o, "mean-ms", g->estimate.mean / NDN_MS);
	add(o, "deviation-ms", g->estimate.dev / NDN_MS);
	return o;
}

static json_t *job_pack(const struct nps_job *job)
{
	json_t *o = json_object(), *list = json_array();
	unsigned int i;

	json_object_set_new(o, "name", json_string(job->spec.title));
	json_object_set_new(o, "mode",
			    json_string(job->spec.mode == NDN_MODE_SYNC ? "sync" : "async"));
	add(o, "incarnation", job->incarnation);
	add(o, "model", job->model.n);
	add(o, "distributed", nps_published(job) & UINT32_MAX);
	add(o, "versions", job->spec.versions);
	add(o, "segments", job->segments);
	add(o, "segment", job->spec.segment);
	add(o, "members", nps_members(job));
	json_object_set_new(o, "over", json_boolean(job->ended));
	for (i = 0; i < NPS_COUNT__MAX; i++)
		add(o, nps_count_name[i], job->count[i]);
	for (i = 0; i < NPS_DROP__MAX; i++)
		add(o, nps_drop_name[i], job->drop[i]);
	for (i = 0; i < job->spec.nworker; i++)
		json_array_append_new(list, worker_pack(&job->guests[i], job->ps->now));
	json_object_set_new(o, "workers", list);
	return o;
}

static json_t *link_pack(const struct ndn_socket *link)
{
	const struct ndn_socket_stats s = ndn_socket_stats(link);
	json_t *o = json_object();

	add(o, "rx-packets", s.rx_packets);
	add(o, "rx-bytes", s.rx_bytes);
	add(o, "rx-long", s.rx_long);
	add(o, "rx-lost", s.rx_lost);
	add(o, "tx-packets", s.tx_packets);
	add(o, "tx-bytes", s.tx_bytes);
	add(o, "tx-full", s.tx_full);
	add(o, "tx-error", s.tx_error);
	json_object_set_new(o, "tx-error-text",
			    json_string(s.tx_errno ? strerror(s.tx_errno) : ""));
	return o;
}

int ps_ndn_report(const struct nps *ps, const struct ndn_socket *link, const char *path)
{
	json_t *doc = json_object(), *jobs = json_array();
	json_t *strays = json_object();
	unsigned int i;
	int err = 0;

	for (i = 0; i < ps->njob; i++)
		json_array_append_new(jobs, job_pack(ps->job[i]));
	for (i = 0; i < NPS_STRAY__MAX; i++)
		add(strays, nps_stray_name[i], ps->stray[i]);
	json_object_set_new(doc, "link", link_pack(link));
	json_object_set_new(doc, "strays", strays);
	json_object_set_new(doc, "jobs", jobs);
	if (path)
		err = json_write(AT_FDCWD, path, 0666, doc, false);
	else if (json_dumpf(doc, stderr, JSON_COMPACT) || fputc('\n', stderr) == EOF)
		err = -EIO;
	json_decref(doc);
	return err;
}
