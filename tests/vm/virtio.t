#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A worker behind virtio network cards, as virtual machines have: XDP is native, answers
# results in their frames, and the sums are right. Its card and the relay's hang on one hub.
#
#	worker vio-w0 p0 ==== p0 relay vio-r p1 ---- p0 vio-w1 worker (a veth)
# shellcheck disable=SC2317 # functions that ok and the trap call
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=tests/netns/lib/test.sh
. tests/netns/lib/test.sh
need_root
need_programs tribd trib trib-perf
PATH=$PWD/$TRIB_BUILD:$PATH
key=000102030405060708090a0b0c0d0e0f
hosts=(vio-r vio-w0 vio-w1)

at_exit()
{
	local pid

	for pid in "$scratch"/*.pid; do
		kill "$(<"$pid")" 2>/dev/null
	done
	wait
	for host in "${hosts[@]}"; do
		ip netns del "$host" 2>/dev/null
		rm -rf "/sys/fs/bpf/trib/$host"
	done
}

on() { ip netns exec "$1" "${@:2}"; }

# The device with a MAC address that scripts/vm gives.
card() { ip -o link | sed -n "s/^[0-9]*: \([^:@]*\).*52:54:00:00:00:$1.*/\1/p"; }

# place DEVICE HOST NAME ADDRESS
place()
{
	ip link set "$1" netns "$2" name "$3" &&
		on "$2" ip addr add "$4/24" dev "$3" &&
		on "$2" ip link set "$3" up && on "$2" ip link set lo up
}

network()
{
	local host

	for host in "${hosts[@]}"; do
		ip netns add "$host" || return
	done
	place "$(card 01)" vio-r p0 10.77.0.1 && place "$(card 02)" vio-w0 p0 10.77.0.2 &&
		ip link add vio0 type veth peer name vio1 &&
		place vio0 vio-r p1 10.77.1.1 && place vio1 vio-w1 p0 10.77.1.2 &&
		on vio-r ethtool -K p1 gro on && on vio-w1 ethtool -K p0 gro on
}

# daemon HOST
daemon()
{
	nsenter --net="/run/netns/$1" -- tribd --instance "$1" \
		>"$scratch/$1.log" 2>&1 &
	echo $! >"$scratch/$1.pid"
	for _ in {1..2500}; do
		on "$1" trib status >/dev/null 2>&1 && return
		sleep 0.1
	done
	diag "$(cat "$scratch/$1.log")"
	return 1
}

# worker HOST INDEX RELAY
worker()
{
	on "$1" trib face add r dev p0 addr "$3" &&
		on "$1" trib job add train world 2 id 1 key "$key" &&
		on "$1" trib tree add train id 1 parent r index "$2" local "$2"
}

relay()
{
	on vio-r trib face add w0 dev p0 addr 10.77.0.2 &&
		on vio-r trib face add w1 dev p1 addr 10.77.1.2 &&
		on vio-r trib job add train world 2 id 1 key "$key" &&
		on vio-r trib tree add train id 1 child w0:0 child w1:1
}

rank()
{
	TRIB_JOB=train TRIB_RANK=$2 on "$1" trib-perf -b 1M -e 1M -n 8 -c 2 \
		-J "$scratch/$1.json" >"$scratch/$1.out" 2>&1
}

sums()
{
	local one rc=0

	rank vio-w1 1 &
	one=$!
	rank vio-w0 0 || rc=1
	wait "$one" || rc=1
	cat "$scratch"/*.out
	return "$rc"
}

# Results that came after XDP had sent the contribution.
carried() { sed -n 's/.*"carried": \([0-9]*\).*/\1/p' "$scratch/vio-w0.json"; }

modprobe virtio_net 2>/dev/null
ok fabric__has_the_names_of_this_hosts_cards scripts/fabric -n vio up star --workers 2 --loss 1
scripts/fabric -n vio down >/dev/null
ok network__of_virtio_cards network
for host in "${hosts[@]}"; do
	ok "${host}__daemon" daemon "$host"
done
ok relay__has_a_tree relay
ok worker__behind_virtio worker vio-w0 0 10.77.0.1
ok worker__behind_veth worker vio-w1 1 10.77.1.1
matches card__runs_native_xdp "$(on vio-w0 trib face show r)" native
ok sums__are_right sums
matches contributions__left_in_the_frames_of_results "$(carried)" '^[1-9][0-9]+$'
done_testing
