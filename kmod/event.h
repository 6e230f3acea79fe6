/* SPDX-License-Identifier: GPL-2.0 */
/* What the module tells those who listen: TRIB_CMD_MODULE_EVENT. */
#ifndef TRIB_KMOD_EVENT_H
#define TRIB_KMOD_EVENT_H

/* A fall-back was counted: say so soon. In any context but NMI. */
void trib_event_fallback(void);

/* Nothing is sent before, or after; the family must be there in between. */
void trib_event_init(void);
void trib_event_exit(void);

#endif /* TRIB_KMOD_EVENT_H */
