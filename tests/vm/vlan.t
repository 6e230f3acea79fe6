#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums over VLANs, for which many hosts have no devices: both transports, both IP
# versions, and faults, with the module. Emulation is slow: messages are small.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
load_module
# shellcheck source=tests/netns/lib/test.sh
. tests/netns/lib/test.sh
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

SUMS_SECONDS=200
SUMS_LARGEST=64k
need_root
need_programs tribd trib trib-perf

faulty_case vlan_xdp_faults_2 star --workers 2 --vlan 5 \
	--loss 2 --dup 2 --reorder 2
case_of vlan_ipv6_udp star --workers 2 --vlan 4094 --ipv6 --transport udp
fabric down

done_testing
