/* SPDX-License-Identifier: BSD-2-Clause */
/* What trib-ps ndn tells: all counters, as JSON. */
#ifndef TRIB_PS_NDN_REPORT_H
#define TRIB_PS_NDN_REPORT_H

#include "ndn/app/link.h"
#include "ndn/app/ps/ps_file.h"

/* To @path, whole or not at all; NULL: to the log. 0 or -errno. */
int ps_ndn_report(const struct nps *ps, const struct ndn_socket *link,
		  const char *path);

#endif /* TRIB_PS_NDN_REPORT_H */
