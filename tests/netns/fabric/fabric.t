#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016 # workers' shells are to expand
# scripts/fabric: wires have their rate and faults, fabrics do not disturb each
# other, run and exec work, and down leaves nothing behind.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_programs scripts/wire/wire
NL=$'\n'

# rate HOST DEVICE BYTES: prints the Mb/s that arrive there in frames of BYTES: the
# fastest of eight seconds, because other processes may use the CPU.
rate()
{
	fabric exec "$1" -- python3 -c "
import time
def packets():
    for line in open('/proc/net/dev'):
        if line.strip().startswith('$2:'):
            return int(line.split()[2]), time.monotonic()
start = packets()[0]
while packets()[0] < start + 2000:
    time.sleep(0.1)
seen = [packets()]
for _ in range(8):
    time.sleep(1)
    seen.append(packets())
rates = [(b - a) / (now - then) for (a, then), (b, now) in zip(seen, seen[1:])]
print(max(rates) * $3 * 8 / 1e6)"
}

# Prints everything of fabric $1 that is left in the system, one thing a line.
traces()
{
	ip netns list | awk '{print $1}' | grep "^$1-"
	ls -d "/run/trib-fabric/$1" /run/trib/"$1"-* /sys/fs/bpf/trib/"$1"-* \
		"/sys/fs/bpf/trib-fabric-$1" 2>/dev/null
	pgrep -af -- "(instance $1-|trib-fabric-$1 )"
}

# shellcheck disable=SC2317 # called through ok
leaves_nothing() { local t; t=$(traces "$1"); echo "$t"; [[ ! $t ]]; }

bad()
{
	local text rc=0

	text=$(fabric up "$@" 2>&1) || rc=$?
	is "up_refuses: $*" "$rc $(wc -l <<<"$text") $(traces "$fab" | wc -l)" \
		"2 1 0"
}

wires_have_their_rate()
{
	local link to device from address pid

	new_fabric
	fabric up star --plain --workers 2 --rate 100m >/dev/null
	for link in "r0 p0 w0 10.77.0.1" "w0 eth0 r0 10.77.0.2"; do
		read -r to device from address <<<"$link"
		fabric exec "$to" -- iperf3 -s -1 -D
		wait_for 5 fabric exec "$to" -- sh -c 'ss -ltn | grep :5201 >/dev/null'
		# Sends more than the wire carries; 1042 bytes with all headers.
		fabric exec "$from" -- iperf3 -c "$address" -u -b 300M -l 1000 \
			-t 30 >/dev/null 2>&1 &
		pid=$!
		within "wire__rate_is_right: $from to $to" \
			"$(rate "$to" "$device" 1042)" 95 105
		kill $pid
	done
	ok "fabric__workers_reach_each_other_over_the_relay" \
		fabric exec w0 -- ping -q -c 1 -W 2 10.77.1.2
	fabric down
}

# share PART WHOLE: prints it in percent.
share() { awk "BEGIN { print 100 * $1 / $2 }"; }

wires_have_their_faults()
{
	local got doubled late n=8000 to from

	new_fabric
	fabric up star --plain --workers 1 --loss 10% --dup 5 --reorder 20 \
		>/dev/null
	for to in "w0 10.77.0.2 r0" "r0 10.77.0.1 w0"; do
		read -r to address from <<<"$to"
		fabric exec "$to" -- tests/netns/fabric/datagrams receive 9000 \
			>"$scratch/got" &
		wait_for 5 grep -q ready "$scratch/got"
		# Resolves the address first: packets that wait for ARP are lost.
		wait_for 20 fabric exec "$from" -- ping -q -c 1 -W 1 "$address"
		fabric exec "$from" -- \
			tests/netns/fabric/datagrams send "$address" 9000 $n
		wait $!
		read -r got doubled late < <(tail -n 1 "$scratch/got")
		diag "$from to $to: $got of $n, $doubled twice, $late late"
		# Share of the packets that arrived. Copies are never delayed, so
		# doubled packets do not count as late.
		within "wire__loses: $from to $to" "$(share $((n - got)) $n)" \
			8.5 11.5
		within "wire__doubles: $from to $to" "$(share "$doubled" $n)" \
			3.5 5.5
		within "wire__reorders: $from to $to" "$(share "$late" $n)" \
			10 19
	done
	fabric down
}

fabrics_live_side_by_side()
{
	local one two

	new_fabric
	one=$fab
	fabric up star --plain --workers 1 >/dev/null
	new_fabric
	two=$fab
	fabric up star --plain --workers 1 --mtu 3000 --loss 1 >/dev/null
	is "fabric__two_have_networks_of_their_own" \
		"$(scripts/fabric -n "$one" exec w0 -- cat /proc/net/arp | wc -l
		   scripts/fabric -n "$one" exec w0 -- ip -o link show eth0 |
			grep -c 'mtu 1500'
		   scripts/fabric -n "$two" exec w0 -- ip -o link show eth0 |
			grep -c 'mtu 3000')" $'1\n1\n1'
	is "up__refuses_a_name_in_use" \
		"$(scripts/fabric -n "$one" up star --plain 2>&1)" \
		"fabric: fabric $one is up; run: scripts/fabric -n $one down"
	scripts/fabric -n "$two" down
	ok "down__leaves_nothing_behind" leaves_nothing "$two"
	ok "down__leaves_others_alone" \
		scripts/fabric -n "$one" exec w0 -- ping -q -c 1 10.77.0.1
	scripts/fabric -n "$one" down
	is "down__says_when_there_is_nothing" \
		"$(scripts/fabric -n "$one" down 2>&1)" \
		"fabric: no fabric $one is up"
}

