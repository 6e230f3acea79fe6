#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Peers over RDMA between two virtual machines, by native verbs on soft-RoCE: two ranks,
# and a hierarchy of two ranks a machine.
#
#	VM 0: end -- virtio card -- socket -- virtio card -- VM 1: end
# shellcheck disable=SC2317 # called by t
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -r "$scratch"' EXIT
n=0 failed=0

# vm MACHINE ARG...: ARG are those of end.
vm()
{
	local me=$1 card

	card="-netdev dgram,id=pair,local.type=unix,local.path=$scratch/s$me"
	card+=",remote.type=unix,remote.path=$scratch/s$((1 - me))"
	card+=" -device virtio-net-pci,netdev=pair,mac=52:54:00:77:00:0$me,romfile="
	exec scripts/vm -m 1024 -t 300 -q "$card" -- tests/vm/pair/end "$@" >"$scratch/out$me" 2>&1
}

# sums WORLD PER SAYS ARG...: on both machines; the first line of rank 0 has SAYS.
sums()
{
	local world=$1 per=$2 says=$3 rc=0 other

	shift 3
	(vm 1 "$world" "$per" "$@") &
	other=$!
	(vm 0 "$world" "$per" "$@") || rc=1
	wait "$other" || rc=1
	((rc == 0)) && grep -q '^# Out of bounds values : 0 OK' "$scratch/out0" &&
		head -n 1 "$scratch/out0" | grep "$says.*verbs" >/dev/null
}

t()
{
	local name=$1

	shift
	"$@" && { echo "ok $((++n)) - $name"; return; }
	tail -n 20 "$scratch"/out* | sed 's/^/# /'
	echo "not ok $((++n)) - $name"
	failed=1
}

few=(-b 4 -e 64k -f 128)
t ring__of_two_machines sums 2 1 ring -A ring "${few[@]}"
t hierarchy__of_two_machines_with_two_ranks sums 4 2 hierarchy -A auto "${few[@]}"
echo "1..$n"
exit $failed
