#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# libtrib by the collective sockets of trib.ko on Debian's 6.1 kernel, in jobs
# with ranks by UDP; and whose the jobs are.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
make -s module || { echo "Bail out! the module does not build"; exit 1; }
exec scripts/vm -t 900 -- tests/vm/sock/libtrib-sock "$ko"
