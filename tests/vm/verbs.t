#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Peers over RDMA: each rank is a process with soft-RoCE devices of its own, by native
# verbs; trib-perf checks every value. Where perftest is installed, it tells how much of
# a device we get. The short run has three of the networks.
# shellcheck disable=SC2317 # called by t
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=tests/vm/rdma.sh
. tests/vm/rdma.sh
key=0098ddab2a4f8fbd0447be441d7e471e
scratch=$(mktemp -d)

cleanup()
{
	devices_down
	rm -r "$scratch"
}

# Devices of rank R, K of them.
nics_of()
{
	local i at=()

	for ((i = 0; i < $2; i++)); do at+=("$(roce $(($1 * $2 + i)))"); done
	(IFS=,; echo "${at[*]}")
}

# A rank with another boot_id is on another machine, as far as ranks can tell.
on_machine()
{
	local id=$scratch/boot$1

	printf '%036d\n' "$1" >"$id"
	shift
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m bash -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id; exec "$@"' \
		"$id" "$@"
}

# rank R WORLD K PER COMMAND...: of PER ranks a machine, with K devices.
rank()
{
	local r=$1 world=$2 k=$3 per=$4

	shift 4
	TRIB_TRANSPORT=peer TRIB_PEER_PROVIDER=verbs TRIB_PEER_NICS=$(nics_of "$r" "$k") \
		TRIB_JOIN_TIMEOUT_MS=90000 TRIB_TIMEOUT_MS=20000 \
		TRIB_PEER_LIBRARY=build/libtrib-peer.so.0 \
		TRIB_JOB="trib://127.0.0.1/v?job=1&rank=$r&world=$world&keys=$key:$key&peers=127.0.0.1:7510" \
		on_machine $((r / per)) "$@" >"$scratch/out$r" 2>&1
}

# sums WORLD K PER SAYS ARG...: trib-perf on all ranks; its first line has SAYS.
sums()
{
	local world=$1 k=$2 per=$3 says=$4 r pids=() rc=0

	shift 4
	for ((r = 0; r < world; r++)); do
		rank $r "$world" "$k" "$per" timeout 200 build/trib-perf -c 2 -n 2 -w 0 "$@" &
		pids+=($!)
	done
	for r in "${pids[@]}"; do wait "$r" || rc=1; done
	((rc == 0)) && grep -q '^# Out of bounds values : 0 OK' "$scratch/out0" &&
		head -n 1 "$scratch/out0" | grep "$says.*verbs" >/dev/null && return
	tail -n 4 "$scratch"/out*
	return 1
}

# MB/s of one stream of 1 MiB writes between two devices.
perftest()
{
	timeout 60 ib_write_bw -d rxe1 -x 1 -n 40 -s 1048576 >/dev/null 2>&1 &
	sleep 2
	timeout 60 ib_write_bw -d rxe0 -x 1 -n 40 -s 1048576 127.0.0.1 2>/dev/null |
		awk '$1 == 1048576 { print $4 }'
	kill $! 2>/dev/null
	wait $!
}

# An allgather of two ranks sends 1 MiB each way at a time.
share()
{
	local theirs ours

	theirs=$(perftest)
	sums 2 1 1 ring -C allgather -A ring -b 2m -e 2m || return
	ours=$(awk '$1 == 2097152 { print 1048576 / $6 }' "$scratch/out0")
	echo "# 1 MiB: $ours MB/s each way at once; ib_write_bw ${theirs:-not run} one way"
	[[ $ours ]]
}

need_rdma
trap cleanup EXIT
devices 8 || bail "no soft-RoCE"

few=(-b 4 -e 64k -f 128)
t torus_2x2 sums 4 1 1 'torus 2x2' -A torus "${few[@]}"
t bcube_2_2__two_devices_a_rank sums 4 2 1 'bcube 2^2' -A peer-bcube "${few[@]}"
t hierarchy__two_machines_of_two_ranks sums 4 1 2 hierarchy -A auto "${few[@]}"
((scale > 1)) || done_testing
t torus_2x3 sums 6 1 1 'torus 2x3' -A torus "${few[@]}"
t ring__over_both_devices sums 3 2 1 ring -A ring "${few[@]}"
for what in reduce_scatter allgather broadcast; do
	t "torus_2x2__$what" sums 4 1 1 torus -A torus -C $what "${few[@]}"
done
share
t perftest__beside_ours test $? = 0
done_testing
