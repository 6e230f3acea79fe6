/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PS: tests/sim/ndn/server.py, for several jobs. Everything declared here
 * is pure: no sockets, no files, no clock. Packets come in by nps_rx(), time by
 * its argument, and what goes out goes through struct nps_ops. Times are ns.
 */
#ifndef TRIB_NDN_PS_H
#define TRIB_NDN_PS_H

#include "ndn/app/content.h"
#include "ndn/app/endpoint.h"
#include "ndn/app/job_names.h"
#include "pace.h"

#define NPS_JOBS_MAX 64
#define NPS_WORKERS_MAX 1024
#define NPS_TITLE_MAX 63
/* HopLimit of our Interests. */
#define NPS_HOPS 32
/* Versions that are kept for those who fetch. */
#define NPS_KEPT 2
/* Interests for segments of one gradient that are under way: at first, at most. */
#define NPS_WINDOW_MIN 4
#define NPS_WINDOW_FIRST 16
#define NPS_WINDOW_MAX 512
/* Segments sent in one call; then others have their turn. */
#define NPS_BURST 64
/* What Ethernet, IP and UDP put around a packet, for pacing. */
#define NPS_WIRE_HEAD 66
/* How much sleep pacing makes up for. */
#define NPS_PACE_BURST (2 * NDN_MS)

/* What was done. Numbers are not reused. */
enum nps_count {
	NPS_COUNT_OFFER = 0,	  /* offers sent */
	NPS_COUNT_ACCEPT = 1,	  /* answers: accept */
	NPS_COUNT_BUSY = 2,	  /* answers: busy */
	NPS_COUNT_EXCLUDED = 3,	  /* members that are none any more */
	NPS_COUNT_START = 4,	  /* start contents sent */
	NPS_COUNT_INSERT = 5,	  /* subscriptions acknowledged */
	NPS_COUNT_DELETE = 6,	  /* unsubscriptions acknowledged */
	NPS_COUNT_NEWEST = 7,	  /* answers: which is the newest */
	NPS_COUNT_COLLECT = 8,	  /* Interests for gradients */
	NPS_COUNT_SEGMENT = 9,	  /* segments of gradients taken */
	NPS_COUNT_AGAIN = 10,	  /* gradients begun again: it is another one */
	NPS_COUNT_STALL = 11,	  /* times that no segment came for too long */
	NPS_COUNT_GRADIENT = 12,  /* gradients applied */
	NPS_COUNT_VERSION = 13,	  /* versions made */
	NPS_COUNT_PUBLISHED = 14, /* of them, distributed */
	NPS_COUNT_DISTRIBUTE = 15,  /* segments distributed */
	NPS_COUNT_FETCH = 16,	    /* segments sent to those who asked */
	NPS_COUNT_FRESH = 17,	    /* of them, asked for past caches */
	NPS_COUNT_SAVE = 18,	    /* checkpoints written */
	NPS_COUNT_SAVE_FAILED = 19, /* not written */
	NPS_COUNT_SIGNED = 20,	    /* Data signed */
	NPS_COUNT_HELD = 21, /* values too large for binary32: the largest */
	NPS_COUNT__MAX = 22,
};

/* Why a packet of a job was dropped. Numbers are not reused. */
enum nps_drop {
	NPS_DROP_STRANGER = 0,	/* of a worker that is not the job's */
	NPS_DROP_SIGNATURE = 1, /* not of the worker's key, or wrong */
	NPS_DROP_UNASKED = 2,	/* an answer to nothing that is being asked */
	NPS_DROP_COPY = 3,	/* of a segment that is there */
	NPS_DROP_CONTENT = 4,	/* not what it should carry */
	NPS_DROP_SHAPE = 5,	/* a gradient of another size */
	NPS_DROP_BASE = 6,    /* a gradient of a version that it cannot be of */
	NPS_DROP_VERSION = 7, /* an Interest for a version that is not kept */
	NPS_DROP_SEGMENT = 8, /* ... or for a segment that it does not have */
	NPS_DROP_PREFIX = 9,  /* an Interest that its answer would not match */
	NPS_DROP_NAME = 10,   /* a name of the job that the PS has no use for */
	NPS_DROP_ENDED = 11,  /* the job is over */
	NPS_DROP_ENCODE = 12, /* an answer that does not fit */
	NPS_DROP_FINITE = 13, /* a gradient with NaN or infinity in it */
	NPS_DROP__MAX = 14,
};

