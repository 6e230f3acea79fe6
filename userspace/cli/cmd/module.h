/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of trib module share. */
#ifndef TRIB_CLI_MODULE_H
#define TRIB_CLI_MODULE_H

#include <stddef.h>
#include <jansson.h>

struct cli;

/* module_sock.c: commands */
int module_sock(struct cli *c, int argc, char **argv);
int module_claim(struct cli *c, int argc, char **argv);

/* module_event.c: an event as a line for people. */
void module_event_text(const json_t *e, char *buf, size_t size);
/* Its kind by name instead of number, if it is one that this trib knows. */
void module_event_name(json_t *e);

#endif /* TRIB_CLI_MODULE_H */
