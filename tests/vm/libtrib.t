#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Four workers of a star, whose hosts have no tribd: w0 and w1 take part by
# collective sockets, w2 and w3 by UDP.
# shellcheck disable=SC2317 # called by t
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
star=lsock
trib=$PWD/build/trib
tmp=$(mktemp -d)
chmod 755 "$tmp"

fabric() { scripts/fabric -n "$star" "$@"; }
host() { nsenter --net="/run/netns/$star-$1" -- "${@:2}"; }

cleanup()
{
	end_tribd
	fabric down >/dev/null 2>&1
	rm -rf "$tmp"
}
trap cleanup EXIT

# mixed COMMAND...: on all four workers.
# shellcheck disable=SC2016 # for the shell there
mixed()
{
	fabric run --fail-fast -- sh -c 'case $RANK in
		0 | 1) export TRIB_TRANSPORT=kernel ;;
		esac
		exec "$@"' sh "$@"
}

no_sockets() { [[ $(host "$1" "$trib" -j module sock) == '[]' ]]; }
has_sockets() { [[ $(host "$1" "$trib" -j module sock) == *'"running"'* ]]; }

# member FILE NAME: of a JSON object, as text.
member() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"; }

# --- training

# Send so many packets that a loss of one in a hundred is visible.
train=(trib-train --epochs 6 --samples 1024 --hidden 64 --batch 128)

# The same work by UDP only ends at the same parameters, to the bit.
trains()
{
	fabric run --fail-fast -- "${train[@]}" --json "$tmp/udp" || return
	mixed "${train[@]}" --json "$tmp/mixed" || return
	is "$(member "$tmp/mixed" transport)" kernel &&
		is "$(member "$tmp/mixed" identical)" True &&
		is "$(member "$tmp/mixed" hash)" "$(member "$tmp/udp" hash)" &&
		no_sockets w0
}

netem()
{
	local w dev

	for w in w0 w1 w2 w3; do
		dev=$(ip -n "$star-$w" -o link show type veth | head -n 1 |
			sed -E 's/^[0-9]+: ([^@:]+).*/\1/')
		tc -n "$star-$w" qdisc replace dev "$dev" root netem "$@" ||
			return
	done
}

trains_with_loss()
{
	netem loss 1% || return
	mixed "${train[@]}" --json "$tmp/lossy" || return
	netem limit 1000 || return
	is "$(member "$tmp/lossy" hash)" "$(member "$tmp/udp" hash)" || return
	(($(member "$tmp/lossy" resends) + $(member "$tmp/lossy" fast_resends) > 0))
}

# --- every collective, with both kinds of ranks

perf()
{
	mixed trib-perf -b 4 -e 300K -f 17 -n 2 -w 1 -c 2 "$@" &&
		echo "collective $*"
}

collectives()
{
	local c

	for c in allreduce reduce_scatter allgather broadcast barrier; do
		perf -C "$c" -p 4 || return
		[[ $c == barrier ]] || perf -C "$c" -d int32 || return
	done
	perf -o avg && perf -o max && perf -o min -d int32
}

# --- ends

# dies RANK: kill that rank during a collective; the others must report it.
# shellcheck disable=SC2016 # for the shells there
dies()
{
	local rank=$1 rc=0

	rm -f "$tmp"/pid.* "$tmp"/err.*
	fabric run -- sh -c 'case $RANK in
		0 | 1) export TRIB_TRANSPORT=kernel ;;
		esac
		echo $$ >'"$tmp"'/pid.$RANK
		exec trib-perf -b 64K -e 64K -n 100000 2>'"$tmp"'/err.$RANK' >"$tmp/run" &
	soon has_sockets w0 || echo "no socket yet"
	soon test -s "$tmp/pid.$rank" || echo "rank $rank has not begun"
	sleep 1
	# If this fails, the ranks would go on for long.
	if ! kill -KILL "$(<"$tmp/pid.$rank")"; then
		cat "$tmp"/pid.* | xargs -r kill -KILL
		return 1
	fi
	wait $! || rc=$?
	((rc)) || { echo "nobody failed"; return 1; }
	for r in 0 1 2 3; do
		((r == rank)) && continue
		grep -q "rank $rank" "$tmp/err.$r" ||
			{ echo "rank $r: $(<"$tmp/err.$r")"; return 1; }
	done
	soon no_sockets w0 && soon no_sockets w1
}

