#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two workers and a relay that sums in XDP: the one network of `make test`.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

SUMS_LARGEST=64k
need_root
need_programs tribd trib trib-perf

case_of star_xdp star --workers 2
fabric down
done_testing
