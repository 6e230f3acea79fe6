#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of build/fuzz-forwarder. `make fuzz` has the long one.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/fuzz/short.sh
. tests/fuzz/short.sh

need_root
short forwarder both_parsers_see_the_same
finish
