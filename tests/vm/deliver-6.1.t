#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Attaching and delivery into mapped memory on Debian's 6.1 kernel, which is
# choosy about maps inside of maps.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
exec scripts/vm -m 2048 -t 550 -- tests/vm/guest-tap tests/netns/tree/deliver.t
