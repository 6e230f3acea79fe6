/* SPDX-License-Identifier: GPL-2.0 */
/* Events about kfunc calls that did without the FPU. */
#ifndef TRIB_KMOD_FALLBACK_H
#define TRIB_KMOD_FALLBACK_H

/**
 * trib_fallback_tell() - schedule an event about counted fallbacks
 * Any context but NMI.
 */
void trib_fallback_tell(void);

/** trib_fallback_init() - prepare; call it before the first kfunc can run */
void trib_fallback_init(void);

/**
 * trib_fallback_exit() - cancel the pending event
 * Call it after the last kfunc ran and while the family is still registered.
 */
void trib_fallback_exit(void);

#endif /* TRIB_KMOD_FALLBACK_H */