shapes_are_connected()
{
	local k

	for k in "star --workers 3:10.77.2.2" "star --ipv6:fd77:0:0:3::2" \
		"star --one-nic:10.77.0.5" "tree --racks 3:10.77.8.2" \
		"star --mtu 9000 --generic:10.77.2.2" "star --mtu 9000:10.77.2.2" \
		"two-tier 2,2,1:10.77.6.2"; do
		new_fabric
		# shellcheck disable=SC2086 # options
		fabric up ${k%%:*} --plain >/dev/null
		ok "up__connects: ${k%%:*}" \
			fabric exec w0 -- ping -q -c 1 -W 2 "${k#*:}"
		[[ $k != *9000* ]] || ok "up__carries_long_frames: ${k%%:*}" \
			fabric exec w0 -- ping -q -c 1 -W 2 -s 8972 -M "do" "${k#*:}"
		fabric down
	done
}

fat_trees_are_connected()
{
	new_fabric
	fabric up fat-tree 2 --plain --rate 1g >/dev/null
	ok "up__connects: fat-tree 2" fabric exec h0 -- \
		ping -q -c 1 -W 2 10.77.5.2
	fabric down
}

# Links, roles and addresses of a file; fabric invents missing ones and writes them
# down.
files_are_built()
{
	local rates text

	new_fabric
	cat >"$scratch/topo.json" <<-'EOF'
	{"switches": ["s", {"name": "t.0", "relay": false}],
	 "hosts": ["a", "b"], "capacity": "1G",
	 "links": [{"a": "s", "b": "t.0", "capacity": "20M"},
	           {"a": "a", "b": "s", "a_dev": "nic", "a_addr": "192.0.2.7",
	            "capacity": "50M"},
	           {"a": "t.0", "b": "b"}]}
	EOF
	fabric up file "$scratch/topo.json" >/dev/null
	rates=$(fabric exec wires -- tc qdisc show | grep -o 'rate [^ ]*' |
		sort | uniq -c | awk '{print $1 "*" $3}' | tr '\n' ' ')
	is "file__links_have_their_capacity" "$rates" "2*1Gbit 2*20Mbit 2*50Mbit "
	ok "file__hosts_are_connected" fabric exec a -- \
		ping -q -c 1 -W 2 10.77.2.2
	ok "file__addresses_are_those_given" fabric exec b -- \
		ping -q -c 1 -W 2 192.0.2.7
	text=$(fabric status)
	matches "file__relays_run_tribd" "$text" 's +relay .* pid [0-9]'
	matches "file__other_switches_do_not" "$text" 't.0 +router +[^ ]+ +- +-'
	text=${text#*topology: }
	text=${text%%$'\n'*}
	ok "file__complete_topology_is_the_same" \
		"$TRIB_BUILD/trib" plan network "$text" -o "$scratch/again"
	ok "file__its_network_too" cmp "$scratch/again" \
		"/run/trib-fabric/$fab/network.json"
	echo '{"jobs": [{"name": "few", "workers": ["b", "a"], "max_relays": 1},
		{"name": "one", "workers": ["a"], "ps": "b", "max_relays": 0}]}' >"$scratch/jobs"
	"$TRIB_BUILD/trib" plan "$text" "$scratch/jobs" -o "$scratch/plan" \
		>/dev/null
	matches "apply__diff_brings_nothing" \
		"$(fabric apply "$scratch/plan" --diff; fabric run --job few -- true 2>&1)" \
		"no plan brought 'few'"
	matches "apply__refuses_what_is_no_plan" \
		"$(fabric apply "$scratch/jobs" 2>&1)" "jobs is no plan: make one with 'trib plan"
	ok "apply__brings_jobs" fabric apply "$scratch/plan"
	is "run__workers_of_a_job" "$(fabric run --job few --tag -- \
		sh -c 'echo $TRIB_JOB $RANK/$WORLD_SIZE' | sort | tr '\n' ' ')" \
		"a: few 1/2 b: few 0/2 "
	matches "run__asks_which_of_several_jobs" \
		"$(fabric run -- true 2>&1)" '2 jobs: --job says which'
	ok "apply__jobs_sum" fabric run --job few -- trib-perf -b 4k -e 4k
	fabric down
	ok "down__leaves_nothing_of_a_file" leaves_nothing "$fab"
	fabric up file "$scratch/topo.json" --no-rate --plain >/dev/null
	ok "file__no_rate_needs_no_wires" test ! -e "/run/netns/$fab-wires"
	fabric down
}

