#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Several ranks on a host: it adds them up, and one packet of it is on the wire.
#
#	w0 (ranks 0 1) --- wire --- r0 --- wire --- w1 (ranks 2 3)
# shellcheck disable=SC2317 # functions that are called through ok and wait_for
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs tribd trib trib-perf scripts/wire/wire

two=(star --workers 2 --ranks 2)

# stats_of HOST COUNTER...: prints counters, in one row.
stats_of()
{
	local host=$1 name out=()

	shift
	for name; do
		out+=("$(stat "$host" "$name")")
	done
	echo "${out[*]}"
}

# share A B: prints A / B.
share() { awk "BEGIN { print $1 / ($2 + 0.001) }"; }

# Contributions that the relay gets for each chunk.
per_chunk() { share "$(stat r0 rx-grad)" "$(stat r0 "done")"; }

# ways: prints how the ranks of w0 send.
ways()
{
	fabric exec w0 -- trib -j tree show 1 | python3 -c "
import json, sys
print(*('%s %s' % (l['way'], l.get('why', '')) for l in json.load(sys.stdin)['local']))"
}

# XDP adds most of what the ranks of each host contribute, and sends one sum.
adds_up()
{
	local host added partial

	for host in w0 w1; do
		read -r added partial <<<"$(stats_of "$host" added-here tx-partial)"
		within "$1: $host adds ranks up in frames of results" \
			"$(share "$added" "$partial")" 0.5 2
	done
	within "$1: one packet a host" "$(per_chunk)" 1.9 2.3
}

is_checked()
{
	ok "$1" sums "${@:2}"
	((tap_failed == 0)) || diag "$(tail -n 20 "$scratch/out")"
}

for ip in "" --ipv6; do
	case_of "two$ip" "${two[@]}" $ip
	is_over "two$ip: results are mapped" xdp
	is_checked "two$ip: large sums" -b 4m -e 4m -n 10 -w 1
	is "two$ip: XDP sends for both" "$(ways)" "reflex  reflex "
	adds_up "two$ip"
	fabric down
done

# The same network and job, without adding up, or by sockets alone.
case_of apart "${two[@]}" --apart
within "apart: one packet a rank" "$(per_chunk)" 3.8 4.5
matches "apart: it says so" "$(ways)" "socket 2 ranks of the tree are on this host, each a child of up"
fabric down
case_of off "${two[@]}" --no-reflex
is "off: one packet a host, by sockets" "$(ways) $(stat w0 added-here)" \
	"socket tribd runs with --no-reflex socket tribd runs with --no-reflex 0"
within "off: the wire carries the same" "$(per_chunk)" 1.9 2.3
fabric down

# More ranks than CPUs, and hosts below racks.
case_of five star --workers 2 --ranks 5
adds_up_five=$(stats_of w1 added-here)
within "five: XDP adds up" "$adds_up_five" 100 1e9
fabric down
case_of racks tree --racks 2 --workers 2 --ranks 2
within "racks: XDP adds up" "$(stat w3 added-here)" 100 1e9
fabric down

# pid_on HOST: prints the process of a rank there.
pid_on() { basename "$(grep -l "^$1\$" "/run/trib-fabric/$fab/run/"* | head -n 1)"; }

is_moving() { (($(stat r0 "done") > $1 + 100)); }

# begin ARG...: sums in the background, and waits until they are under way.
begin()
{
	local before

	before=$(stat r0 "done")
	timeout 120 scripts/fabric -n "$fab" run --fail-fast -- trib-perf -c 2 -d int32 \
		-w 0 "$@" >"$scratch/out" 2>&1 &
	running=$!
	wait_for 20 is_moving "$before"
}

# goes_well NAME: the sums in the background end, and are right.
goes_well()
{
	wait $running
	is "$1" "$? $(grep -c '^# Out of bounds values : 0 OK' "$scratch/out")" "0 1"
	((tap_failed == 0)) || diag "$(tail -n 20 "$scratch/out")"
}

# One of the ranks of w0 is late, again and again.
late()
{
	local pid i

	begin -b 1m -e 1m -n 200
	pid=$(pid_on w0)
	for ((i = 0; i < 10; i++)); do
		kill -STOP "$pid"
		sleep 0.1
		kill -CONT "$pid"
		sleep 0.05
	done 2>/dev/null
	goes_well "late: sums are right while a rank stands still again and again"
}

# The host's own slots are lost, and its tribd dies.
faults()
{
	local i

	begin -b 1m -e 1m -n 200
	for ((i = 0; i < 10; i++)); do
		fabric exec w0 -- trib tree wipe 1
		sleep 0.05
	done
	ok "wiped: it was while sums are under way" kill -0 $running
	goes_well "wiped: sums are right while the host loses its slots"
}

up "${two[@]}"
late
faults
adds_up "late and wiped"
fabric down

# The planner makes the same of a job with several ranks a host.
planned()
{
	cat >"$scratch/jobs.json" <<-'EOF'
		{"jobs": [{"name": "train", "workers": "all", "max_relays": 2,
			   "ranks": 2, "trees": 1}]}
		EOF
	up two-tier 2,2
	ok "planned: there is a plan" "$TRIB_BUILD/trib" plan \
		"/run/trib-fabric/$fab/topology.json" "$scratch/jobs.json" -o "$scratch/plan.json"
	ok "planned: it comes to all hosts" scripts/fabric -n "$fab" apply "$scratch/plan.json"
	is_checked "planned: large sums" -b 4m -e 4m -n 10 -w 1
	is "planned: XDP sends for both" "$(ways)" "reflex  reflex "
	within "planned: XDP adds up" "$(stat w3 added-here)" 100 1e9
	fabric down
}
planned

# A few losses leave ranks with XDP; many make them send by their windows.
faulty_few()
{
	case_of loss_0.2 "${two[@]}" --loss 0.2 --dup 0.2
	within "loss_0.2: XDP adds up" "$(stat w0 added-here)" 100 1e9
	fabric down
}
faulty_few
faulty_case loss_1 "${two[@]}" --loss 1
faulty_case loss_5 "${two[@]}" --loss 5
faulty_case faults "${two[@]}" --loss 1 --dup 1 --reorder 1

done_testing
