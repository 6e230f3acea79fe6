/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parameter server, for several jobs; tests/sim/ndn/server.py is its model.
 * Pure: no sockets, files or clock. The caller passes packets and the time in and
 * gets packets out by struct nps_ops. Times are ns.
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
/* HopLimit of Interests. */
#define NPS_HOPS 32
/* Versions that are kept for fetching. */
#define NPS_KEPT 2
/* Window of Interests for segments of a gradient: smallest, first, largest. */
#define NPS_WINDOW_MIN 4
#define NPS_WINDOW_FIRST 16
#define NPS_WINDOW_MAX 512
/* Segments sent per call of nps_run(). */
#define NPS_BURST 64
/* Bytes of Ethernet, IP and UDP around a packet, for pacing. */
#define NPS_WIRE_HEAD 66
/* Idle time that pacing may use later. */
#define NPS_PACE_BURST (2 * NDN_MS)

/* Counters. Numbers are not reused. */
enum nps_count {
	NPS_COUNT_OFFER = 0,	    /* offers sent */
	NPS_COUNT_ACCEPT = 1,	    /* answers: accept */
	NPS_COUNT_BUSY = 2,	    /* answers: busy */
	NPS_COUNT_EXCLUDED = 3,	    /* members that are none any more */
	NPS_COUNT_START = 4,	    /* start contents sent */
	NPS_COUNT_INSERT = 5,	    /* subscriptions acknowledged */
	NPS_COUNT_DELETE = 6,	    /* unsubscriptions acknowledged */
	NPS_COUNT_NEWEST = 7,	    /* answers: which is the newest */
	NPS_COUNT_COLLECT = 8,	    /* Interests for gradients */
	NPS_COUNT_SEGMENT = 9,	    /* segments of gradients taken */
	NPS_COUNT_AGAIN = 10,	    /* gradients begun again: it is another one */
	NPS_COUNT_STALL = 11,	    /* times that no segment came for too long */
	NPS_COUNT_GRADIENT = 12,    /* gradients applied */
	NPS_COUNT_VERSION = 13,	    /* versions made */
	NPS_COUNT_PUBLISHED = 14,   /* of them, distributed */
	NPS_COUNT_DISTRIBUTE = 15,  /* segments distributed */
	NPS_COUNT_FETCH = 16,	    /* segments sent to those who asked */
	NPS_COUNT_FRESH = 17,	    /* of them, asked for past caches */
	NPS_COUNT_SAVE = 18,	    /* checkpoints written */
	NPS_COUNT_SAVE_FAILED = 19, /* not written */
	NPS_COUNT_SIGNED = 20,	    /* Data signed */
	NPS_COUNT_HELD = 21,	    /* values too large for binary32: the largest */
	NPS_COUNT__MAX = 22,
};

/* Reasons to drop a packet of a job. Numbers are not reused. */
enum nps_drop {
	NPS_DROP_STRANGER = 0,	/* worker not listed in the job */
	NPS_DROP_SIGNATURE = 1, /* signature wrong, or by another key */
	NPS_DROP_UNASKED = 2,	/* Data without a pending Interest */
	NPS_DROP_COPY = 3,	/* segment already received */
	NPS_DROP_CONTENT = 4,	/* malformed content */
	NPS_DROP_SHAPE = 5,	/* gradient of another size */
	NPS_DROP_BASE = 6,	/* gradient with an impossible base version */
	NPS_DROP_VERSION = 7,	/* Interest for a version that is not kept */
	NPS_DROP_SEGMENT = 8,	/* Interest for a segment beyond the last */
	NPS_DROP_PREFIX = 9,	/* Interest without CanBePrefix, which it needs */
	NPS_DROP_NAME = 10,	/* name of the job without a meaning for the PS */
	NPS_DROP_ENDED = 11,	/* the job is over */
	NPS_DROP_ENCODE = 12,	/* an answer that does not fit */
	NPS_DROP_FINITE = 13,	/* a gradient with NaN or infinity in it */
	NPS_DROP__MAX = 14,
};

/* Reasons to drop a packet that belongs to no job. */
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
 * struct nps_worker - a worker that may take part
 * @len:  bytes of @name.
 * @name: one component.
 * @key:  verifies its Data; NULL: the key of the job.
 */
