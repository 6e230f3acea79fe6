#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016 # workers' shells are to expand
# Training over NDN: trib-ps and workers on libtrib, over relays that forward
# NDN in XDP.
#
#	w0, w1 -- r1 --+
#	               +-- r0 -- ps
#	w2, w3 -- r2 --+
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_programs trib-ps trib-train trib-perf
dir=$(mktemp -d)
ps_pid=
trap 'stop_ps; rm -rf "$dir"; cleanup' EXIT

# job NAME MODE VERSIONS ELEMENTS MODEL SGD [MORE]: write its file, remove its state.
job()
{
	rm -rf "$dir/$1.state"
	mkdir "$dir/$1.state"
	cat >"$dir/$1.json" <<END
{"name": "$1", "prefix": "/ps/$1", "mode": "$2", "versions": $3,
 "elements": $4, "model": $5, "sgd": $6, "lease_ms": 1500, "rto_ms": 50,
 "workers": [{"name": "w0"}, {"name": "w1"}, {"name": "w2"}, {"name": "w3"}],
 "every": 1, "state": "$dir/$1.state"${7-}}
END
}

start_ps()
{
	fabric exec ps -- sh -c 'echo $$ >"$1.pid"
		exec trib-ps ndn --forwarder "$TRIB_PS_FORWARDER" \
			--job "$1.json"' - "$dir/$1" >>"$dir/$1.log" 2>&1 &
	wait_for 5 test -s "$dir/$1.pid"
	ps_pid=$(cat "$dir/$1.pid")
}

stop_ps()
{
	[[ $ps_pid ]] || return 0
	kill "${1:--TERM}" "$ps_pid" 2>/dev/null
	wait_for 5 eval "! kill -0 $ps_pid 2>/dev/null"
	rm -f "$dir"/*.pid
	ps_pid=
}

# shellcheck disable=SC2317 # called through ok
same_parameters()
{
	sed -n 's/.*worker.* parameters //p' "$1" | sort | uniq -c |
		awk -v n="$2" 'END { exit !(NR == 1 && $1 == n) }'
}

# shellcheck disable=SC2317 # called through ok
loss_falls()
{
	sed -n 's/.*loss *\([0-9.]*\).*/\1/p' "$1" |
		awk 'NR == 1 { first = $1 } END { exit !($1 < 0.8 * first) }'
}

train() { fabric run --tag -- timeout 100 trib-train --ps --parts 4 \
	--samples 4096 --hidden 32 "$@"; }

new_fabric
fabric up tree --ndn >"$dir/up" 2>&1 ||
	{ sed 's/^/# /' "$dir/up"; skip_all "no fabric with NDN"; }
n=$(build/trib-train --hidden 32 --initial "$dir/initial")

job sync sync 200 "$n" "{\"file\": \"$dir/initial\"}" \
	'{"lr": 0.1, "momentum": 0.9}'
start_ps sync
train >"$dir/sync" 2>&1
ok train__ends test $? = 0
ok train__last_versions_are_one_to_the_bit same_parameters "$dir/sync" 4
ok train__loss_goes_down loss_falls "$dir/sync"
stop_ps

# Gradients are integers, so every version is checked exactly.
job exact sync 100000 20000 '"zero"' '{"lr": 1}'
start_ps exact
ok perf__models_are_exact fabric run -- sh -c '
	exec trib-perf -A ps -n 60 -w 5 -J "$1.${TRIB_PS_NAME#/}"' - "$dir/perf"
ok perf__versions_were_checked grep -qE '"checked": [1-9][0-9]*, "wrong": 0' \
	"$dir/perf.w0"
stop_ps

# A PS that dies continues from its checkpoint with a new incarnation; a router
# that loses its maps recovers.
job again sync 200 "$n" "{\"file\": \"$dir/initial\"}" \
	'{"lr": 0.1, "momentum": 0.9}'
start_ps again
train --pause 10 >"$dir/again" 2>&1 &
trainers=$!
ok ps__is_at_work wait_for 20 grep -q 'epoch' "$dir/again"
stop_ps -KILL
start_ps again
ok router__loses_its_entries fabric exec r1 -- trib pit del /ps/again
wait "$trainers"
ok train__survives_both test $? = 0
ok train__has_one_model_after_that same_parameters "$dir/again" 4
ok ps__was_another_incarnation grep -q 'incarnation 2' "$dir/again.log"
stop_ps

# Asynchronous with a slow worker, which then dies.
job async async 1200 "$n" "{\"file\": \"$dir/initial\"}" '{"lr": 0.05}'
start_ps async
fabric run --tag -- sh -c 'p=0
	[ "$TRIB_PS_NAME" != /w3 ] || { p=100; limit="timeout 1"; }
	$limit trib-train --ps --parts 4 --samples 4096 --hidden 32 --pause $p
	rc=$?
	[ "$TRIB_PS_NAME" = /w3 ] || exit $rc' >"$dir/async" 2>&1
ok async__goes_on_without_the_slow_one test $? = 0
grep -v '^w3' "$dir/async" >"$dir/three"
ok async__has_one_last_version same_parameters "$dir/three" 3
stop_ps

# Models signed with another key than the PS's are refused.
key=$(printf '%064d' 1)
(umask 077 && echo "hmac /ps/KEY/1 $key" >"$dir/key" &&
	echo "hmac /ps/KEY/1 ${key//1/2}" >"$dir/other")
job forged sync 5 "$n" '"zero"' '{"lr": 1}' ", \"key\": \"$dir/other\""
start_ps forged
fabric exec w0 -- env TRIB_PS_KEY="$dir/key" timeout 4 trib-perf -A ps -n 1 \
	>"$dir/forged" 2>&1
ok key__of_another_is_not_believed test $? = 124
ok key__of_a_worker_is_told_to_be_another \
	grep -q 'w0: wrong signature' "$dir/forged.log"
stop_ps
job keyed sync 5 "$n" '"zero"' '{"lr": 1}' \
	", \"min_workers\": 4, \"key\": \"$dir/key\""
start_ps keyed
ok key__of_the_ps_is fabric run -- env TRIB_PS_KEY="$dir/key" \
	trib-perf -A ps -n 2 -w 0
stop_ps

# Over IPv6. min_workers is 4: otherwise the job could end before the last worker
# has joined.
fabric down
ok ipv6__routers_are_there fabric up tree --ndn --ipv6
job six sync 60 "$n" "{\"file\": \"$dir/initial\"}" '{"lr": 0.1}' \
	', "min_workers": 4'
start_ps six
train >"$dir/six" 2>&1
ok ipv6__trains test $? = 0
ok ipv6__has_one_last_version same_parameters "$dir/six" 4
ok ipv6__faces_are fabric exec r0 -- sh -c '
	trib -j face >"$1" && grep -q fd77: "$1" && ! grep -q "10[.]77" "$1"
	' - "$dir/faces"
stop_ps
done_testing