events()
{
	host w0 timeout -s INT 60 "$trib" -j module watch >"$tmp/events" & local watch=$!

	sleep 1
	perf || return
	sleep 0.5
	kill -INT "$watch"
	wait "$watch"
	python3 - "$tmp/events" <<-'EOF' || { cat "$tmp/events"; return 1; }
	import json, sys
	lines = [json.loads(line) for line in open(sys.argv[1])]
	got = [(e["kind"], e["sock"]["job"], e["sock"]["rank"],
	        e["sock"]["state"]) for e in lines if e["kind"] != "fallback"]
	want = [("attached", 1, 0, "running"), ("gone", 1, 0, "left")]
	print(got)
	sys.exit(got != want)
	EOF
}

# --- owners of jobs

as=(setpriv --clear-groups --inh-caps=-all)

# all_as UID: run all four ranks as that user, who has no privileges.
all_as() { mixed "${as[@]}" --reuid="$1" --regid="$1" -- trib-perf -b 4K -e 4K -n 2; }

others_are_refused()
{
	local env

	mapfile -t env <"/run/trib-fabric/$star/w0.env"
	host w0 "$trib" module claim add 1 4242 || return
	[[ $(host w0 "$trib" -j module claim) == *4242* ]] || return
	host w0 env "${env[@]}" TRIB_TRANSPORT=kernel "${as[@]}" \
		--reuid=4343 --regid=4343 -- build/trib-perf -b 4 -e 4 \
		>"$tmp/other" 2>&1 && { echo "let in"; return 1; }
	grep -q 'claimed' "$tmp/other" || { cat "$tmp/other"; return 1; }
	all_as 4242 || return
	host w0 "$trib" module claim del 1 || return
	is "$(host w0 "$trib" -j module claim)" '[]' || return
	all_as 4343
}

# claim_of HOST JOB UID
claim_of()
{
	[[ $(host "$1" "$trib" -j module claim | tr -d ' ') == *"{\"job\":$2,\"uid\":$3}"* ]]
}
no_claim_of() { ! claim_of "$@"; }

tribd_claims_its_jobs()
{
	# The relay's job is older than the module.
	soon claim_of r0 1 0 || { host r0 "$trib" module claim; return 1; }
	host r0 "$trib" job add mine world 2 id 9 owner 4242 || return
	claim_of r0 9 4242 || return
	host r0 "$trib" -j doctor | grep 'all jobs are claimed' >/dev/null || return
	host r0 "$trib" module claim del 9 || return
	host r0 "$trib" -j doctor | grep 'not claimed for its owner' >/dev/null || return
	# Unload and load the module: tribd must notice.
	rmmod trib && insmod "$ko" || return
	soon claim_of r0 9 4242 || return
	claim_of r0 1 0 || return
	host r0 "$trib" job del mine || return
	no_claim_of r0 9 4242
}

# --- a place from tribd, and the manual's example

