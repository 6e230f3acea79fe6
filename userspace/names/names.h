/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the protocol, as tests/sim/names/README.md has them. P is the
 * name of a job, /<ps>/<job>; a worker's name is one component, and no marker.
 */
#ifndef TRIB_NAMES_NAMES_H
#define TRIB_NAMES_NAMES_H

#include "userspace/ndn/ndn.h"

/* After P, in a name that asks for the number of the newest version. */
#define NAMES_WORD_NEWEST "newest"
/* P has this many components at most. */
#define NAMES_JOB_COMPONENTS 8
/* Bytes of a marker's, and of a worker's, component at most. */
#define NAMES_MARKER_MAX 30
#define NAMES_GPU_MAX 48

/* Markers, each the value of a GenericNameComponent. */
struct names_markers {
	const char *insert;
	const char *distribute;
	const char *remove;
};

/* TRIB_NDN_MARK_... */
extern const struct names_markers names_markers_default;

/**
 * enum names_what - what a name is
 * @NAMES_IS_OTHER:    nothing of this job.
 * @NAMES_IS_OFFER:    /<gpu>/P
 * @NAMES_IS_COLLECT:  /<gpu>/P/v
 * @NAMES_IS_GRADIENT: /<gpu>/P/v/s
 * @NAMES_IS_START:    /P/<gpu>
 * @NAMES_IS_INSERT:   /insert/P
 * @NAMES_IS_DELETE:   /delete/P
 * @NAMES_IS_ACK:      /distribute/P
 * @NAMES_IS_MODEL:    /distribute/P/v/s
 * @NAMES_IS_ASK:      /P/32=newest
 * @NAMES_IS_NEWEST:   /P/32=newest/v
 *
 * The first three are the worker's names, the others the PS's: Interests for
 * them go to, and Data of them come from, that one.
 */
enum names_what {
	NAMES_IS_OTHER = 0,
	NAMES_IS_OFFER,
	NAMES_IS_COLLECT,
	NAMES_IS_GRADIENT,
	NAMES_IS_START,
	NAMES_IS_INSERT,
	NAMES_IS_DELETE,
	NAMES_IS_ACK,
	NAMES_IS_MODEL,
	NAMES_IS_ASK,
	NAMES_IS_NEWEST,
};

/**
 * struct names_parts - what is in a name
 * @gpu:     the worker's component; no bytes: there is none. When read from a
 *           name it points into that name's buffer.
 * @version: v, if there is one.
 * @segment: s, if there is one.
 */
struct names_parts {
	struct ndn_bytes gpu;
	uint64_t version;
	uint64_t segment;
};

/* The names that begin those of a job: with each marker, and without. */
struct names_job {
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
enum ndn_err names_job_init(struct names_job *j, const struct ndn_name *job,
			    const struct names_markers *markers);
/* @parts has what @what needs. */
enum ndn_err names_make(struct ndn_name_buf *name, const struct names_job *j,
			enum names_what what, const struct names_parts *parts);
/* One of the worker's names of this job, whoever the worker is. */
enum names_what names_match_gpu(const struct names_job *j,
				const struct ndn_name *name,
				struct names_parts *parts);
/* One of the PS's names of this job. */
enum names_what names_match_ps(const struct names_job *j,
			       const struct ndn_name *name,
			       struct names_parts *parts);
/*
 * Whether a name may be /<gpu>/P for this worker and some job; then @job is P,
 * in @name's buffer.
 */
bool names_is_offer_to(const struct ndn_name *name, struct ndn_bytes gpu,
		       struct ndn_name *job);

#endif /* TRIB_NAMES_NAMES_H */
