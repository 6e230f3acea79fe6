/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions shared by the files of trib module. */
#ifndef TRIB_CLI_MODULE_H
#define TRIB_CLI_MODULE_H

#include <stddef.h>
#include <jansson.h>

struct cli;

/* module_sock.c: commands */
int module_sock(struct cli *c, int argc, char **argv);
int module_claim(struct cli *c, int argc, char **argv);

/* module_event.c: write an event as a line of text. */
void module_event_text(const json_t *e, char *buf, size_t size);
/* Replace the number of its kind by the name; an unknown one stays a number. */
void module_event_name(json_t *e);

#endif /* TRIB_CLI_MODULE_H */
