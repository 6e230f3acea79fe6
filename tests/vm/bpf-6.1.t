#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The BPF tests on Debian's 6.1 kernel: each test of tests/bpf, in the VM, and
# with the module those of the object that calls it.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko

skip() { echo "1..0 # SKIP $*"; exit 4; }

command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
mapfile -t programs < <(grep '^build/tests/bpf/' build/check-list)
((${#programs[@]})) || { echo "Bail out! no BPF tests in build/check-list"; exit 1; }
make -s module || { echo "Bail out! the module does not build"; exit 1; }
again=()
for p in "${programs[@]}"; do
	[[ $p == */names* ]] || again+=("$p")
done
exec scripts/vm -t 550 -- tests/vm/guest-tap "${programs[@]}" \
	"tests/vm/load $ko" "${again[@]}"
