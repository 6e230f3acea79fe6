#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# tribd and trib-ps under the confinement of their unit files: jobs, delivery by
# memory, NDN, shared pools; ports that somebody touches.
# shellcheck disable=SC2317 # functions are called by ok
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

SUMS_LARGEST=256k
need_root
need_programs tribd trib trib-perf trib-ps
command -v systemd-analyze >/dev/null ||
	skip_all "no systemd-analyze, which knows the groups of system calls"
[[ $(uname -m) == x86_64 ]] || skip_all "knows the system calls of x86-64 only"

# A folder of programs in which the services are confined.
real=$(realpath "$TRIB_BUILD")
TRIB_BUILD=$scratch/build
mkdir "$TRIB_BUILD"
ln -s "$real"/* "$TRIB_BUILD"
for unit in userspace/daemon/tribd userspace/ps/trib-ps; do
	program=${unit##*/}
	rm "$TRIB_BUILD/$program"
	printf '#!/bin/sh\nexec %s %s %s "$@"\n' "$PWD/tests/netns/lib/confine" \
		"$PWD/$unit.service" "$real/$program" >"$TRIB_BUILD/$program"
	chmod +x "$TRIB_BUILD/$program"
done

# is_confined NAME CAPS: the process of NAME.pid has a filter, and no more rights.
is_confined()
{
	local pid

	pid=$(<"/run/trib-fabric/$fab/$1.pid")
	grep -qx 'Seccomp:	2' "/proc/$pid/status" &&
		grep -qx "CapBnd:	$2" "/proc/$pid/status"
}

# IPv6 is off in a fabric without it, and the kernel calls that a denial.
no_refusals()
{
	! grep -hiE 'not permitted|denied' "/run/trib-fabric/$fab/"{,*/}*.log |
		grep -v 'without IPv6'
}

# Somebody takes the filter off a port, and the device down; tribd puts all back.
recovers()
{
	local dev

	dev=$(fabric exec r0 -- ip -o link | awk -F'[ :@]+' '/xdp/ {print $2; exit}')
	fabric exec r0 -- tc qdisc del dev "$dev" clsact
	fabric exec r0 -- ip link set "$dev" down
	fabric exec r0 -- ip link set "$dev" up
	wait_for 20 sh -c "scripts/fabric -n $fab exec r0 -- tc qdisc show dev $dev |
		grep clsact >/dev/null"
}

pool_sums()
{
	echo '{"jobs": [{"name": "train", "ps": "ps", "workers": "all", "max_relays": 2,
		"mode": "shared"}]}' \
		>"$scratch/jobs.json"
	"$TRIB_BUILD/trib" plan "/run/trib-fabric/$fab/topology.json" "$scratch/jobs.json" \
		-o "$scratch/plan.json" || return
	fabric apply "$scratch/plan.json" || return
	fabric run --job train -- trib-perf -b 64k -e 64k -n 5 -w 1 -c 2
}

case_of star star --workers 2 --ndn
ok "star: tribd is confined" is_confined r0 000000c000281004
ok "star: ports are put back" recovers
ok "star: sums again" sums -b 4 -e 64k -f 16 -n 5 -w 1
ok "star: doctor finds no fault" fabric exec r0 -- trib doctor
ok "star: no system call was refused" no_refusals
fabric down
up two-tier 2,2,0 || fail "pool: two racks"
ok "pool: sums with trib-ps" pool_sums
ok "pool: trib-ps is confined" is_confined ps/ps 0000000000001400
ok "pool: no system call was refused" no_refusals
fabric down
done_testing
