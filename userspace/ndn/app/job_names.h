/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the protocol, as tests/sim/ndn/README.md has them. P is the
 * name of a job, /<ps>/<job>; a worker's name is one component, and no marker.
 */
#ifndef TRIB_NDN_JOB_NAMES_H
#define TRIB_NDN_JOB_NAMES_H

#include "ndn/packet/ndn.h"

/* After P, in a name that asks for the number of the newest version. */
#define NDN_WORD_NEWEST "newest"
/* P has this many components at most. */
#define NDN_JOB_COMPONENTS 8
/* Bytes of a marker's, and of a worker's, component at most. */
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
 * enum ndn_name_kind - what a name is
 * @NDN_IS_OTHER:    nothing of this job.
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
 * The first three are the worker's names, the others the PS's: Interests for
 * them go to, and Data of them come from, that one.
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
 * struct ndn_name_parts - what is in a name
 * @gpu:     the worker's component; no bytes: there is none. When read from a
 *           name it points into that name's buffer.
 * @version: v, if there is one.
 * @segment: s, if there is one.
 */
struct ndn_name_parts {
	struct ndn_bytes gpu;
	uint64_t version;
	uint64_t segment;
};

/* The names that begin those of a job: with each marker, and without. */
struct ndn_job_names {
	struct ndn_name_buf plain;
	struct ndn_name_buf insert;
	struct ndn_name_buf distribute;
	struct ndn_name_buf remove;
	struct ndn_name_buf newest;
};

/*
 * @job: P: generic components only, the first of which is no marker.
 * @markers: NULL: the default ones. Refused: NDN_E_NAME_... of what is wrong, of
 * markers too; then there is also no room for a worker's longest name.
 */
enum ndn_err ndn_job_names_init(struct ndn_job_names *j,
				const struct ndn_name *job,
				const struct ndn_markers *markers);
/* @parts has what @what needs. */
enum ndn_err ndn_job_name(struct ndn_name_buf *name,
			  const struct ndn_job_names *j,
			  enum ndn_name_kind what,
			  const struct ndn_name_parts *parts);
/* One of the worker's names of this job, whoever the worker is. */
enum ndn_name_kind ndn_job_match_gpu(const struct ndn_job_names *j,
				     const struct ndn_name *name,
				     struct ndn_name_parts *parts);
/* One of the PS's names of this job. */
enum ndn_name_kind ndn_job_match_ps(const struct ndn_job_names *j,
				    const struct ndn_name *name,
				    struct ndn_name_parts *parts);
/*
 * Whether a name may be /<gpu>/P for this worker and some job; then @job is P,
 * in @name's buffer.
 */
bool ndn_job_is_offer_to(const struct ndn_name *name, struct ndn_bytes gpu,
			 struct ndn_name *job);

#endif /* TRIB_NDN_JOB_NAMES_H */
