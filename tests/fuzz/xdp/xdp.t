#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of build/fuzz-xdp on both objects. `make fuzz` has the long one.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=tests/fuzz/short.sh
. tests/fuzz/short.sh

need_root
short xdp packets_do_what_the_model_does__352
short xdp-832 packets_do_what_the_model_does__832
finish
