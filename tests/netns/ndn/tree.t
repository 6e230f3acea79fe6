#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2317 # functions that ok calls
# Models over NDN, gradients by an aggregation tree: trib-ps is a rank like its
# workers, and the relay sums up the gradients.
#
#	w0, w1, w2 -- r0 -- ps
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_programs trib-ps trib
dir=$(mktemp -d)
ps_pid=
rank_pids=()
trap 'stop; rm -rf "$dir"; cleanup' EXIT

# job NAME VERSIONS [MORE]: a file, and no state.
job()
{
	rm -rf "$dir/$1.state"
	mkdir "$dir/$1.state"
	cat >"$dir/$1.json" <<END2
{"name": "$1", "prefix": "/ps/$1", "mode": "sync", "versions": $2,
 "elements": 1000, "model": "zero", "sgd": {"lr": 3}, "lease_ms": 1500,
 "rto_ms": 50, "workers": ["w0", "w1", "w2"], "min_workers": 3, "every": 1,
 "state": "$dir/$1.state"${3-}}
END2
}

# tree NUMBER: the last field of a job's file.
tree()
{
	echo ", \"tree\": {\"job\": \"$(ticket 3)\", \"number\": $1, \"rank\": 3}"
}

ticket() { fabric exec r0 -- trib job ticket grads rank "$1"; }

start_ps()
{
	# shellcheck disable=SC2016 # that shell's
	fabric exec ps -- sh -c 'echo $$ >"$1.pid"
		exec trib-ps ndn --forwarder "$TRIB_PS_FORWARDER" \
			--job "$1.json"' - "$dir/$1" >>"$dir/$1.log" 2>&1 &
	wait_for 5 test -s "$dir/$1.pid"
	ps_pid=$(cat "$dir/$1.pid")
}

# start_rank R OUT [FIELDS]: in the background.
start_rank()
{
	local argument

	argument="{\"name\": \"/w$1\", \"rank\": $1, \"show\": 1000,
		\"tree\": \"$(ticket "$1")\"${3-}}"
	# shellcheck disable=SC2016 # that shell's
	fabric exec "w$1" -- sh -c 'echo $$ >"$3"; a=${1%\}}
		unset TRIB_JOB TRIB_RANK RANK
		exec timeout 60 python3 tests/netns/ndn/ndn_worker.py \
			"$a, \"forwarder\": \"$TRIB_PS_FORWARDER\"}" >"$2" 2>&1' \
		- "$argument" "$dir/$2.w$1" "$dir/$2.pid$1" &
	rank_pids+=($!)
}

