/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the protocol in tests/sim/ndn/README.md. P is the name of a job,
 * /<ps>/<job>. The name of a worker is one component that is no marker.
 */
#ifndef TRIB_NDN_JOB_NAMES_H
#define TRIB_NDN_JOB_NAMES_H

#include "ndn/packet/ndn.h"

/* Keyword after P in names that ask for the newest version. */
#define NDN_WORD_NEWEST "newest"
/* Components of P at most. */
#define NDN_JOB_COMPONENTS 8
/* Bytes of a marker and of a worker's name at most. */
#define NDN_MARKER_MAX 30
#define NDN_GPU_MAX 48

/* Markers, each the value of a GenericNameComponent. */
struct ndn_markers {
	const char *insert;
	const char *distribute;
	const char *remove;
};

/* TRIB_NDN_MARK_... */
extern const struct ndn_markers ndn_markers_default;

/**
 * enum ndn_name_kind - kinds of names of a job
 * @NDN_IS_OTHER:    no name of this job.
 * @NDN_IS_OFFER:    /<gpu>/P
 * @NDN_IS_COLLECT:  /<gpu>/P/v
 * @NDN_IS_GRADIENT: /<gpu>/P/v/s
 * @NDN_IS_START:    /P/<gpu>
 * @NDN_IS_INSERT:   /insert/P
 * @NDN_IS_DELETE:   /delete/P
 * @NDN_IS_ACK:      /distribute/P
 * @NDN_IS_MODEL:    /distribute/P/v/s
 * @NDN_IS_ASK:      /P/32=newest
 * @NDN_IS_NEWEST:   /P/32=newest/v
 *
 * OFFER, COLLECT and GRADIENT are names of the worker, the others of the PS: that
 * side receives their Interests and sends their Data.
 */
enum ndn_name_kind {
	NDN_IS_OTHER = 0,
	NDN_IS_OFFER,
	NDN_IS_COLLECT,
	NDN_IS_GRADIENT,
	NDN_IS_START,
	NDN_IS_INSERT,
	NDN_IS_DELETE,
	NDN_IS_ACK,
	NDN_IS_MODEL,
	NDN_IS_ASK,
	NDN_IS_NEWEST,
};

/**
 * struct ndn_name_parts - variable parts of a name
 * @gpu:     name of the worker, borrowed from the parsed name; 0 bytes: none.
 * @version: v, or 0.
 * @segment: s, or 0.
 */
struct ndn_name_parts {
	struct ndn_bytes gpu;
	uint64_t version;
	uint64_t segment;
};

/* Prefixes of the names of a job: P, P behind each marker, and P/32=newest. */
struct ndn_job_names {
	struct ndn_name_buf plain;
	struct ndn_name_buf insert;
	struct ndn_name_buf distribute;
	struct ndn_name_buf remove;
	struct ndn_name_buf newest;
};

/*
 * Make the prefixes of job P = @job, which consists of generic components and
 * does not begin with a marker. @markers: NULL for the defaults. Fails if P is so
 * long that a name of the job could exceed the limits.
 */
enum ndn_err ndn_job_names_init(struct ndn_job_names *j, const struct ndn_name *job,
				const struct ndn_markers *markers);
/* Make a name of kind @what; @parts must have the parts that it needs. */
enum ndn_err ndn_job_name(struct ndn_name_buf *name, const struct ndn_job_names *j,
			  enum ndn_name_kind what, const struct ndn_name_parts *parts);
/* Parse a name of any worker in this job. */
enum ndn_name_kind ndn_job_match_gpu(const struct ndn_job_names *j, const struct ndn_name *name,
				     struct ndn_name_parts *parts);
/* Parse a name of the PS in this job. */
enum ndn_name_kind ndn_job_match_ps(const struct ndn_job_names *j, const struct ndn_name *name,
				    struct ndn_name_parts *parts);
/* Is it /<gpu>/P for this worker and any job? @job: P, borrowed from @name. */
bool ndn_job_is_offer_to(const struct ndn_name *name, struct ndn_bytes gpu, struct ndn_name *job);

#endif /* TRIB_NDN_JOB_NAMES_H */
