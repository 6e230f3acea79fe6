#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Jobs of floats end to end on Debian's 6.1 kernel: trib.ko, tribd, libtrib.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
make -s module || { echo "Bail out! the module does not build"; exit 1; }
exec scripts/vm -m 2048 -t 550 -- tests/netns/tree/floats.t "$PWD/$ko"
