#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Short runs of all fuzzers of user space. `make fuzz` has the long ones.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/fuzz/short.sh
. tests/fuzz/short.sh

for target in $(rows -); do
	short "$target" "${target}__stands_bad_input"
done
finish
