/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port over memory that two processes of one machine share, from inside. shm.c has
 * its operations, shm_link.c what the other end wrote, shm_meet.c how two ends meet.
 *
 *	/dev/shm/trib-NAME-RANK: a socket, mode 0600, while ranks are to come
 *	higher rank ---- token, memory, eventfd ---> lower rank
 *	            <--- eventfd -------------------
 *
 *	memory of a link: | side 0 | side 1 | slots to 1 | slots to 0 |
 *
 * The sockets stay: one that ends is a process that ended. Each side is written by one
 * end and hostile to the other.
 */
#ifndef PEER_SHM_H
#define PEER_SHM_H

#include <stdatomic.h>
#include <sys/types.h>

#include "peer/net/fault.h"
#include "peer/net/flow.h"
#include "peer/net/port.h"

#define SHM_MAGIC 0x31534254U /* "TBS1" */
#define SHM_TOKEN 16
#define SHM_NOTES 4
#define SHM_PENDING 16 /* connections that have not said who they are */
#define SHM_NAME_MAX 64

/** struct shm_blob - what peers must know of a port */
struct shm_blob {
	uint32_t magic;
	uint32_t rank;
	uint64_t chunk;
	uint32_t slots;
	uint32_t zero;
	uint8_t token[SHM_TOKEN];
};

/** struct shm_hello - first message of either end of a socket */
struct shm_hello {
	uint32_t magic;
	uint32_t rank;
	uint8_t token[SHM_TOKEN];
};

/**
 * enum shm_kind - kinds of chunks
 * @SHM_STAGED: in the next slot.
 * @SHM_DIRECT: in its place already.
 * @SHM_COPY:   in the next slot; its receiver puts it into its place.
 */
enum shm_kind { SHM_STAGED = 1, SHM_DIRECT = 2, SHM_COPY = 3 };

/** struct shm_desc - a chunk; @off and @nth, the announcement, are of SHM_COPY */
struct shm_desc {
	uint32_t kind;
	uint32_t len;
	uint32_t nth;
	uint32_t zero;
	uint64_t off;
};

struct shm_note {
	uint64_t addr;
	uint64_t len;
};

/**
 * struct shm_side - all that one end tells the other
 * @head:   chunks issued. @notes_head: announcements made.
 * @tail:   chunks of the other end that were given back.
 * @closed: this end has closed.
 * @asleep: this end waits for its descriptor; whoever clears it writes there.
 */
struct shm_side {
	_Atomic uint32_t head;
	_Atomic uint32_t notes_head;
	_Atomic uint32_t closed;
	_Alignas(64) _Atomic uint32_t tail;
	_Alignas(64) _Atomic uint32_t asleep;
	_Alignas(64) struct shm_note notes[SHM_NOTES];
	struct shm_desc desc[PEER_FLOW_WINDOW];
};

/**
 * struct shm_link - the way to one peer
 * @known: connect() took its blob. @up: both ends share memory.
 * @sock:  or -1. @kick: the peer's eventfd, or -1. @pid: the peer's, or 0: not visible.
 * @no_vm: the kernel does not let us write to its memory.
 * @token: from its blob.
 * @seen:  chunks of the peer that were taken from its side. @slots_seen: in slots.
 * @placed: bit of each chunk: it was put into its place.
 * @notes: announcements made; @note: the last. @heard, @target: those of the peer.
 */
struct shm_link {
	uint32_t rank;
	bool known, up, no_vm;
	int sock, kick;
	pid_t pid;
	uint8_t token[SHM_TOKEN];
	void *area;
	struct shm_side *mine, *theirs;
	uint8_t *slots_out, *slots_in;
	struct peer_flow flow;
	uint32_t seen, slots_seen;
	bool placed[PEER_FLOW_WINDOW];
	uint32_t notes, heard;
	struct shm_note note, target;
};

struct shm_port {
	struct peer_port port;
	uint32_t rank, npeer, slots, ups;
	size_t chunk, area_len;
	char path[108]; /* as sockaddr_un has it */
	char name[SHM_NAME_MAX + 1];
	bool listed; /* the path exists */
	int listener, events, wake;
	int pending[SHM_PENDING];
	unsigned int next_pending;
	uint8_t token[SHM_TOKEN];
	unsigned int idle_polls;
	bool rested;
	struct peer_fault fault;
	struct shm_link *links;
};

/* shm_meet.c: make the socket, and what waits for it. Return: 0 or -errno, a fault. */
int shm_meet_open(struct shm_port *s);
void shm_meet_close(struct shm_port *s);
/* Go to a lower rank, or wait for a higher one. */
int shm_meet_connect(struct shm_port *s, uint32_t link);
/* Look at all sockets. Return: number of events, or -errno. */
int shm_meet_poll(struct shm_port *s);

/* shm_link.c: take all that the peer wrote. Return: number of events, or -errno. */
int shm_link_take(struct shm_port *s, uint32_t link);
/* Whether there is something to take. */
bool shm_link_waits(const struct shm_link *l);
/* Wake the peer if it sleeps. */
void shm_link_kick(struct shm_link *l);

#endif /* PEER_SHM_H */
