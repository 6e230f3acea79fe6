/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrib's engine on a simulated network: workers (real engine, no threads, no
 * sockets), relays (relay_model.c), wires with rate, delay, queue, loss,
 * duplication and reordering, and a simulated clock. A run depends on the seed
 * only.
 */
#ifndef ENGINE_WORLD_H
#define ENGINE_WORLD_H

#include "relay_model.h"
#include "tests/model/cells.h"
#include "engine/inner.h"
#include "lib/way/carrier.h"

#define SIM_WORKERS 16
#define SIM_RELAYS 8

/**
 * struct sim_wire - one direction of a link
 * @rate:   bits per second; 0 = infinite.
 * @delay:  propagation, ns.
 * @queue:  limit of waiting bytes; more is dropped.
 * @loss, @dup, @late: probability of each, in 1/1000; late: up to 1 ms more.
 * @mark:   queue in bytes from which congestion is marked; 0 = never.
 * @busy:   time when the last accepted byte has left.
 * @dropped: packets dropped for lack of room; @lost: dropped at random.
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
 * @app:   called when a packet came, or at the time of sim_call_at().
 * @cells: shared with an XDP program (tests/model).
 * @dead:  neither sends nor receives.
 * @wake:  latest time of the engine's next run.
 */
struct sim_worker {
	struct sim *sim;
	struct trib *t;
	unsigned int relay, child;
	struct sim_wire up, down;
	void (*app)(struct sim_worker *w);
	void *ctx;
	struct cells *cells; /* one for each tree, or NULL */
	uint64_t nap;	     /* ns from an alarm until it runs */
	bool dead;
	uint64_t wake;
};

struct sim_relay {
	struct relay r;
	struct sim *sim;
	unsigned int index;
	int parent;		  /* relay, or -1 */
	struct sim_wire up, down; /* to and from the parent */
	/* for each child a worker, or (from 64 on) a relay */
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
	/* Called for every packet before it is delivered; true drops it. */
	bool (*tap)(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len);
	/* For so long, ns, at the start of every 10 ms a process keeps CPU 1 from its packets. */
	uint64_t stall;
};

/**
 * struct sim_tcp - a TCP sender (Reno's window, Cubic's factor) on a wire
 * @wire:  the wire that it shares; acknowledgements use none.
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
	unsigned int racks; /* 0: star; else the most workers below one relay */
	unsigned int trees; /* number of stars side by side; 0 is 1; not with racks */
	unsigned int window;
	unsigned int nval;
	unsigned int timeout_ms;
	uint64_t rate;	      /* planned rate; 0: none */
	uint16_t fmt;	      /* format of float sums; 0: integers */
	unsigned int cells;   /* N: workers share cells with XDP; 0: none */
	unsigned int reflex;  /* bits of workers whose XDP program sends */
	uint64_t nap;	      /* ns from an alarm until the worker runs */
	struct sim_wire wire; /* both directions of every link */
};

/* Options of a star with a fixed seed and short timeouts. */
struct sim_options sim_star(unsigned int workers);
void sim_init(struct sim *s, const struct sim_options *o);
void sim_free(struct sim *s);
uint64_t sim_rnd(struct sim *s);
/*
 * Run until @done returns true or @until has come. Return: the last value of
 * @done.
 */
bool sim_run(struct sim *s, bool (*done)(struct sim *s), uint64_t until);
/* Call @w->app at that time. */
void sim_call_at(struct sim_worker *w, uint64_t when);
/* Wipe the slots of relay @i at that time. */
void sim_wipe_at(struct sim *s, unsigned int i, uint64_t when);
/* Start a TCP sender, as fast as TCP may. */
void sim_tcp_start(struct sim *s, struct sim_tcp *tcp, struct sim_wire *wire);
/* Deliver a packet to a worker now, signed as its relay or PS would. */
void sim_inject(struct sim_worker *w, const void *pkt, size_t len);

#endif /* ENGINE_WORLD_H */
