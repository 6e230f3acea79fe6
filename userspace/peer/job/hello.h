/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Agreement: each rank says which machine it is on, which NICs it has and what was asked
 * of it; all ranks draw the same conclusions: arrangements, leaders, names.
 */
#ifndef PEER_HELLO_H
#define PEER_HELLO_H

#include "peer/peer.h"
#include "leader.h"
#include "measure.h"
#include "peer/choose/choose.h"
#include "peer/run/crew.h"

struct peer_hello;

/**
 * struct peer_agreed - what all ranks know after the first swap
 * @shape: arrangements that calls may use; all but the first serve "auto". Where machines
 *         have several ranks, as many for leaders alone follow: @napart, 0 or @nshape.
 * @machine, @leader: for the shapes.
 * @proc:  by rank: what it said of itself.
 * @why_leader: of this machine.
 * @nic:   this rank's NICs, by number.
 * @shm_name: for memory shared by the ranks of a machine.
 * @table: the best shape of each call, once the network was measured.
 * @rates: as measured.
 */
struct peer_agreed {
	struct peer_shape shape[PEER_SHAPES_MAX];
	unsigned int nshape;
	unsigned int napart;
	uint32_t *machine;
	uint32_t *leader;
	uint32_t machines;
	uint32_t world;
	struct peer_leader_proc self;
	struct peer_leader_proc *proc;
	char why_leader[320];
	char nic[PEER_NICS_MAX][64];
	unsigned int nnic;
	char provider_name[64];
	const char *provider;
	char shm_name[64];
	enum peer_alg alg;
	enum peer_intra intra;
	char shape_text[32];
	struct trib_key key;
	uint32_t job;
	struct peer_table table;
	struct peer_rates rates;
};

/**
 * peer_agreed_begin() - read the options, find the NICs
 * @hello: what the other ranks must know, @len bytes, which the caller frees.
 */
int peer_agreed_begin(struct peer_agreed *a, const struct trib_peer_conf *conf,
		      struct peer_hello **hello, size_t *len, struct trib_peer_error *error);

/** peer_hello_agree() - compare the hellos of all ranks, find the machines */
int peer_hello_agree(struct peer_agreed *a, const void **all, const size_t *lens, uint32_t world,
		     uint32_t rank, struct trib_peer_error *error);

/** peer_agreed_apart() - make the shapes of leaders alone, or make them anew */
void peer_agreed_apart(struct peer_agreed *a);

/** peer_agreed_rate() - tune the shapes, and choose by these rates from now on */
void peer_agreed_rate(struct peer_agreed *a, size_t chunk, const struct peer_rates *r);

/**
 * peer_agreed_leader() - choose the leader of this rank's machine
 * Return: its rank.
 */
uint32_t peer_agreed_leader(struct peer_agreed *a, uint32_t rank);

/**
 * peer_agreed_lead() - take all ranks' choices, and make the shapes
 * @all, @lens: by rank: a uint32_t each.
 */
int peer_agreed_lead(struct peer_agreed *a, const void **all, const size_t *lens, uint32_t world,
		     struct trib_peer_error *error);

/** peer_agreed_pick() - the shape for a call; the same on all ranks */
unsigned int peer_agreed_pick(struct peer_agreed *a, const struct trib_peer_call *c);
void peer_agreed_describe(struct peer_agreed *a, char *buf, size_t room);
void peer_agreed_free(struct peer_agreed *a);

#endif /* PEER_HELLO_H */
