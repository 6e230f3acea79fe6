/* SPDX-License-Identifier: BSD-2-Clause */
/* A counter of the data plane, for people. */
#ifndef TRIBD_STAT_TEXT_H
#define TRIBD_STAT_TEXT_H

struct stat_text {
	const char *name;
	const char *text;
};

#endif /* TRIBD_STAT_TEXT_H */
