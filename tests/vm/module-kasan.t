#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The module's tests on a kernel with KASAN, lockdep and kmemleak. Not in
# `make check`, because that kernel takes minutes to build the first time:
# `make check-kasan`, which never skips.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

kasan=build/kasan
ko=build/module-kasan/trib.ko

bail() { echo "Bail out! $*"; exit 1; }

# In the guest: the tests, and then whatever was leaked.
guest()
{
	local leaks=/sys/kernel/debug/kmemleak rc=0

	CYCLES=20 tests/vm/module-guest $ko || rc=1
	mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
	# An object counts once it is some seconds old, and was seen twice.
	sleep 6
	echo scan >$leaks && echo scan >$leaks || return 1
	# Into the log, which the VM looks at.
	if grep -q . $leaks; then
		sed 's/^/# /' $leaks | head -n 40
		echo "WARNING: kmemleak found something" >/dev/kmsg
		rc=1
	fi
	return $rc
}

if [[ ${1-} == --guest ]]; then
	guest
	exit
fi
scripts/mkkasan $kasan >&2 || bail "the kernel does not build"
make -s module KDIR=$kasan MODULE_DIR=${ko%/*} >&2 ||
	bail "the module does not build"
exec scripts/vm -k $kasan/bzImage -m 2048 -t 580 -a kmemleak=on -- \
	tests/vm/module-kasan.t --guest