# tribd on w0, with the relay's job, and a job that has only this rank.
start_tribd()
{
	local i key

	host r0 "$trib" job add solo world 1 id 3 || return
	host r0 "$trib" tree add solo id 2 child w0:0 || return
	nsenter --net="/run/netns/$star-w0" build/tribd >"$tmp/tribd" 2>&1 &
	echo $! >"$tmp/pid.tribd"
	for ((i = 0; i < 100; i++)); do
		host w0 "$trib" >/dev/null 2>&1 && break
		sleep 0.1
	done
	key=$(host r0 "$trib" -j job show solo |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
	dev=$(ip -n "$star-w0" -o link show type veth | head -n 1 |
		sed -E 's/^[0-9]+: ([^@:]+).*/\1/')
	addr=$(sed -nE 's|.*trib://([0-9.]+).*|\1|p' "/run/trib-fabric/$star/w0.env")
	host w0 "$trib" face add up dev "$dev" addr "$addr" || return
	host w0 "$trib" job add solo world 1 id 3 key "$key" owner 4242 || return
	host w0 "$trib" tree add solo id 2 parent up index 0 local 0 || return
	claim_of w0 3 4242
}

# Its pins would outlive it. They can go when it has ended.
end_tribd()
{
	[[ -e $tmp/pid.tribd ]] || return 0
	kill "$(<"$tmp/pid.tribd")"
	rm "$tmp/pid.tribd"
	soon host w0 build/tribd --purge
}

place_of_tribd()
{
	start_tribd || { cat "$tmp/tribd"; return 1; }
	host w0 env TRIB_JOB=solo TRIB_TRANSPORT=kernel "${as[@]}" \
		--reuid=4242 --regid=4242 -- build/trib-perf -b 4K -e 64K -n 2 \
		>"$tmp/solo" || return
	grep -q 'kernel transport' "$tmp/solo"
}

# Run the example of trib-socket(7) as it is printed there.
example()
{
	{
		echo 'import array'
		echo 'grad = array.array("f", range(100000))'
		awk '/^Python$/ { on = 1 } /^PyTorch/ { on = 0 }
			on && /^  / { print substr($0, 3) }' \
			userspace/lib/trib-socket.7.rst |
			sed 's/b"train"/b"solo"/'
		echo 'assert grad == array.array("f", range(100000))'
		echo 'print(world, job)'
	} >"$tmp/example.py"
	chmod 644 "$tmp/example.py"
	is "$(host w0 "${as[@]}" --reuid=4242 --regid=4242 -- \
		/usr/bin/python3 "$tmp/example.py")" "1 3"
}

# --- a fabric in which all workers use sockets

kernel_fabric()
{
	fabric down
	fabric up tree --workers 1 --transport kernel --rate 100m --loss 1 || return
	fabric run --fail-fast -- trib-perf -b 4 -e 1M -f 16 -n 2 >"$tmp/perf" ||
		return
	grep -q 'kernel transport' "$tmp/perf"
}

# --- other paths of sums, with kernel and UDP ranks side by side

sums() { mixed trib-perf -b 64K -e 256K -f 4 -n 3 -w 1 -c 2; }

# A switch copies each result for all workers.
one_port()
{
	fabric down
	fabric up star --workers 4 --transport udp --one-nic || return
	sums || return
	host r0 "$trib" stats | grep -E '^tx-result +[1-9]'
}

# Three trees, slots found by a hash, and a PS for chunks without a slot.
pools()
{
	fabric down
	fabric up two-tier 2,2,0 || return
	cat >"$tmp/jobs.json" <<-END
		{"jobs": [{"name": "train", "ps": "ps", "workers": "all",
		  "max_relays": 2, "mode": "shared"}]}
	END
	"$trib" plan "/run/trib-fabric/$star/topology.json" "$tmp/jobs.json" \
		-o "$tmp/plan.json" || return
	fabric apply "$tmp/plan.json" || return
	sums
}

# --- jobs whose sums travel as floats

# floats DTYPE: the order of additions varies, but all ranks have the same bits.
floats()
{
	fabric down
	fabric up star --workers 4 --transport udp --dtype "$1" || return
	netem loss 1% || return
	mixed "${train[@]}" --json "$tmp/floats" || return
	is "$(member "$tmp/floats" identical)" True || return
	netem limit 1000 && perf -p 3
}

# The relay's tribd comes first: it notices the module, but its programs do not
# keep it loaded.
fabric up star --workers 4 --transport udp >"$tmp/up" 2>&1 ||
	{ cat "$tmp/up"; bail "no fabric"; }
load_module
t train__kernel_and_udp_ranks_end_at_the_same_parameters trains
t train__with_one_percent_of_loss trains_with_loss
t collectives__are_right_in_mixed_company collectives
t kill__of_a_kernel_rank_is_told_to_all dies 1
t kill__of_a_udp_rank_is_told_to_all dies 2
t watch__tells_who_comes_and_goes events
t claim__keeps_other_users_out others_are_refused
t tribd__claims_jobs_for_their_owners tribd_claims_its_jobs
t place__comes_from_tribd place_of_tribd
t example__of_the_manual_works example
t purge__leaves_nothing_of_tribd end_tribd
t fabric__of_kernel_sockets kernel_fabric
t multicast__one_copy_for_all one_port
t shared__pools_of_three_trees pools
t floats__f32_in_mixed_company floats f32
t floats__bf16_in_mixed_company floats bf16
done_testing