/* Why a packet was dropped before it was some job's. */
enum nps_stray {
	NPS_STRAY_PACKET = 0, /* no NDN packet */
	NPS_STRAY_NACK = 1,   /* an Interest of ours that came back */
	NPS_STRAY_NAME = 2,   /* of no job here */
	NPS_STRAY__MAX = 3,
};

extern const char *const nps_count_name[NPS_COUNT__MAX];
extern const char *const nps_drop_name[NPS_DROP__MAX];
extern const char *const nps_stray_name[NPS_STRAY__MAX];

struct nps;
struct nps_job;

/**
 * struct nps_worker - who may take part
 * @name: a component.
 * @key:  verifies its Data; NULL: that of the job.
 */
struct nps_worker {
	uint8_t len;
	uint8_t name[NDN_GPU_MAX];
	const struct ndn_key *key;
};

/**
 * struct nps_spec - a job
 * @title:    for people.
 * @name:     P.
 * @markers:  of the network.
 * @mode, @elements, @segment, @lease_ms, @rto_ms, @tree_job: &ndn_start.
 * @versions: n of the last version.
 * @every:    versions between checkpoints.
 * @least:    gradients that a synchronous version has at least; 0 is 1.
 * @rate:     of distribution, bytes a second; 0: as fast as it goes.
 * @lr:       step: w -= lr * m, where m = momentum * m + the mean gradient.
 * @momentum: 0: m is the mean gradient.
 * @key:      signs our Data.
 * @verify:   verifies that of workers without a key of their own.
 * @workers:  @nworker of them. With their keys they outlive the job.
 */
struct nps_spec {
	char title[NPS_TITLE_MAX + 1];
	struct ndn_name_buf name;
	struct ndn_markers markers;
	enum ndn_mode mode;
	uint64_t elements;
	uint32_t segment;
	uint32_t lease_ms;
	uint32_t rto_ms;
	uint32_t tree_job;
	uint32_t versions;
	uint32_t every;
	uint32_t least;
	uint64_t rate;
	float lr;
	float momentum;
	const struct ndn_key *key;
	const struct ndn_key *verify;
	const struct nps_worker *workers;
	unsigned int nworker;
};

/**
 * struct nps_model - a model as it is trained on and kept on disk
 * @n:        number of the version, within its incarnation.
 * @values:   @elements of the job.
 * @momentum: as many; NULL: the job has none.
 */
struct nps_model {
	uint32_t n;
	float *values;
	float *momentum;
};

/**
 * struct nps_ops - the world
 * @send:    a packet to the forwarder; the bytes are valid during the call.
 * @save:    the job's incarnation and model, on disk when it returns: 0 or -errno.
 * @version: optional: a version was made, of the gradients of those guests whose
 *           @got is set.
 * @log:     optional: a line for people.
 */
struct nps_ops {
	void (*send)(void *ctx, const void *pkt, size_t n);
	int (*save)(void *ctx, const struct nps_job *job);
	void (*version)(void *ctx, const struct nps_job *job);
	void (*log)(void *ctx, const struct nps_job *job, const char *line);
};

/**
 * struct nps_guest - a worker that the job may use
 * @member:   it takes part.
 * @got:      @values is its gradient of version @asked, not applied yet.
 * @asking:   it is being asked for version @asked.
 * @begun:    a segment of gradient @id, of base @base, is there.
 * @doubted:  what came last under its name has a wrong signature.
 * @heard:    when it last said that it takes part.
 * @offered:  until when an answer to an offer may come.
 * @asked:    version last asked for; @taken: last taken.
 * @since:    when @asked became what to ask for.
 * @tries:    questions since something came.
 * @have:     segments there: bits in @bits.
 * @cursor:   the next segment that was not asked for in this round.
 * @fresh:    segments from here on were never asked for.
 * @flying:   segments asked for, and not there, in this round.
 * @window:   how many of these there may be, times 256.
 * @rtt:      of Interests for segments; @timed is measured, since @timed_at, 0: none.
 */
