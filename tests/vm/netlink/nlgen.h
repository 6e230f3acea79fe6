/* SPDX-License-Identifier: BSD-2-Clause */
/* Random requests to the module's netlink family: see nlgen.c. */
#ifndef NLGEN_H
#define NLGEN_H

#include "nlsock.h"

/* Make a request: valid, or with mistakes, sometimes without any sense. */
void nl_make(struct nl_request *r, int family, uint32_t seq);

#endif /* NLGEN_H */
