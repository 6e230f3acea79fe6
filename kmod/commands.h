/* SPDX-License-Identifier: GPL-2.0 */
/* The module's netlink commands. */
#ifndef TRIB_KMOD_COMMANDS_H
#define TRIB_KMOD_COMMANDS_H

/** trib_commands_init() - register the netlink family with all commands */
int trib_commands_init(void);

/** trib_commands_exit() - unregister it; waits for running commands */
void trib_commands_exit(void);

#endif /* TRIB_KMOD_COMMANDS_H */