struct nps_guest {
	const struct nps_worker *worker;
	struct nps_job *job;
	bool member;
	bool got;
	bool asking;
	bool begun;
	bool doubted;
	uint64_t heard;
	uint64_t offered;
	uint64_t asked;
	uint64_t taken;
	uint64_t since;
	uint64_t id;
	uint64_t base;
	unsigned int tries;
	uint32_t have;
	uint32_t cursor;
	uint32_t fresh;
	uint32_t flying;
	uint32_t window;
	uint32_t timed;
	uint64_t timed_at;
	struct ndn_timer offer;
	struct ndn_timer ask;
	struct ndn_estimate estimate;
	struct ndn_estimate rtt;
	uint64_t *bits;
	float *values;
};

/**
 * struct nps_kept - a version that was distributed, or is being
 * @version: 0: there is none.
 * @values:  as they were.
 * @pkt:     its segments as packets, @room bytes apart in @pkt; made and signed
 *           once, when first needed: until then their @len is 0.
 */
struct nps_kept {
	uint64_t version;
	bool last;
	float *values;
	uint8_t *pkt;
	uint16_t *len;
};

/* A packet that is made once. */
struct nps_packet {
	size_t len;
	uint8_t buf[1024];
};

/**
 * struct nps_job - a job
 * @names:    of it.
 * @segments: of a model, and of a gradient.
 * @room:     bytes of a segment's packet.
 * @incarnation: of this start.
 * @model:    newest.
 * @over:     @model is the last version.
 * @now_out:  index in @kept of what is, or was last, distributed.
 * @busy:     it is being distributed, @next is its next segment.
 * @ended:    when the last version was through; 0: it is not.
 * @held_said: the log has that values were held.
 * @due:      no timer of a guest is due before.
 * @guests:   by name.
 */
struct nps_job {
	struct nps *ps;
	struct nps_spec spec;
	struct ndn_job_names names;
	uint64_t lease;
	uint64_t rto;
	uint32_t segments;
	uint32_t room;
	uint32_t incarnation;
	struct nps_model model;
	bool over;
	bool busy;
	bool held_said;
	unsigned int now_out;
	uint32_t next;
	uint64_t ended;
	uint64_t due;
	struct ndn_pace pace;
	struct nps_kept kept[NPS_KEPT];
	struct nps_packet ack;
	struct nps_packet deleted;
	struct nps_packet newest;
	struct nps_guest *guests;
	uint64_t count[NPS_COUNT__MAX];
	uint64_t drop[NPS_DROP__MAX];
};

struct nps {
	const struct nps_ops *ops;
	void *ctx;
	uint64_t now;
	struct ndn_random random;
	unsigned int njob;
	struct nps_job *job[NPS_JOBS_MAX];
	uint64_t stray[NPS_STRAY__MAX];
	uint8_t out[TRIB_NDN_PACKET_MAX];
};

/* ---- what a program calls ---- */

/* NULL: out of memory. @seed: of nonces. */
struct nps *nps_new(const struct nps_ops *ops, void *ctx, uint64_t seed);
void nps_free(struct nps *ps);
/*
 * Adds a job, which begins with @model: its n, its values and, if the spec has
 * momentum, that; they are the job's from now on, and freed with it, but not if
 * the job is refused. @incarnation is on disk by now and was never used before.
 * -EINVAL, -EEXIST, -ENOMEM, -E2BIG: with @why in words.
 */
int nps_add(struct nps *ps, const struct nps_spec *spec, uint32_t incarnation,
	    const struct nps_model *model, uint64_t now, char *why,
	    size_t size);
