#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tests of tests/bpf on the VM's kernel, without the module. Loading a program
# takes seconds here: the short run leaves out some of the NDN forwarder's.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

mapfile -t programs < <(grep '^build/tests/bpf/' build/check-list)
((${#programs[@]})) || bail "no BPF tests in build/check-list"
((scale > 1)) || mapfile -t programs < <(printf '%s\n' "${programs[@]}" |
	grep -vE '/ndn_(ask|tail|threads)$')
exec tests/vm/guest-tap "${programs[@]}"