struct nps_worker {
	uint8_t len;
	uint8_t name[NDN_GPU_MAX];
	const struct ndn_key *key;
};

/**
 * struct nps_spec - description of a job
 * @title:    name in logs.
 * @name:     P.
 * @markers:  of the network.
 * @mode, @elements, @segment, @lease_ms, @rto_ms, @tree_job: &ndn_start.
 * @versions: n of the last version.
 * @every:    versions between checkpoints.
 * @least:    fewest gradients for a synchronous version; 0 means 1.
 * @rate:     of distribution, bytes a second; 0: unlimited.
 * @lr:       step: w -= lr * m, where m = momentum * m + the mean gradient.
 * @momentum: 0: m is the mean gradient.
 * @key:      signs the Data of the PS.
 * @verify:   verifies Data of workers without a key of their own.
 * @workers:  @nworker of them. The caller keeps them and their keys while the job
 *            exists.
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
 * struct nps_model - a model, in memory and in checkpoints
 * @n:        number of the version within its incarnation.
 * @values:   @elements of the job.
 * @momentum: as many values; NULL: the job has no momentum.
 */
struct nps_model {
	uint32_t n;
	float *values;
	float *momentum;
};

/**
 * struct nps_ops - callbacks of the PS
 * @send:    send a packet to the forwarder; its bytes are valid during the call.
 * @save:    write incarnation and model to disk. Return: 0 or -errno.
 * @version: optional: a version was made of the gradients of the guests with @got.
 * @log:     optional: a line for the log.
 */
struct nps_ops {
	void (*send)(void *ctx, const void *pkt, size_t n);
	int (*save)(void *ctx, const struct nps_job *job);
	void (*version)(void *ctx, const struct nps_job *job);
	void (*log)(void *ctx, const struct nps_job *job, const char *line);
};

/**
 * struct nps_guest - a worker of the job, member or not
 * @member:   it takes part.
 * @got:      @values holds its gradient of version @asked, not applied yet.
 * @asking:   its gradient of version @asked is being collected.
 * @begun:    a segment of gradient @id on version @base has arrived.
 * @doubted:  its last Data had a wrong signature.
 * @heard:    when it last accepted an offer or sent a segment.
 * @offered:  end of the lifetime of the last offer.
 * @asked:    version last asked for; @taken: version last received.
 * @since:    when collecting @asked began.
 * @moved:    when it last sent a new segment of it.
 * @tries:    Interests since the last segment.
 * @have:     segments received, a bit each in @bits.
 * @cursor:   next segment to ask for in this round.
 * @fresh:    segments from here on were never asked for.
 * @flying:   Interests of this round that are pending.
 * @window:   limit of @flying, times 256.
 * @timed:    segment whose round trip is measured since @timed_at (0: none).
 * @offer:    next offer.
 * @ask:      next collect Interest.
 * @estimate: time from distribution to the complete gradient.
 * @rtt:      round trip of Interests for segments.
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
	uint64_t moved;
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
 * struct nps_kept - a distributed version
 * @version: 0: none.
 * @last:    last version of the job.
 * @values:  a copy.
 * @pkt:     segments as packets, &nps_job.room bytes each. A segment is encoded
 *           and signed when it is first needed.
 * @len:     bytes of each packet; 0: not encoded yet.
 */
struct nps_kept {
	uint64_t version;
	bool last;
	float *values;
	uint8_t *pkt;
	uint16_t *len;
};

/* A packet that is encoded once. */
struct nps_packet {
	size_t len;
	uint8_t buf[1024];
};

/**
 * struct nps_job - a running job
 * @names:    its names.
 * @lease, @rto: ns.
 * @segments: of a model and of a gradient.
 * @room:     largest packet of a segment, in bytes.
 * @incarnation: of this start of the PS.
 * @model:    newest version.
 * @over:     @model is the last version.
 * @busy:     version @kept[@now_out] is being distributed, @next is its next
 *            segment.
 * @held_said: clamped values have been logged.
 * @now_out:  index in @kept of the version distributed last.
 * @ended:    when the last version was distributed; 0: not yet.
 * @due:      earliest timer of a guest.
 * @guests:   ordered by name.
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

/* ---- for programs ---- */

