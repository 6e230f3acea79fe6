#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Ranks that exchange without a relay, over TCP by libfabric: every algorithm and
# collective against the exact oracle, on workers around a bridge and on a BCube.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs trib-perf

# peer_sums NAME ARG...: all collectives of several sizes.
peer_sums()
{
	local name=$1 what

	shift
	for what in allreduce reduce_scatter allgather broadcast; do
		sums -C "$what" -b 4 -e 1m -f 64 -n 2 -w 0 "$@" && continue
		diag "$(tail -n 20 "$scratch/out")"
		fail "$name: $what"
		return
	done
	# A barrier has no values to check.
	sums -C barrier -n 20 "$@"
	grep -q '^# Out of bounds values : not checked' "$scratch/out" &&
		sums -b 3m -e 3m -d int32 -o max -n 2 "$@" && pass "$name" && return
	diag "$(tail -n 20 "$scratch/out")"
	fail "$name"
}

# exact_sums ARG...: with the bits that relays would give.
# shellcheck disable=SC2317 # called through ok
exact_sums()
{
	TRIB_REPRODUCIBLE=1 sums "$@"
}

for n in 2 5; do
	up star --plain --one-nic --workers $n
	for a in ring halving auto; do
		peer_sums "$a of $n" -A $a
	done
	((n == 2)) || peer_sums "direct of $n" -A direct
	((n == 2)) || peer_sums "torus of $n" -A torus
	ok "exact sums of $n" exact_sums -A ring -b 4 -e 1m -f 32 -n 3
	fabric down
done

up bcube --n 2 --k 2
peer_sums "bcube 2x2" -A peer-bcube
matches "bcube 2x2: it says so" "$(head -n 1 "$scratch/out")" "bcube 2\^2"
peer_sums "two rings, a NIC each" -A ring
fabric down

# Ranks of a host add up in its memory first; their leaders exchange.
up star --plain --one-nic --workers 2 --ranks 3
for a in auto ring; do
	peer_sums "two hosts of three ranks, $a" -A $a
done
matches "two hosts of three ranks: it says so" "$(head -n 1 "$scratch/out")" hierarchy
fabric down

# A worker attached to tribd may choose peers as well: the job's keys are the same.
up star --workers 3
ok "a job with a relay, by peers" sums -A auto -b 4 -e 1m -f 32 -n 3
matches "... says so" "$(head -n 1 "$scratch/out")" "peer transport"
fabric down
done_testing
