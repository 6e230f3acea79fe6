// SPDX-License-Identifier: BSD-2-Clause
/*
 * AddressSanitizer as an input of less than a millisecond needs it: linked into every
 * fuzzer of user space. Its defaults are for programs that run long: freed memory waits
 * in 256 MB, which no cache holds, and which a fork copies. An input frees less than
 * 8 MB. The environment's ASAN_OPTIONS go first.
 */

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:allocator_release_to_os_interval_ms=-1:"
	       "max_uar_stack_size_log=16:malloc_context_size=8";
}
