#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Compressed sums through relays: trib-perf -z checks on every rank that
# the values which the leader selected are summed, and the others dropped. The leader
# changes with every message. With /local each rank selects, and relays expand.
# shellcheck disable=SC2317 # functions that are called through ok
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs tribd trib trib-perf

# compressed NAME: sums of several specs and sizes, on the fabric that is up.
compressed()
{
	local name=$1 spec

	for spec in dense 2:4 2:4+int8 int16 1:32+int4 2:4/local 3:8/local; do
		if ! sums -z $spec -b 4 -e 1m -f 64 -n 4 -w 1; then
			diag "$(tail -n 20 "$scratch/out")"
			fail "$name: $spec"
			return
		fi
	done
	ok "$name: averages" sums -z 4:8+int8 -o avg -b 300k -e 300k -n 5
	pass "$name"
}

# ratio NAME SPEC MIN MAX: bytes of floats over bytes sent by rank 0.
ratio()
{
	sums -z "$2" -b 4m -e 4m -n 8 -w 0 -J "$scratch/json"
	within "$1: $2 saves" "$(python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["compression"]["ratio"])' "$scratch/json")" "$3" "$4"
}

# try NAME OPTION...: brings up a fabric, and leaves it up.
try()
{
	local name=$1

	shift
	if up "$@"; then
		compressed "$name"
	else
		fail "$name"
	fi
}

try star_xdp star
is_over "star_xdp: results are mapped" xdp
# 32 bits become 16, or 5.3 or 3.2 with exponents; the leader sends a bit of mask, too.
ratio star_xdp 2:4 1.9 2
ratio star_xdp 2:4+int8 5.5 6
# Half of the values, and a bit for each.
ratio star_xdp 2:4/local 1.8 2
ratio star_xdp 2:4+int4 8.5 10
fabric down

try star_udp_loss star --transport udp --loss 1 --dup 1 --reorder 1
fabric down
try star_xdp_loss star --loss 1
fabric down
try racks tree --racks 2 --workers 2 --loss 1
fabric down
try bcube bcube --loss 1
fabric down
try mtu_3400 star --mtu 3400 --workers 3
fabric down
# Beyond 3500 XDP is generic.
try mtu_9000 star --mtu 9000 --workers 3 --generic
fabric down

# Shared pools: relays that share slots between jobs, and trib-ps, which add words.
shared()
{
	up two-tier 2,2,0 --loss 1 || return
	echo '{"jobs": [{"name": "train", "workers": ["w0", "w1", "w2", "w3"],
		"ps": "ps", "mode": "shared", "max_relays": 2, "window": 64}]}' \
		>"$scratch/jobs"
	build/trib plan "/run/trib-fabric/$fab/topology.json" "$scratch/jobs" \
		-o "$scratch/plan" >/dev/null && fabric apply "$scratch/plan"
}

if shared >"$scratch/out" 2>&1; then
	compressed shared_pool
else
	diag "$(tail -n 20 "$scratch/out")"
	fail shared_pool
fi
fabric down

done_testing