run_behaves()
{
	local out rc=0 start=$SECONDS pid

	new_fabric
	fabric up star --plain --workers 3 >/dev/null
	out=$(fabric run --tag -- sh -c 'echo $RANK/$WORLD_SIZE $TRIB_RANK/$TRIB_WORLD' |
		sort | tr '\n' ' ')
	is "run__sets_rank_and_world" "$out" \
		"w0: 0/3 0/3 w1: 1/3 1/3 w2: 2/3 2/3 "
	fabric run -- sh -c 'exit $((TRIB_RANK * 3))' 2>/dev/null || rc=$?
	is "run__exit_status_is_the_worst" $rc 6
	rc=0
	fabric run --fail-fast -- sh -c '[ $RANK != 1 ] || exit 5; exec sleep 60' \
		2>/dev/null || rc=$?
	is "run__fail_fast_ends_the_others" \
		"$rc $((SECONDS - start < 20))" "5 1"
	is "run__only_the_chosen" "$(fabric run --only w2,w0 --tag -- \
		sh -c 'echo $RANK' | sort | tr '\n' ' ')" "w0: 0 w2: 2 "

	fabric run -- sleep 60 2>/dev/null &
	pid=$!
	wait_for 5 pgrep -f '^sleep 60$'
	sleep 0.3
	kill $pid
	rc=0
	wait $pid || rc=$?
	is "run__passes_signals_on" $rc 143
	rc=0
	fabric exec w7 -- true 2>/dev/null || rc=$?
	is "exec__refuses_unknown_hosts" $rc 1
	rc=0
	fabric exec w1 -- sh -c 'exit 9' || rc=$?
	is "exec__gives_the_exit_status" $rc 9

	fabric run -- sleep 61 2>/dev/null &
	wait_for 5 pgrep -f '^sleep 61$'
	fabric down
	wait $!
	ok "down__ends_what_still_runs" leaves_nothing "$fab"
}

# A build whose daemon cannot start.
up_is_all_or_nothing()
{
	local rc=0

	new_fabric
	mkdir -p "$scratch/broken/scripts/wire"
	ln -s "$PWD/$TRIB_BUILD/scripts/wire/wire" "$scratch/broken/scripts/wire/"
	printf '#!/bin/sh\nexit 1\n' >"$scratch/broken/tribd"
	cp "$scratch/broken/tribd" "$scratch/broken/trib"
	chmod +x "$scratch"/broken/trib*
	TRIB_BUILD=$scratch/broken fabric up star --loss 1 >/dev/null 2>&1 ||
		rc=$?
	is "up__says_when_a_daemon_fails" $rc 1
	ok "up__leaves_nothing_of_a_failure" leaves_nothing "$fab"
}

daemons_come_and_go()
{
	local pid

	need_programs tribd trib
	new_fabric
	ok "up__starts_daemons" fabric up star --workers 2
	ok "exec__reaches_tribd" fabric exec r0 -- trib status
	pid=$(fabric status | awk '$1 == "w1" {print $NF}')
	kill -KILL "$pid"
	wait_for 5 sh -c "! kill -0 $pid"
	matches "status__shows_dead_daemons" "$(fabric status)" 'w1 .*DEAD'
	fabric down
	ok "down__works_with_a_dead_daemon" leaves_nothing "$fab"
}

wires_have_their_rate
wires_have_their_faults
fabrics_live_side_by_side
shapes_are_connected
fat_trees_are_connected
files_are_built
run_behaves
up_is_all_or_nothing
daemons_come_and_go

new_fabric
bad ring
bad star --loss 101
bad star --loss x
bad star --workers 0
bad star --workers 65
bad star --rate fast
bad star --rate 1k
bad star --mtu
bad star --mtu 100
bad star --mtu 3501
bad two-tier 2,2 --mtu 9000
bad star --vlan 4095
bad star --transport tcp
bad star --generic --loss 1
bad tree --one-nic
bad star --nonsense 3
bad star surplus
bad file
bad two-tier --rate 1g
bad two-tier 2,2 --workers 3
bad fat-tree 4 --ipv6
bad file x --rate 1g
bad star --no-rate
bad star --ndn --plain
bad star --ndn --ps-host 1
bad star --ps-host 0
bad tree --ndn --ps-host 3
bad bcube --ndn
bad fat-tree 4 --ndn
bad two-tier 2,2 --ndn
bad two-tier 2,2,1 --ndn --ps-host 1

# Refused by the planner, or for a name: two lines, the mistake and the file.
echo '{"hosts": ["a", "wires"], "links": [{"a": "a", "b": "wires"}]}' \
	>"$scratch/topo.json"
for spec in "two-tier 2" "fat-tree 3" "file /none" "file $scratch/topo.json"; do
	# shellcheck disable=SC2086 # a kind and what goes with it
	matches "up_refuses: ${spec/$scratch/}" "$(fabric up $spec 2>&1; echo $?)" \
		"^[^$NL]+${NL}fabric: no [^$NL]+${NL}1\$"
done
ok "up__leaves_nothing_of_these" leaves_nothing "$fab"

done_testing
