/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of uapi/trib_ways.h as bytes: authenticators, checks. Pure. */
#ifndef TRIBD_WAYS_MESSAGE_H
#define TRIBD_WAYS_MESSAGE_H

#include <stddef.h>

#include "link.h"
#include "reports.h"

/* Fits any link; a report takes at most 1,080. */
#define WAYS_MESSAGE_MAX 1200

struct ways_probe {
	uint64_t number;
	uint64_t echo;
	uint64_t digest;
};

/* Write a probe that leaves by @l into @buf. Return: its length. */
size_t ways_probe_write(const struct ways_link *l, const struct ways_probe *p,
			uint8_t buf[WAYS_MESSAGE_MAX]);
/*
 * Write reports from number *@next on that fit into @buf, to leave by @l; *@next is then
 * the first that did not. Return: the length.
 */
size_t ways_news_write(const struct ways_link *l, const struct ways_reports *all,
		       unsigned int *next, uint8_t buf[WAYS_MESSAGE_MAX]);

/*
 * Is @buf of the other end of @l? Return: its header; NULL: forged, of another version, or
 * none of our messages.
 */
const struct trib_ways_hdr *ways_message_open(const struct ways_link *l, const void *buf,
					      size_t len);

void ways_probe_read(const struct trib_ways_hdr *h, struct ways_probe *p);
/*
 * Read the report at *@off of the opened message @h of @len bytes, and step over it. Return:
 * false if there is none, or if it is malformed.
 */
bool ways_news_read(const struct trib_ways_hdr *h, size_t len, size_t *off, struct ways_report *r);

#endif /* TRIBD_WAYS_MESSAGE_H */
