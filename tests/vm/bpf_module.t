#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tests of tests/bpf with the module loaded, so that the relay's programs
# call it. Loading a program takes seconds in the VM: `make check` runs the few
# that test sums; the word `all` runs all.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

mapfile -t programs < <(grep '^build/tests/bpf/' build/check-list)
((${#programs[@]})) || bail "no BPF tests in build/check-list"
[[ ${1-} == all ]] || programs=(build/tests/bpf/{floats,relay,slot})
load_module
exec tests/vm/guest-tap "${programs[@]}"