stop()
{
	local f

	for f in "$dir"/*.pid*; do
		[[ ! -s $f ]] || kill "$(cat "$f")" 2>/dev/null
	done
	wait ${rank_pids[@]+"${rank_pids[@]}"} 2>/dev/null
	rank_pids=()
	rm -f "$dir"/*.pid*
	ps_pid=
}

# shellcheck disable=SC2317 # called through ok
# exact OUT VERSIONS: of the last model of every worker.
exact()
{
	python3 - "$dir/$1" "$2" <<'END2'
import json, sys
sys.path.insert(0, 'tests/netns/ndn')
from ndn_worker import gradient
n = int(sys.argv[2])
# lr is 3, and the mean of 3 is a division by 3: whole numbers, if those are.
want = [-float(sum(parts)) for parts in
        zip(*(gradient(r, k, 1000) for r in range(3) for k in range(n)))]
for w in range(3):
    last = None
    for line in open(f'{sys.argv[1]}.w{w}'):
        d = json.loads(line)
        if d['what'] == 'model' and d['last']:
            last = d
    if not last or last['v'] & 0xffffffff != n:
        sys.exit(f'# w{w}: no last version')
    worst = max(abs(a - b) for a, b in zip(last['values'], want))
    if worst:
        sys.exit(f'# w{w}: off by {worst}')
END2
}

# shellcheck disable=SC2317 # called through ok
# steps OUT VERSIONS LOST [N]: of the first N workers: each version is the one before and exactly one
# gradient of each worker, or, LOST times at most, the same model once more.
steps()
{
	python3 - "$dir/$1" "$2" "$3" "${4-3}" <<'END2'
import json, sys
sys.path.insert(0, 'tests/netns/ndn')
from ndn_worker import gradient
for w in range(int(sys.argv[4])):
    seen, lost = [(0, [0.0] * 1000)], 0
    for line in open(f'{sys.argv[1]}.w{w}'):
        d = json.loads(line)
        if d['what'] == 'model':
            seen.append((d['v'] & 0xffffffff, d['values']))
    for (n, old), (m, new) in zip(seen, seen[1:]):
        delta = [b - a for a, b in zip(old, new)]
        step = [-sum(parts) for parts in
                zip(*(gradient(r, n, 1000) for r in range(3)))]
        if m not in (n, n + 1) or any(delta) and (m == n or delta != step):
            sys.exit(f'# w{w}: version {m} after {n}: {delta[:4]}')
        lost += m > n and not any(delta)
    if seen[-1][0] != int(sys.argv[2]) or lost > int(sys.argv[3]):
        sys.exit(f'# w{w}: ends with {seen[-1][0]}, {lost} lost')
END2
}

# start_job NAME [FIELDS OF w0, w1 AND w2 [OF w2 ALONE]]
start_job()
{
	local r

	start_ps "$1"
	for r in 0 1 2; do
		start_rank "$r" "$1" "${2-}$( ((r < 2)) || echo "${3-}")"
	done
}

run_job()
{
	start_job "$@"
	wait "${rank_pids[@]}"
	rank_pids=()
}

# By itself each gradient is a whole number, and so are sums; a mean of three
# is rounded, alike in both jobs.
same_models()
{
	local r

	for r in 0 1 2; do
		diff <(models "$1" "$r") <(models "$2" "$r") >/dev/null ||
			return 1
	done
}

models() { grep '"last": 1' "$dir/$1.w$2" | sed 's/.*"values"//'; }

new_fabric
fabric up star --workers 3 --ndn --transport udp >"$dir/up" 2>&1 ||
	{ sed 's/^/# /' "$dir/up"; skip_all "no fabric with NDN"; }
ok relay__adds_up_for_the_ps_too fabric exec r0 -- sh -c '
	trib job add grads id 7 world 4 key 1234567890abcdef1234567890abcdef window 64 \
		timeout 2000 &&
	trib tree add grads id 7 child w0:0 child w1:1 child w2:2 child ps:3'

job asked 20
run_job asked
ok collected__models_are_exact exact asked 20
stop

job summed 20 "$(tree 7)"
run_job summed
ok trees__models_are_exact exact summed 20
ok trees__give_the_same_model_to_the_bit same_models asked summed
ok trees__are_what_gradients_go_by grep -q 'rank 3 of aggregation job 7' \
	"$dir/summed.log"
stop
# A rank whose gradient is of another version, and which then goes: nobody takes
# that sum, all attach anew, and what was lost is said.
job mixed 12 "$(tree 7)"
run_job mixed "" ', "wrong": 1'
ok guard__is_seen_by_all_ranks grep -q '"wrong".*"rc": 0, "both": true' \
	"$dir/mixed.w2"
ok guard__refuses_sums_of_mixed_versions steps mixed 12 1
ok guard__says_so grep -q 'no sum: the ranks gave gradients of different versions' \
	"$dir/mixed.log"
stop

# A PS that dies is the same rank again, and goes on from its checkpoint.
job again 40 "$(tree 7)"
start_job again ', "slow": 0.05'
ok ps__is_at_work wait_for 20 eval "((\$(grep -c gave $dir/again.w0) > 8))"
kill -KILL "$ps_pid"
rm "$dir/again.pid"
start_ps again
wait "${rank_pids[@]}"
rank_pids=()
ok ps__that_died_goes_on_exactly steps again 40 2
ok ps__was_another_incarnation grep -q 'incarnation 2' "$dir/again.log"
stop

# So is a worker: the others wait for it.
job worker 40 "$(tree 7)"
start_job worker ', "slow": 0.05'
ok worker__is_at_work wait_for 20 eval "((\$(grep -c gave $dir/worker.w0) > 8))"
kill "$(cat "$dir/worker.pid2")"
start_rank 2 back ', "slow": 0.05'
wait "${rank_pids[@]}"
rank_pids=()
ok worker__that_died_holds_up_others_who_go_on_exactly steps worker 40 2 2
ok worker__that_came_back_has_the_last_model test \
	"$(models worker 0)" = "$(models back 2)"
stop

# Invalid configurations are refused at once.
job other 5 "$(tree 8)"
run_job other
ok number__of_another_job_is_refused grep -q \
	"attached to aggregation job 7, but the task's gradients go by job 8" "$dir/other.log"
ok number__is_told_to_workers grep -q \
	"attached to aggregation job 7, but the task's gradients go by job 8" "$dir/other.w0"
stop
job async 5 "$(tree 7)"
sed -i 's/"sync"/"async"/' "$dir/async.json"
is async__has_no_trees "$("$TRIB_BUILD/trib-ps" ndn --check \
	--job "$dir/async.json" 2>&1 | sed 's/.*json:[0-9:]* //')" \
	'tree: needs a synchronous job: "mode": "sync"'
done_testing