/* Make a PS. @seed: for nonces. Return: NULL if out of memory. */
struct nps *nps_new(const struct nps_ops *ops, void *ctx, uint64_t seed);
void nps_free(struct nps *ps);
/*
 * Add a job that begins with @model. On success the job owns its values and
 * momentum. @incarnation must be on disk already and never used before.
 * Return: 0, or -EINVAL, -EEXIST, -ENOMEM, -E2BIG with a text in @why.
 */
int nps_add(struct nps *ps, const struct nps_spec *spec, uint32_t incarnation,
	    const struct nps_model *model, uint64_t now, char *why, size_t size);
void nps_rx(struct nps *ps, const uint8_t *pkt, size_t n, uint64_t now);
/* Handle expired timers and send. Return: when to call again at the latest. */
uint64_t nps_run(struct nps *ps, uint64_t now);
/* When the last job distributed its last version; 0: not yet. */
uint64_t nps_ended(const struct nps *ps);
/*
 * Make the next version of a synchronous job from @sum, the gradients of
 * @nworkers on @version that aggregation trees added up. Return: 0; -ESTALE: not
 * the version being trained on; -EINVAL: no workers, or an asynchronous job.
 */
int nps_gradient_sum(struct nps_job *job, uint64_t version, const float *sum,
		     unsigned int nworkers);
/*
 * The sum for @version is lost, and workers may have dropped their gradients:
 * publish the same model as the next version, so that all compute new ones.
 */
int nps_gradient_lost(struct nps_job *job, uint64_t version);
/*
 * Largest segment, in bytes of values, with which no packet of the job exceeds
 * @packet bytes; 0: none.
 */
uint32_t nps_segment_fitting(const struct nps_spec *spec, size_t packet);

/* Newest version, and the version distributed last. */
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

/* ps_kept.c: distributed versions. */
int nps_kept_init(struct nps_job *job);
void nps_kept_free(struct nps_job *job);
/* Replace the oldest kept version by the newest. */
void nps_kept_put(struct nps_job *job);
struct nps_kept *nps_kept_find(struct nps_job *job, uint64_t version);
/* Get segment @s as a packet. Return: NULL, counted, if it cannot be encoded. */
const uint8_t *nps_kept_segment(struct nps_job *job, struct nps_kept *k, uint32_t s, size_t *len);

/* ps_guest.c: membership. */
void nps_guest_offer(struct nps_guest *g);
/* Exclude a member; the log gets @why. */
void nps_guest_exclude(struct nps_guest *g, const char *why);
void nps_guest_answered(struct nps_guest *g, const struct ndn_data *d);
/* Verify a signature of the worker; logs the first failure in a row. */
bool nps_guest_signed(struct nps_guest *g, const struct ndn_data *d);

/* ps_collect.c: collecting gradients. */
void nps_collect_plan(struct nps_guest *g);
void nps_collect_ask(struct nps_guest *g);
void nps_collect_stop(struct nps_guest *g);
void nps_collect_take(struct nps_guest *g, const struct ndn_name_parts *parts,
		      const struct ndn_data *d);

/* ps_update.c: arithmetic. */
/* Apply the gradients of all guests with @got. */
void nps_update_guests(struct nps_job *job);
void nps_update_sum(struct nps_job *job, const float *sum, unsigned int n);

/* ps_packet.c: packets out. */
void nps_express(struct nps_job *job, enum ndn_name_kind what, const struct ndn_name_parts *parts,
		 uint64_t life, bool prefix, bool fresh);
/* Encode and sign a Data; @content may have 0 bytes. @segments: or NULL. */
enum ndn_err nps_data_make(struct nps_job *job, enum ndn_name_kind what,
			   const struct ndn_name_parts *parts, struct ndn_bytes content,
			   const uint32_t *segments, uint8_t *buf, size_t size, size_t *len);
/* Send a packet. @asked: the Interest that it answers, or NULL. */
void nps_send(struct nps *ps, const struct ndn_packet *asked, const uint8_t *pkt, size_t n);
/* Note that a timer of a guest was set. */
static inline void nps_due(struct nps_job *job, const struct ndn_timer *t)
{
	job->due = ndn_timer_sooner(t, job->due);
}

#endif /* TRIB_NDN_PS_H */
