/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs: what a request states, and the objects. */
#ifndef TRIBD_JOB_H
#define TRIBD_JOB_H

#include "base/addr.h"
#include "daemon/core/tribd.h"
#include "uapi/trib_auth.h"

struct job {
	TAILQ_ENTRY(job) link;
	char name[TRIB_NAME_MAX];
	uint16_t id;
	struct trib_key key;
	uint32_t world;
	uint32_t window;
	uint32_t owner;
	uint32_t timeout_ms;
	uint64_t rate;
	uint8_t fmt;	       /* enum trib_fmt: the format of sums of floats */
	struct in6_addr peers; /* where ranks meet that exchange without relays */
	uint16_t peers_port;   /* 0: nowhere */
	unsigned int ntrees;
};

struct job *job_find(struct tribd *d, const char *name);
struct job *job_find_id(struct tribd *d, uint16_t id);

/* A job as a request or the state file states it. */
struct job_spec {
	char name[TRIB_NAME_MAX];
	uint16_t id; /* 0: lowest free */
	bool has_key;
	struct trib_key key;
	uint32_t world;
	uint32_t window; /* 0: default */
	uint32_t owner;
	uint32_t timeout_ms; /* 0: default */
	uint64_t rate;
	uint8_t fmt; /* 0: default */
	struct in6_addr peers;
	uint16_t peers_port; /* 0: none */
};

/* Set @spec's meeting from its text, ADDR:PORT. 0 or -EINVAL. */
int job_spec_peers(struct job_spec *spec, const char *text, struct reason *why);
/* Check all but the module; fill in default values. 0 or -errno. */
int job_check(struct tribd *d, struct job_spec *spec, struct reason *why);
int job_new(struct tribd *d, struct job_spec *spec, struct reason *why);
/* Make the record of a job of the state file; nothing is saved. */
int job_restore(struct tribd *d, struct job_spec *spec, struct reason *why);
/* Set the rate for workers that attach from now on. */
int job_set_rate(struct tribd *d, const char *name, uint64_t rate, struct reason *why);
int job_del(struct tribd *d, const char *name, struct reason *why);
void job_free_all(struct tribd *d);
/* Log each job of floats if the module, which adds them up, is missing. */
void job_warn(struct tribd *d);

#endif /* TRIBD_JOB_H */
