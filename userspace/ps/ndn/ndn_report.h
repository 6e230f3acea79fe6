/* SPDX-License-Identifier: BSD-2-Clause */
/* ndn_report.c: all counters of trib-ps ndn, as JSON. */
#ifndef TRIB_PS_NDN_REPORT_H
#define TRIB_PS_NDN_REPORT_H

#include "ndn/app/link.h"
#include "ndn/app/ps/ps_file.h"

/* Replace the file @path, or log if it is NULL. Return: 0 or -errno. */
int ps_ndn_report(const struct nps *ps, const struct ndn_socket *link, const char *path);

#endif /* TRIB_PS_NDN_REPORT_H */
