/* SPDX-License-Identifier: BSD-2-Clause */
/* Name and meaning of a counter of the data plane. */
#ifndef TRIBD_STAT_TEXT_H
#define TRIBD_STAT_TEXT_H

struct stat_text {
	const char *name;
	const char *text;
};

#endif /* TRIBD_STAT_TEXT_H */
