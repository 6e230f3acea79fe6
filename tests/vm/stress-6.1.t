#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib.ko under random requests and system calls, on Debian's 6.1 kernel; longer
# and on a kernel that looks harder: make check-long.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
make -s module || { echo "Bail out! the module does not build"; exit 1; }
exec scripts/vm -m 2048 -t 400 -- tests/vm/stress-guest "$ko" \
	20 1000
