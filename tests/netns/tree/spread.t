#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Lanes on several CPUs: where each veth has a queue for each CPU, tribd spreads them, and
# sums stay exact.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs tribd trib trib-perf

# cpus: prints how many CPUs share the work, each time that the relay's log says so.
cpus()
{
	sed -n 's/.* \([0-9]*\) CPUs share.*/\1/p' "/run/trib-fabric/$fab/r0.log" | tail -n 1
}

is_checked()
{
	ok "$1" sums "${@:2}"
	((tap_failed == 0)) || diag "$(tail -n 20 "$scratch/out")"
}

big=(-b 8m -e 8m -n 12 -w 1)

if (($(nproc) > 1)); then
	case_of auto star --workers 3 --queues 2
	is "auto: two queues, two CPUs" "$(cpus)" 2
	is_checked "auto: floats" "${big[@]}"
	within "auto: lanes were moved" "$(stat r0 tx-moved)" 1 1e9
	is_checked "auto: integers" -d int32 "${big[@]}"
	is_checked "auto: small sums" -b 4 -e 64k -n 20
	fabric down

	case_of loss star --workers 3 --queues 2 --loss 1 --dup 1 --reorder 1
	is_checked "loss: large sums" -b 2m -e 2m -n 5 -w 1
	fabric down
fi
case_of one star --workers 3 --queues 2 --spread 1
is_checked "one: large sums" "${big[@]}"
is "one: nothing is moved" "$(stat r0 tx-moved)" 0
fabric down

case_of queue star --workers 3
is_checked "queue: large sums" "${big[@]}"
is "queue: one queue, nothing is moved" "$(stat r0 tx-moved)" 0
fabric down
done_testing
