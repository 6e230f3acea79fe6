/* SPDX-License-Identifier: BSD-2-Clause */
/* The newest report of each host that is known. Pure. */
#ifndef TRIBD_WAYS_REPORTS_H
#define TRIBD_WAYS_REPORTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib_ways.h"

struct ways_report {
	uint64_t node;
	uint64_t number;
	uint8_t flags; /* TRIB_WAYS_PASSES_... */
	uint8_t nlinks;
	struct {
		struct in6_addr local;
		struct in6_addr peer;
		bool dead;
	} link[TRIB_WAYS_LINKS];
};

/* The first report is this host's own. */
struct ways_reports {
	struct ways_report *at; /* TRIB_WAYS_NODES of them */
	unsigned int n;
	uint64_t digest;
};

/* 0 or -ENOMEM. The host's own report has no links yet. */
int ways_reports_start(struct ways_reports *all, uint64_t node, uint64_t number);
void ways_reports_free(struct ways_reports *all);

/*
 * The host's own report has changed: it gets a number above @least. Its links are in @own;
 * @own->node and number are not read.
 */
void ways_reports_own(struct ways_reports *all, const struct ways_report *own, uint64_t least);

/**
 * ways_reports_hear() - a neighbour has told @r
 *
 * It is kept if it is newer than what is known of its node. A report by another of this
 * host's own addresses is of an earlier life: the own one is made newer.
 *
 * Return: something has changed.
 */
bool ways_reports_hear(struct ways_reports *all, const struct ways_report *r);

#endif /* TRIBD_WAYS_REPORTS_H */
