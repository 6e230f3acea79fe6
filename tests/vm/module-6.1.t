#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib.ko on Debian's 6.1 kernel: sums, netlink family, the kernel's own client
# for such families, life. The VM fails it if the kernel complains about anything.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
scripts/mkynl || { echo "Bail out! no ynl"; exit 1; }
make -s module || { echo "Bail out! the module does not build"; exit 1; }
exec scripts/vm -t 500 -- env "TRIB_KO=$ko" tests/vm/guest-tap \
	"tests/vm/load $ko" build/tests/vm/kfunc/{kfunc,floats} \
	build/tests/vm/netlink/family tests/vm/{netlink/ynl,life/module-life} \
	"build/tests/vm/life/cycles 100"
