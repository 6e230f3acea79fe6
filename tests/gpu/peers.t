#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Collectives of values in GPU memory by peers: several processes on one GPU, over the
# loopback device, each result against the exact oracle; and the death of a rank. Needs
# no root. TRIB_GPU_LIBRARY names the library; the double's is for `make check`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/gpu/ranks.sh
. tests/gpu/ranks.sh

export TRIB_GPU_LIBRARY=${TRIB_GPU_LIBRARY:-$PWD/build/libtrib-gpu.so}
export TRIB_PEER_GPU_WAY TRIB_PEER_INTRA TRIB_PEER_GPU_SEGMENT
most=${PEERS_LARGEST:-16m}
count=0
failed=0
trap ranks_stop EXIT
trap 'exit 130' INT TERM HUP

# report GOOD NAME
report()
{
	((++count))
	if [[ $1 ]]; then
		echo "ok $count - $2"
		return
	fi
	tail -n 6 "$ranks_dir"/[0-9]* | sed 's/^/# /'
	echo "not ok $count - $2"
	failed=1
}

# right WORLD ARG...: all ranks end well, and all values were right.
right()
{
	ranks_start "$1" -D cuda -c 2 "${@:2}"
	ranks_wait && grep -q '^# Out of bounds values : 0 OK' "$ranks_dir/0"
}

# case_of NAME WORLD: all collectives by this way.
case_of()
{
	local what good=1

	for what in allreduce reduce_scatter allgather broadcast; do
		[[ ! $good ]] || right "$2" -C $what -b 4 -e "$most" -f 16 -n 2 -w 0 || good=
	done
	[[ ! $good ]] || right "$2" -b 3m -e 3m -d int32 -o max -n 3 || good=
	[[ ! $good ]] || right "$2" -b 5m -e 5m -o avg -n 3 || good=
	report "$good" "$1"
}

# death NAME WORLD VICTIM: the others name it within two seconds.
death()
{
	local r begun took good=1

	ranks_start "$2" -D cuda -b 8m -e 8m -n 100000 -c 0
	sleep "${PEERS_SETTLE:-4}"
	for ((r = 0; r < $2; r++)); do
		kill -0 "${ranks_pids[r]}" 2>/dev/null || good=
	done
	kill -KILL "${ranks_pids[$3]}"
	begun=$(date +%s%N)
	ranks_wait
	took=$((($(date +%s%N) - begun) / 1000000))
	for ((r = 0; r < $2; r++)); do
		((r == $3)) || grep -q "rank $3" "$ranks_dir/$r" || good=
	done
	((took < ${PEERS_DEATH_MS:-2000})) || good=
	echo "# the others ended after $took ms"
	report "$good" "$1"
}

build/tests/gpu/reduce --find >/dev/null || {
	echo "1..0 # SKIP no GPU"
	exit 4
}

TRIB_PEER_GPU_WAY=ipc
for n in 2 3 4; do
	case_of "ipc__$n processes add each other's areas" $n
done
TRIB_PEER_INTRA=reduce
case_of "ipc__the leader of 4 adds all areas" 4
TRIB_PEER_INTRA='' TRIB_PEER_GPU_SEGMENT=65536
case_of "ipc__many small segments" 3
TRIB_PEER_GPU_SEGMENT=
report "$(right 4 -b 1m -e 1m -p 8 -n 40 -c 1 && echo 1)" "ipc__eight calls under way"
TRIB_PEER_GPU_WAY=host
case_of "host__3 processes by pinned memory" 3
TRIB_PEER_INTRA=none
case_of "host__2 processes over TCP" 2
TRIB_PEER_INTRA='' TRIB_PEER_GPU_WAY=ipc
death "death__the others name the dead rank, by ipc" 3 1
death "death__the others name the dead leader, by ipc" 3 0
TRIB_PEER_GPU_WAY=host
death "death__the others name the dead rank, by host memory" 3 2
echo "1..$count"
exit $failed