void nps_rx(struct nps *ps, const uint8_t *pkt, size_t n, uint64_t now);
/* What is due; returns when to come again, at the latest. */
uint64_t nps_run(struct nps *ps, uint64_t now);
/* When the last version of the last job was through; 0: not yet. */
uint64_t nps_ended(const struct nps *ps);
/*
 * The sum of the gradients on @version of @nworkers, added up on the way (by
 * aggregation trees): the next version of a synchronous job. -ESTALE: it is not
 * of the version that gradients are wanted for; -EINVAL: nobody's, or the job is
 * asynchronous.
 */
int nps_gradient_sum(struct nps_job *job, uint64_t version, const float *sum,
		     unsigned int nworkers);
/*
 * The sum for @version is lost, and workers may have forgotten what they gave:
 * the next version is the same model, so that all of them give anew.
 */
int nps_gradient_lost(struct nps_job *job, uint64_t version);
/*
 * Bytes of values that segments of this job may have, so that no packet of it is
 * longer than @packet; 0: none fits.
 */
uint32_t nps_segment_fitting(const struct nps_spec *spec, size_t packet);

/* Of the newest version, and of the one that is distributed. */
uint64_t nps_version(const struct nps_job *job);
uint64_t nps_published(const struct nps_job *job);
unsigned int nps_members(const struct nps_job *job);

/* ---- between the files ---- */

/* ps_job.c: versions. */
void nps_job_start(struct nps_job *job);
void nps_job_complete(struct nps_job *job);
void nps_job_distribute(struct nps_job *job);
struct nps_kept *nps_job_out(struct nps_job *job);
void nps_job_log(const struct nps_job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ps_kept.c: what is kept and made once. */
int nps_kept_init(struct nps_job *job);
void nps_kept_free(struct nps_job *job);
/* The job's newest version takes the place of the oldest kept one. */
void nps_kept_put(struct nps_job *job);
struct nps_kept *nps_kept_find(struct nps_job *job, uint64_t version);
/* Segment @s as a packet; NULL, counted: it cannot be made. */
const uint8_t *nps_kept_segment(struct nps_job *job, struct nps_kept *k,
				uint32_t s, size_t *len);

/* ps_guest.c: who takes part. */
void nps_guest_offer(struct nps_guest *g);
/* It is no member any more, and the log says @why. */
void nps_guest_exclude(struct nps_guest *g, const char *why);
void nps_guest_answered(struct nps_guest *g, const struct ndn_data *d);
/* Whether it is signed by the worker; the log says when that changes to no. */
bool nps_guest_signed(struct nps_guest *g, const struct ndn_data *d);

/* ps_collect.c: asking for gradients. */
void nps_collect_plan(struct nps_guest *g);
void nps_collect_ask(struct nps_guest *g);
void nps_collect_stop(struct nps_guest *g);
void nps_collect_take(struct nps_guest *g, const struct ndn_name_parts *parts,
		      const struct ndn_data *d);

/* ps_update.c: arithmetic. */
/* Applies the gradients of all guests that have @got. */
void nps_update_guests(struct nps_job *job);
void nps_update_sum(struct nps_job *job, const float *sum, unsigned int n);

/* ps_packet.c: packets out. */
void nps_express(struct nps_job *job, enum ndn_name_kind what,
		 const struct ndn_name_parts *parts, uint64_t life, bool prefix,
		 bool fresh);
/* A Data of ours; no bytes at @content: an empty one. 0, or it does not fit. */
enum ndn_err nps_data_make(struct nps_job *job, enum ndn_name_kind what,
			   const struct ndn_name_parts *parts,
			   struct ndn_bytes content, const uint32_t *segments,
			   uint8_t *buf, size_t size, size_t *len);
/* @asked: what it answers, or NULL. */
void nps_send(struct nps *ps, const struct ndn_packet *asked,
	      const uint8_t *pkt, size_t n);
/* A guest's timer was set. */
static inline void nps_due(struct nps_job *job, const struct ndn_timer *t)
{
	job->due = ndn_timer_sooner(t, job->due);
}

#endif /* TRIB_NDN_PS_H */
