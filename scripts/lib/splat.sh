# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # used by those who source this
# The lines of a kernel's log that fail a test in the VM.
splat='BUG:|WARNING:|KASAN:|Oops|general protection|UBSAN:|refcount_t:'
splat+='|possible recursive|possible circular|inconsistent lock'
splat+='|suspicious RCU|blocked for more than|DEBUG_LOCKS_WARN|ODEBUG:'
