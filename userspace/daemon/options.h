/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line. */
#ifndef TRIBD_OPTIONS_H
#define TRIBD_OPTIONS_H

#include "daemon/core/tribd.h"

/* Fill @o. Return: -1 to go on, else the exit status; messages are printed. */
int options_parse(struct options *o, int argc, char **argv);

#endif /* TRIBD_OPTIONS_H */
