/* SPDX-License-Identifier: BSD-2-Clause */
/* Random requests to the module's netlink family: see nlgen.c. */
#ifndef NLGEN_H
#define NLGEN_H

#include "nlsock.h"

/* Mostly what makes sense, with mistakes; sometimes none at all. */
void nl_make(struct nl_request *r, int family, uint32_t seq);

#endif /* NLGEN_H */
