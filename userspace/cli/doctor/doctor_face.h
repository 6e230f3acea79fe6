/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Face checks: doctor_face.c checks the path to the peer, doctor_port.c the
 * device.
 */
#ifndef TRIB_CLI_DOCTOR_FACE_H
#define TRIB_CLI_DOCTOR_FACE_H

#include "cli/net/link.h"
#include "cli/net/probe.h"
#include "doctor.h"

/**
 * struct face - one face under examination
 * @json:  the face as tribd reported it, or made up for --peer.
 * @known: tribd has it.
 * @name:  name of the face, or the address.
 * @addr:  address of the peer.
 * @local: our address, all zeros if unknown.
 * @link:  its port, if @have_link.
 * @route: to the peer, if @have_route.
 */
struct face {
	const json_t *json;
	bool known;
	const char *name;
	uint8_t addr[16];
	uint8_t local[16];
	bool have_link;
	struct link link;
	bool have_route;
	struct route route;
};

bool face_v4(const struct face *f);
bool face_multicast(const struct face *f);

/* doctor_port.c */
void face_check_port(struct doctor *d, struct rt *rt, const struct face *f);
bool face_is_local(const uint8_t addr[16]);
bool face_same_addr(const char *a, const char *b);
const char *face_mac_text(const uint8_t mac[6], char buf[18]);

#endif /* TRIB_CLI_DOCTOR_FACE_H */
