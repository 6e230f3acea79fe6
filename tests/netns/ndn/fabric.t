#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2317,SC2016 # functions that wait_for calls; shells expand
# fabric up --ndn: every host can be reached by its name, distributions of the PS
# are copied to all subscribers, and aggregation continues beside them.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_programs tribd trib trib-perf scripts/wire/wire
hand=$PWD/tests/netns/ndn/ndn_host.py
pids=()
trap 'rc=$?; kill ${pids[@]+"${pids[@]}"} 2>/dev/null; (exit $rc); cleanup' EXIT

# serve HOST NAME VERSION COUNT: run in the background; its pid comes last.
serve()
{
	# Old output must not count.
	rm -f "$scratch/$1"
	# Not by fabric(): $! must be the program itself.
	scripts/fabric -n "$fab" exec "$1" -- "$hand" serve "${@:2}" \
		>"$scratch/$1" 2>&1 &
	pids+=($!)
	wait_for 10 grep -q ready "$scratch/$1"
}

end_servers()
{
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	pids=()
}

subscribed() { (($(grep -c subscribed "$scratch/workers") == $1)); }

# reaches KIND LAST WORKERS: Interests pass all relays in both directions.
reaches()
{
	serve ps /ps/train 1 1
	ok "ndn__lead_to_the_ps: $1" \
		fabric exec "$2" -- "$hand" ask "/ps/train/$2"
	end_servers
	serve "$2" "/$2" 1 1
	ok "ndn__lead_to_workers: $1" \
		fabric exec ps -- "$hand" ask "/$2/ps/train"
	end_servers
}

# distributes KIND WORKERS: Data sent once is copied to each worker.
distributes()
{
	local rc=0 run relay

	serve ps /ps/train 4294967297 3
	: >"$scratch/workers"
	fabric run --tag -- "$hand" subscribe /ps/train 3 \
		>"$scratch/workers" 2>&1 &
	run=$!
	wait_for 20 subscribed "$2"
	kill -USR1 "${pids[0]}"
	wait $run || rc=$?
	((rc == 0)) || diag "$(grep -v subscribed "$scratch/workers"
		for relay in $(fabric status | awk '$2 == "relay" {print $1}'); do
			echo "$relay:"
			fabric exec "$relay" -- trib stats | grep '^ndn-'
		done)"
	is "ndn__distribute_to_all: $1" \
		"$rc $(grep -c subscribed "$scratch/workers")" "0 $2"
	end_servers
}

traces()
{
	ip netns list | awk '{print $1}' | grep "^$fab-"
	ls -d "/run/trib-fabric/$fab" /run/trib/"$fab"-* \
		/sys/fs/bpf/trib/"$fab"-* 2>/dev/null
}

shapes_forward_names()
{
	local k last n

	for k in "w1 2 star --workers 2" "w3 4 tree --ps-host 1" \
		"w3 4 two-tier 2,2,1" "w3 4 two-tier 2,2,0 --rate 200m" \
		"w1 2 star --workers 2 --one-nic" "w1 2 star --workers 2 --ipv6" \
		"w1 2 star --workers 2 --generic --transport udp"; do
		read -r last n k <<<"$k"
		new_fabric
		# shellcheck disable=SC2086 # options
		if ! fabric up $k --ndn >/dev/null; then
			fail "up__ndn: $k"
			continue
		fi
		reaches "$k" "$last"
		distributes "$k" "$n"
		fabric down
		is "down__leaves_nothing: $k" "$(traces)" ""
	done
}

# The same faces serve NDN and aggregation.
sums_go_on()
{
	new_fabric
	fabric up star --workers 2 --ndn >/dev/null
	is "env__says_who_and_where" "$(fabric run -- sh -c \
		'echo $TRIB_JOB $TRIB_PS_NAME $TRIB_PS_FORWARDER' | sort |
		paste -sd " ")" "train /w0 10.77.0.1 train /w1 10.77.1.1"
	matches "status__says_names" "$(fabric status | head -n 1)" ', ndn$'
	ok "star__sums_go_on" fabric run -- trib-perf -b 4k -e 4k
	distributes "beside sums" 2
	fabric down
	new_fabric
	fabric up two-tier 2,2,1 --ndn >/dev/null
	echo '{"jobs": [{"name": "few", "workers": ["w0", "w3"],
		"max_relays": 1}]}' \
		>"$scratch/jobs"
	"$TRIB_BUILD/trib" plan "/run/trib-fabric/$fab/topology.json" \
		"$scratch/jobs" -o "$scratch/plan" >/dev/null
	is "run__without_a_job_takes_all_but_the_ps" \
		"$(fabric run -- printenv TRIB_PS_NAME | sort | paste -sd " ")" \
		"/w0 /w1 /w2 /w3"
	distributes "before a plan" 4
	ok "apply__uses_the_faces_of_names" fabric apply "$scratch/plan"
	ok "two_tier__sums_go_on" fabric run --job few -- trib-perf -b 4k -e 4k
	reaches "with a plan" w3
	fabric down
	is "down__leaves_nothing_of_both" "$(traces)" ""
}

shapes_forward_names
sums_go_on
done_testing
