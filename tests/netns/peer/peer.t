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
		sums -C "$what" -b 4 -e 4m -f 32 -n 3 -w 1 "$@" && continue
		diag "$(tail -n 20 "$scratch/out")"
		fail "$name: $what"
		return
	done
	sums -C barrier -n 20 "$@" && sums -b 300k -e 300k -d int32 -n 3 "$@" &&
		sums -b 1m -e 1m -o max -n 3 "$@" && pass "$name" && return
	diag "$(tail -n 20 "$scratch/out")"
	fail "$name"
}

# exact_sums ARG...: with the bits that relays would give.
# shellcheck disable=SC2317 # called through ok
exact_sums()
{
	TRIB_REPRODUCIBLE=1 sums "$@"
}

for n in 2 4 5; do
	up star --plain --one-nic --workers $n
	for a in ring halving direct auto; do
		peer_sums "$a of $n" -A $a
	done
	((n < 4)) || peer_sums "torus of $n" -A torus
	ok "exact sums of $n" exact_sums -A ring -b 4 -e 1m -f 32 -n 3
	fabric down
done

up bcube --n 2 --k 2
peer_sums "bcube 2x2" -A peer-bcube
matches "bcube 2x2: it says so" "$(head -n 1 "$scratch/out")" "bcube 2x2"
peer_sums "two rings, a NIC each" -A ring
fabric down

# planned_sums: sums of a job that has no trees, on hosts that apply's plan told of it.
# shellcheck disable=SC2317 # called through ok
planned_sums()
{
	"$TRIB_BUILD/trib" plan --builtin torus:1,2 "$scratch/jobs.json" \
		-o "$scratch/plan.json" && fabric apply "$scratch/plan.json" &&
		sums -b 4 -e 1m -f 64 -n 3
}

echo '{"builtin": "torus:1,2"}' >"$scratch/torus.json"
echo '{"jobs": [{"name": "train", "workers": "all", "peers": true}]}' >"$scratch/jobs.json"
up file "$scratch/torus.json" --no-rate
ok "a plan without trees" planned_sums
matches "... goes by peers" "$(head -n 1 "$scratch/out")" "peer transport"
fabric down

# A worker attached to tribd may choose peers as well: the job's keys are the same, and
# tribd tells where rank 0 listens.
up star --workers 3
ok "a job with a relay, by peers" sums -A auto -b 4 -e 1m -f 32 -n 3
matches "... says so" "$(head -n 1 "$scratch/out")" "peer transport"
fabric down
done_testing
