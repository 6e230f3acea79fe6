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
need_programs trib-perf trib-train

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

# typed_sums NAME ARG...: types and operations that relays do not have.
typed_sums()
{
	local name=$1 d o

	shift
	for d in half bfloat16 double; do
		for o in sum avg min prod; do
			sums -d $d -o $o -b 8 -e 256k -f 32 -n 2 -w 0 "$@" && continue
			diag "$(tail -n 20 "$scratch/out")"
			fail "$name: $d $o"
			return
		done
	done
	sums -C reduce_scatter -d half -o prod -b 100k -e 100k -n 2 "$@" &&
		sums -C allgather -d double -b 100k -e 100k -n 2 "$@" &&
		sums -d int32 -o prod -b 100k -e 100k -n 2 "$@" &&
		sums -o prod -b 100k -e 100k -n 2 "$@" && pass "$name" && return
	diag "$(tail -n 20 "$scratch/out")"
	fail "$name"
}

# exact_sums ARG...: with the bits that relays would give.
# shellcheck disable=SC2317 # called through ok
exact_sums()
{
	TRIB_REPRODUCIBLE=1 sums "$@"
}

# packed_sums NAME ARG...: compressed, of several kinds.
packed_sums()
{
	local name=$1 spec

	shift
	for spec in 2:4+int8 int4 2:4 2:4/local 1:32/local; do
		sums -z $spec -b 4 -e 4m -f 32 -n 3 -w 1 "$@" && continue
		diag "$(tail -n 20 "$scratch/out")"
		fail "$name: $spec"
		return
	done
	pass "$name"
}

# trained: prints the hash of the parameters after a short training with
# compressed gradients, if all ranks have the same.
trained()
{
	timeout 60 scripts/fabric -n "$fab" run --fail-fast -- trib-train --task loud8 --hidden 64 \
		--samples 4096 --test 512 --batch 128 --epochs 2 --compress 2:4+int8 \
		--json "$scratch/json" >"$scratch/out" 2>&1 &&
		python3 -c "import json, sys
j = json.load(open(sys.argv[1]))
print(j['hash'] if j['identical'] else 'ranks differ')" "$scratch/json"
}

for n in 2 5; do
	up star --plain --one-nic --workers $n
	for a in ring halving auto; do
		peer_sums "$a of $n" -A $a
	done
	((n == 2)) || peer_sums "direct of $n" -A direct
	((n == 2)) || peer_sums "torus of $n" -A torus
	ok "exact sums of $n" exact_sums -A ring -b 4 -e 1m -f 32 -n 3
	ok "exact reduce-scatters of $n" exact_sums -C reduce_scatter -A auto -b 4 -e 1m -f 32 -n 3
	packed_sums "auto of $n, compressed" -A auto
	((n == 2)) || typed_sums "types and operations of $n" -A ring
	((n == 2)) || packed_sums "direct of $n, compressed" -A direct
	fabric down
done

up bcube --n 2 --k 2
peer_sums "bcube 2x2" -A peer-bcube
matches "bcube 2x2: it says so" "$(head -n 1 "$scratch/out")" "bcube 2\^2"
peer_sums "two rings, a NIC each" -A ring
packed_sums "bcube 2x2, compressed" -A peer-bcube
fabric down

# Ranks of a host add up in its memory first; their leaders exchange.
up star --plain --one-nic --workers 2 --ranks 3
for a in auto ring; do
	peer_sums "two hosts of three ranks, $a" -A $a
done
matches "two hosts of three ranks: it says so" "$(head -n 1 "$scratch/out")" hierarchy
packed_sums "two hosts of three ranks, compressed" -A auto
fabric down

# A worker attached to tribd may choose peers as well: the job's keys are the same.
up star --workers 3
ok "a job with a relay, by peers" sums -A auto -b 4 -e 1m -f 32 -n 3
matches "... says so" "$(head -n 1 "$scratch/out")" "peer transport"
by_relay=$(trained)
by_peers=$(TRIB_TRANSPORT=peer trained)
is "training with compressed gradients has the bits of a relay" "$by_peers" "${by_relay:-none}"
fabric down
done_testing
