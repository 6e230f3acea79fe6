#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# tribd on Debian's 6.1 kernel: configuration becomes rows, VLANs included.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
exec scripts/vm -t 550 -- tests/vm/guest-tap tests/netns/daemon/config.t
