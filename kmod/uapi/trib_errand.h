/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Orders of an XDP program for the clsact program of the same port, as XDP metadata.
 */
#ifndef _UAPI_TRIB_ERRAND_H
#define _UAPI_TRIB_ERRAND_H

#include <linux/types.h>

/* A change of meaning changes the number. */
#define TRIB_ERRAND 0x31776f7267627274ULL
#define TRIB_ERRAND_NDN 0x31746867696c666eULL

/**
 * struct trib_errand - in front of a frame that XDP hands up
 * @arg:   group, and enum grow_how with a type; of NDN: row and number of a flight.
 *         cb[0] and cb[1] of the program that sends.
 * @magic: TRIB_ERRAND or TRIB_ERRAND_NDN.
 */
struct trib_errand {
	__u32 arg[2];
	__u64 magic;
};

#endif /* _UAPI_TRIB_ERRAND_H */
