#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib.ko: its netlink family, by libnl and by the kernel's own client for such
# families; how it loads and unloads. Words choose among the programs.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

(($#)) || set -- family ynl life cycles
declare -A programs=([family]=build/tests/vm/netlink/family
	[ynl]=tests/vm/netlink/ynl [life]=tests/vm/life/module-life
	[cycles]="build/tests/vm/life/cycles $((20 * scale))")
run=()
for name; do
	run+=("${programs[$name]}")
done
# `cycles` alone loads it by itself; `life`, before it, leaves it unloaded.
[[ $* == cycles ]] || load_module
exec tests/vm/guest-tap "${run[@]}"
