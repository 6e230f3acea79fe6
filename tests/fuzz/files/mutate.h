/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_FUZZ_FILES_MUTATE_H
#define TESTS_FUZZ_FILES_MUTATE_H

#include <stddef.h>

/* Bytes before an input's first document. Each fuzzer of files defines it. */
extern const size_t mutate_from;

#endif /* TESTS_FUZZ_FILES_MUTATE_H */
