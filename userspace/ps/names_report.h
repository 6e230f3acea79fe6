/* SPDX-License-Identifier: BSD-2-Clause */
/* What trib-ps names tells: all counters, as JSON. */
#ifndef TRIB_PS_NAMES_REPORT_H
#define TRIB_PS_NAMES_REPORT_H

#include "userspace/names/link.h"
#include "userspace/names/ps_file.h"

/* To @path, whole or not at all; NULL: to the log. 0 or -errno. */
int ps_names_report(const struct nps *ps, const struct names_link *link,
		    const char *path);

#endif /* TRIB_PS_NAMES_REPORT_H */
