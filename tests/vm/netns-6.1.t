#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums over emulated networks on Debian's 6.1 kernel, VLANs among them, for
# which many hosts have no devices, and with the module.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
make -s module || { echo "Bail out! the module does not build"; exit 1; }
exec scripts/vm -m 2048 -t 550 -- tests/vm/guest-tap \
	"tests/vm/load $ko" tests/netns/tree/old-kernel.t
