#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Daemon, library and tools under the address, leak and undefined behaviour
# sanitizers (make SAN=1) on real networks. They end the program that they
# catch, or speak up in its log.
set -uo pipefail
TRIB_BUILD=build/san
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

SUMS_LARGEST=256k
need_root
need_programs tribd trib trib-perf scripts/wire/wire

# Prints reports of sanitizers in the logs of a fabric, then takes it down.
complaints()
{
	local logs=/run/trib-fabric/$fab
	local host pids

	# At its end tribd is looked through for leaks.
	pids=$(cat "$logs"/*.pid)
	# shellcheck disable=SC2086 # several
	kill $pids
	for host in $pids; do
		wait_for 20 sh -c "! kill -0 $host"
	done
	grep -h -A 20 -E 'Sanitizer|runtime error' "$logs"/*.log "$scratch/out"
	fabric down
}

for kind in "star --loss 2 --dup 2 --reorder 2" "star --transport udp --ipv6" \
	"tree --transport udp" "star --one-nic --workers 3"; do
	# shellcheck disable=SC2086 # options
	case_of "$kind" $kind
	fabric exec r0 -- trib doctor >>"$scratch/out" 2>&1
	fabric exec r0 -- trib -p tree show >>"$scratch/out" 2>&1
	is "$kind: sanitizers are content" "$(complaints)" ""
done

done_testing
