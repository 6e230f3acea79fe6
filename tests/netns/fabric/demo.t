#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A small demo: it prints every part and leaves nothing behind, also when it is
# interrupted.
# shellcheck disable=SC2317 # functions that check calls
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
((EUID == 0)) || { echo "1..0 # SKIP needs root"; exit 4; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
count=0 failed=0
export NO_COLOR=1

check()
{
	local name=$1 not=
	shift
	"$@" || { not="not "; failed=1; }
	echo "${not}ok $((++count)) - $name"
	[[ ! $not ]] || sed 's/^/# /' "$out"
}

has() { grep -qE -- "$1" "$out"; }

# Fails if the demo of process $1 has left namespaces, folders or pins.
nothing_left()
{
	local left

	left=$(ip netns list | grep "^demo$1-"
		ls -d /run/trib-fabric/demo"$1" /sys/fs/bpf/trib/demo"$1"-* \
			2>/dev/null)
	[[ ! $left ]] || { echo "# left: $left"; return 1; }
}

scripts/demo --epochs 2 --samples 8192 >"$out" 2>&1 &
pid=$!
wait $pid
check demo__succeeds test $? = 0
check demo__trains has 'epoch +2/2 .*test +[0-9.]+ %'
check demo__proves_parameters_identical has 'bit-identical on all 4 ranks'
check demo__compares_with_a_ring has 'a ring sends and receives'
check demo__shows_the_relay_s_counters has '^ +added +[1-9][0-9]+ '
check demo__shows_the_map has '^ +"added": [1-9]'
check demo__shows_who_was_late has 'MEAN LAG'
check demo__leaves_nothing nothing_left $pid

DEMO_VERSIONS=400 scripts/demo ndn --samples 4096 --hidden 32 >"$out" 2>&1 &
pid=$!
wait $pid
check demo_ndn__succeeds test $? = 0
check demo_ndn__shows_who_subscribes has '/ps/demo +confirmed .* r1,r2 '
check demo_ndn__has_one_model has 'same last version, to the bit'
check demo_ndn__counts_copies has 'ndn-tx-copy +[1-9]'
check demo_ndn__goes_on_asynchronously has 'worker 3: last version 4000'
check demo_ndn__leaves_nothing nothing_left $pid

# Interrupts the whole process group, as a terminal does. (Background processes of
# a shell ignore interrupts by default.)
env --default-signal=INT setsid scripts/demo --epochs 1000 >"$out" 2>&1 &
pid=$!
for ((i = 0; i < 300; i++)); do
	has 'epoch +1/' && break
	sleep 0.1
done
kill -INT -- -$pid
wait $pid
check demo__interrupted_says_so test $? = 130
check demo__interrupted_leaves_nothing nothing_left $pid
echo "1..$count"
exit "$failed"
