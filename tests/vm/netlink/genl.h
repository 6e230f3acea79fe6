/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the module's netlink family through libnl, and its answers. */
#ifndef TESTS_VM_GENL_H
#define TESTS_VM_GENL_H

#include <stdbool.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "uapi/trib.h"

/* Result of the last request. */
struct genl_got {
	int objects, error;
	bool done;
	char text[200];
};

extern struct genl_got genl_got;

/* @on_object gets the attributes of each answer or event; may be NULL. */
bool genl_open(void (*on_object)(struct nlattr **top));
void genl_close(void);
struct nl_msg *genl_request(int cmd, int flags);
/* Send and free a request; the answer is in genl_got. */
void genl_ask(struct nl_msg *msg);
/* Was it refused with @error and a text that contains @words? */
bool genl_refused(struct nl_msg *msg, int error, const char *words);
/* Subscribe to events. */
bool genl_listen(void);
/* Wait @ms for an event. Return: false if none came. */
bool genl_hear(int ms);

#endif /* TESTS_VM_GENL_H */
