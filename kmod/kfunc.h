/* SPDX-License-Identifier: GPL-2.0 */
/* Registration of the functions for XDP programs. */
#ifndef TRIB_KMOD_KFUNC_H
#define TRIB_KMOD_KFUNC_H

int trib_kfunc_init(void);

#endif /* TRIB_KMOD_KFUNC_H */
