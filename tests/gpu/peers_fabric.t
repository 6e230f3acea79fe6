#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Values in GPU memory on two emulated hosts of two ranks, all on one GPU: the ranks of a
# host add each other's areas, leaders carry the sums over TCP. Needs root; no relay, no
# BPF. TRIB_GPU_LIBRARY names the library.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../netns/lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

export TRIB_GPU_LIBRARY=${TRIB_GPU_LIBRARY:-$PWD/build/libtrib-gpu.so}
export TRIB_PEER_GPU_WAY TRIB_PEER_INTRA

need_root
need_programs trib-perf
build/tests/gpu/reduce --find >/dev/null || skip_all "no GPU"

# by NAME: all collectives by this way.
by()
{
	local what

	for what in allreduce reduce_scatter allgather broadcast; do
		sums --device cuda -C "$what" -b 4 -e 4m -f 32 -n 2 -w 0 && continue
		diag "$(tail -n 20 "$scratch/out")"
		fail "$1: $what"
		return
	done
	ok "$1: averages" sums --device cuda -o avg -b 3m -e 3m -n 3
	pass "$1"
}

up star --plain --one-nic --workers 2 --ranks 2
TRIB_PEER_GPU_WAY=ipc
by "areas of two hosts"
TRIB_PEER_INTRA=reduce
by "areas of two hosts, the leaders add"
TRIB_PEER_INTRA='' TRIB_PEER_GPU_WAY=host
by "pinned memory of two hosts"
fabric down
done_testing
