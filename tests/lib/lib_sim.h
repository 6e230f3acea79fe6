/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrib's engine on an imagined network: workers (real engine, no threads, no
 * sockets), relays (relay_model.c), wires with rate, delay, queue, loss,
 * duplication and reordering, on an imagined clock. Everything follows from
 * the seed.
 */
#ifndef LIB_SIM_H
#define LIB_SIM_H

#include "relay_model.h"
#include "engine/inner.h"
#include "lib/way/carrier.h"

#define SIM_WORKERS 16
#define SIM_RELAYS 8

/**
 * struct sim_wire - one direction of a link
 * @rate:   bits per second; 0 = infinite.
 * @delay:  propagation, ns.
 * @queue:  bytes that wait at most; more is dropped.
 * @loss, @dup, @late: probability of each, in 1/1000; late: up to 1 ms more.
 * @mark:   queue in bytes from which congestion is marked; 0 = never.
 * @busy:   when what was accepted has left.
 * @dropped: for lack of room; @lost: by chance.
 */
struct sim_wire {
	double rate;
	uint64_t delay;
	uint64_t queue;
	unsigned int loss, dup, late;
	uint64_t mark;
	uint64_t busy;
	unsigned long dropped, lost, carried;
};

struct sim;

/**
 * struct sim_worker
 * @t:     handle; its place in the tree is @relay, @child.
 * @up, @down: its wires.
 * @app:   called when it may do something: a packet came, or sim_call_at().
 * @dead:  neither sends nor receives.
 * @wake:  when its engine runs again at the latest.
 */
struct sim_worker {
	struct sim *sim;
	struct trib *t;
	unsigned int relay, child;
	struct sim_wire up, down;
	void (*app)(struct sim_worker *w);
	void *ctx;
	bool dead;
	uint64_t wake;
};

struct sim_relay {
	struct relay r;
	struct sim *sim;
	unsigned int index;
	int parent;		  /* relay, or -1 */
	struct sim_wire up, down; /* to and from the parent */
	/* Each child: a worker, or (from 64 on) a relay. */
	unsigned int child[TRIB_CHILDREN_MAX];
	bool dead;
};

struct sim {
	uint64_t now;
	uint64_t rng;
	uint64_t seq;
	unsigned int nworker, nrelay;
	struct sim_worker worker[SIM_WORKERS];
	struct sim_relay relay[SIM_RELAYS];
	struct sim_event *heap;
	unsigned int nheap, room;
	uint64_t packets;
	/* Sees every packet on its way; true: it is gone. */
	bool (*tap)(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len);
};

/**
 * struct sim_tcp - a TCP sender (Reno's window, Cubic's factor) on a wire
 * @wire:  that it shares; its acknowledgements have a way of their own.
 * @sent, @acked: bytes.
 */
struct sim_tcp {
	struct sim *sim;
	struct sim_wire *wire;
	uint64_t rtt;
	double cwnd, ssthresh;
	uint64_t inflight, cut;
	uint64_t sent, acked;
	bool on;
};

struct sim_options {
	uint64_t seed;
	unsigned int workers;
	unsigned int racks; /* 0: star; else workers are spread below so many */
	unsigned int trees; /* stars side by side; 0 is 1; not with racks */
	unsigned int window;
	unsigned int nval;
	unsigned int timeout_ms;
	uint64_t rate;	      /* planned; 0: none */
	uint16_t fmt;	      /* of floats; 0: integers */
	struct sim_wire wire; /* of every link, both directions */
};

void sim_init(struct sim *s, const struct sim_options *o);
void sim_free(struct sim *s);
uint64_t sim_rnd(struct sim *s);
/* Run until @done says so or the time has come. Return: whether it said so. */
bool sim_run(struct sim *s, bool (*done)(struct sim *s), uint64_t until);
/* Call @w->app at that time. */
void sim_call_at(struct sim_worker *w, uint64_t when);
/* Wipe relay @i's slots at that time. */
void sim_wipe_at(struct sim *s, unsigned int i, uint64_t when);
/* Begin to send as fast as TCP may. */
void sim_tcp_start(struct sim *s, struct sim_tcp *tcp, struct sim_wire *wire);
/* Deliver bytes to a worker, now: as if the network had. */
void sim_inject(struct sim_worker *w, const void *pkt, size_t len);

#endif /* LIB_SIM_H */
