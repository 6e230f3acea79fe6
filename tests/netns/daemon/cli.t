#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib against a real tribd: every object and command in plain text and JSON, and
# every mistake, which may change nothing.
#
#	 relay (tribd)                    workers
#	 v0 10.78.0.1/24  ------ veth --- v 10.78.0.2/24   ...-w0
#	 v1 10.78.1.1/24  ------ veth --- v 10.78.1.2/24   ...-w1
#	 v2 fd78:2::1/64  ------ veth --- v fd78:2::2/64   ...-w2
#
# shellcheck disable=SC2317 # functions that check calls
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_programs trib tribd
trib=$PWD/build/trib
tribd=$PWD/build/tribd
ns=trib-cli-$$
dir=$scratch
chmod 755 "$dir"
daemon=

in_ns() { nsenter --net="/run/netns/$ns-$1" "${@:2}"; }
relay() { in_ns r "$@"; }

at_exit()
{
	local n

	stop_tribd
	relay "$tribd" --purge >/dev/null 2>&1
	for n in r w0 w1 w2; do ip netns del "$ns-$n" 2>/dev/null; done
}

start_tribd()
{
	# Not by relay(): $! must be tribd itself.
	nsenter --net="/run/netns/$ns-r" "$tribd" >"$dir/tribd.log" 2>&1 &
	daemon=$!
	wait_for 10 relay "$trib" && return
	sed 's/^/# tribd: /' "$dir/tribd.log"
	return 1
}

stop_tribd()
{
	[[ $daemon ]] || return 0
	kill "$daemon" 2>/dev/null
	wait "$daemon" 2>/dev/null
	daemon=
}

# check NAME COMMAND...: the same as ok, but shows the last output of trib.
check()
{
	local name=$1

	shift
	if "$@"; then
		pass "$name"
		return
	fi
	diag "rc $rc" "$(cat "$dir/out" "$dir/err")"
	fail "$name"
}

# trib ARGS...: rc, $dir/out, $dir/err
t()
{
	relay "$trib" "$@" >"$dir/out" 2>"$dir/err"
	rc=$?
}
good() { t "$@"; ((rc == 0)) && [[ ! -s $dir/err ]]; }

out_has() { grep -qE -- "$1" "$dir/out"; }
err_is() { [[ $(<"$dir/err") == "$1" ]]; }

# json EXPRESSION: the output is JSON, and a python expression on it (j) holds.
json()
{
	python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$dir/out" "$1"
}

# Prints the configuration.
config()
{
	printf '%s show\n' face job tree group | relay "$trib" -j batch -
}

# refuses CODE TEXT ARGS...: trib prints one line with TEXT and exits with CODE, in
# plain text and JSON, and the configuration stays as it was.
refuses()
{
	local code=$1 text=$2 before
	shift 2
	before=$(config)
	t "$@"
	((rc == code)) || return 1
	[[ ! -s $dir/out && $(wc -l <"$dir/err") == 1 ]] || return 1
	grep -qF -- "$text" "$dir/err" || return 1
	t -j "$@"
	((rc == code)) && [[ ! -s $dir/err ]] || return 1
	json "j['code'] == $code and len(j) == 2 and j['error']" || return 1
	grep -qF -- "${text//\"/\\\"}" "$dir/out" || return 1
	[[ $(config) == "$before" ]]
}

refuse() { check "refuses: $(tr -c '[:graph:]' ' ' <<<"${*:3:12}")" refuses "$@"; }

# --- without a tribd

no_daemon()
{
	t
	((rc == 1)) && [[ ! -s $dir/out ]] || return 1
	err_is "trib: no tribd answers in this network namespace: start one, see tribd(8)" || return 1
	t -j face show
	((rc == 1)) && json "j['code'] == 1 and 'no tribd' in j['error']"
}

doctor_without_daemon()
{
	t -j doctor
	((rc == 1)) || return 1
	json "[n for n in j if n['check'] == 'tribd' and n['state'] == 'fail' and 'no tribd' in n['text'] and n['remedy']]"
}

help_needs_no_daemon()
{
	local o

	good help && out_has 'face .*show \| add \| set \| del' || return 1
	good -h && good --version && good -jV && json "j['version']" || return 1
	for o in status face job tree group fib pit cs strategy stats watch doctor module batch codec topo help; do
		good help "$o" && out_has "^trib $o" || return 1
		good "$o" help && out_has "^trib $o" || return 1
		good -j "$o" help && json "j[0]['object'] == '$o'" || return 1
	done
}

# --- with a tribd

status_shows_the_daemon()
{
	good && out_has "^tribd +[0-9.]+, pid $daemon, up" || return 1
	good status && out_has '^slots .* 352 values each' || return 1
	good -j && json "j['pid'] == $daemon and j['nval'] == 352 and j['faces'] == 0 and j['tree_states'] == []" || return 1
	good -p status && json "j['pid'] == $daemon" && (($(wc -l <"$dir/out") > 5))
}

faces()
{
	good face show && (($(wc -l <"$dir/out") == 1)) || return 1
	good -j face show && json "j == []" || return 1
	good face add w0 dev v0 addr 10.78.0.2 port 7418 && [[ ! -s $dir/out ]] || return 1
	good -j face add w1 dev v1 addr 10.78.1.2 port 7419 mac 02:78:00:00:01:02 local 10.78.1.1 && json "j == {}" || return 1
	good face add w2 dev v2 addr fd78:2::2 || return 1
	good face show && out_has '^w0 +v0 +10.78.0.2:7418 ' || return 1
	out_has '^w2 +v2 +\[fd78:2::2\]:7417 ' || return 1
	good -j face show && json "[f['name'] for f in j] == ['w0', 'w1', 'w2']" || return 1
	good face show w1 && out_has '^address +10.78.1.2:7419$' || return 1
	good -j face show w1 && json "j['mac'] == '02:78:00:00:01:02' and j['local_addr'] == '10.78.1.1' and j['xdp_mode'] in ('native', 'generic')" || return 1
	good face del w2 && good -j face show && json "len(j) == 2"
}

# A face's comment: shown wherever faces are, changed, kept by the next tribd.
commented_faces()
{
	good face set w0 comment 'rack 3, port 12' || return 1
	good face show && out_has '^NAME .* COMMENT$' && out_has '^w0 .* rack 3, port 12$' || return 1
	good face show w0 && out_has '^comment +rack 3, port 12$' || return 1
	good -j face show w0 && json "j['comment'] == 'rack 3, port 12'" || return 1
	good watch --once -n 0.1 && out_has ' w0 .* rack 3, port 12$' || return 1
	good -j watch --once -n 0.1 && json "[f.get('comment') for f in j['faces']] == ['rack 3, port 12', None]" || return 1
	stop_tribd && start_tribd || return 1
	good -j face show w0 && json "j['comment'] == 'rack 3, port 12'" || return 1
	t face set w0 comment "$(printf 'c%.0s' {1..128})"
	((rc == 1)) || return 1
	good face set w0 comment '' && good face show && ! out_has COMMENT
}

# tribd needs a VLAN device over the port, which not all kernels have.
tagged_faces()
{
	[[ -e $dir/vlans ]] || return 0
	good face add w2 dev v2 addr fd78:2::2 vlan 7 inner 9 || return 1
	good face show && out_has '^w2 +v2 +.* 7\.9 ' || return 1
	good -j face show w2 && json "j['vlan'] == 7 and j['vlan_inner'] == 9" || return 1
	good face del w2
}

jobs()
{
	good job add train world 2 owner nobody window 64 timeout 3000 rate 10G || return 1
	good -j job add ps.other world 1 id 77 key 0000000000000000000000000000feed && json "j == {}" || return 1
	good job show && out_has '^train +1 +2 +64 +nobody +3.0s +10.0Gbit/s' || return 1
	good -j job show && json "[(x['name'], x['id']) for x in j] == [('train', 1), ('ps.other', 77)]" || return 1
	good -j job show ps.other && json "j['key'] == '0000000000000000000000000000feed' and j['window'] == 256 and j['timeout_ms'] == 5000" || return 1
	good job show train && out_has '^key +[0-9a-f]{32}$' || return 1
	good job del ps.other && good -j job show && json "len(j) == 1" || return 1
	good job show && out_has ' int ' || return 1
	good job add i world 1 --dtype int --window 8 && good job del i
}

# Without the module; tests/vm/floats.t runs with it.
floats()
{
	refuses 1 'dtype "f64" is not int, f32, f16 or bf16' \
		job add f world 2 dtype f64 || return 1
	[[ ! -e /sys/kernel/btf/trib ]] || return 0
	refuses 1 'modprobe trib' job add f world 2 dtype f32
}

trees()
{
	good tree add train child w0:0 child w1:1 || return 1
	good tree show && out_has '^ *1 +train +root +idle +0 +0/2' || return 1
	good -j tree show && json "len(j) == 1 and [c['rank'] for c in j[0]['children']] == [0, 1]" || return 1
	good tree show 1 && out_has '^missing +rank 0 \(w0\), rank 1 \(w1\)$' || return 1
	out_has '^ +0 +w0 +0 +no ' || return 1
	good -j tree show 1 && json "j['job'] == 'train' and j['slots'] == 128 and j['joined'] == [] and j['local'] == []" || return 1
	good tree wipe 1 && good -j tree wipe 1 && json "j == {}" || return 1
	good && out_has '^ *1 +train +root +idle' || return 1
	good -j && json "j['tree_states'][0]['missing'] == 'rank 0 (w0), rank 1 (w1)'"
}

groups()
{
	local id

	good group show && out_has ' +1 +down +w0,w1$' || return 1
	good -j group show && json "{'down': ['w0', 'w1']} == {g['kind']: g['faces'] for g in j if g['kind'] == 'down'}" || return 1
	id=$(python3 -c 'import json; print(json.load(open("'"$dir/out"'"))[0]["id"])')
	good group show "$id" && out_has "^id +$id\$" || return 1
	good -j group show "$id" && json "j['id'] == $id and j['tree'] == 1"
}

tickets()
{
	good job ticket train rank 1 && (($(wc -l <"$dir/out") == 1)) || return 1
	out_has '^trib://10\.78\.1\.1.*/train\?.*rank=1' || return 1
	good -j job ticket train rank 0 && json "j['rank'] == 0 and j['ticket'].startswith('trib://10.78.0.1')"
}

# Invalid packets are counted; plain text hides zeros, JSON does not.
counters()
{
	good stats reset && good -j stats reset && json "j == {}" || return 1
	good stats && (($(wc -l <"$dir/out") == 1)) || return 1
	in_ns w0 bash -c 'printf junk >/dev/udp/10.78.0.1/7417'
	good stats && out_has '^drop-(short|length) +1 +[a-z]' || return 1
	good stats show all && out_has '^rx-grad +0 ' || return 1
	good -j stats show && json "len(j) > 30 and sum(s['value'] for s in j) == 1 and all(s['text'] for s in j)"
}

watching()
{
	local n

	good watch --once -n 0.1 && out_has 'values in 0.00 Gb/s' || return 1
	out_has '^ *1 +train +root +idle' || return 1
	good -j watch --once -n 0.1 && json "j['trees'][0]['state'] == 'idle' and j['jobs'][0]['name'] == 'train' and 'gbps' in j['host'] and 0.05 < j['interval'] < 5" || return 1
	# One object a line, until the reader closes the pipe.
	n=$(relay "$trib" -j watch -n 0.1 | head -n 3 |
		python3 -c 'import json, sys; print(sum("time" in json.loads(l) for l in sys.stdin))')
	[[ $n == 3 ]] || return 1
	# No escape sequences without a terminal; SIGINT ends it.
	relay timeout -s INT 0.5 "$trib" watch -n 0.1 >"$dir/out" 2>"$dir/err"
	(($(grep -c 'values in' "$dir/out") >= 2)) && ! grep -q $'\e' "$dir/out"
}

watching_on_a_terminal()
{
	relay script -qfc "timeout -s INT 1 $trib watch -n 0.1" /dev/null >"$dir/out" 2>"$dir/err" </dev/null
	grep -q $'\e\\[?1049h' "$dir/out" && grep -q 'values in' "$dir/out" || return 1
	[[ $(tail -c 20 "$dir/out") == *$'\e[?1049l'* ]]
}

# --- other users

as_nobody()
{
	relay setpriv --reuid 65533 --regid 65533 --clear-groups "$trib" "$@" >"$dir/out" 2>"$dir/err"
	rc=$?
}

others_may_read()
{
	local o

	for o in status face job tree group stats; do
		as_nobody -j "$o"
		((rc == 0)) && json "j" || return 1
	done
	as_nobody -j job show train
	((rc == 0)) && json "'key' not in j and j['world'] == 2"
}

others_may_not_change()
{
	local before line

	before=$(config)
	while read -r line; do
		# shellcheck disable=SC2086 # words
		as_nobody $line
		((rc == 1)) && grep -q '^trib: ' "$dir/err" || return 1
		# shellcheck disable=SC2086
		as_nobody -j $line
		((rc == 1)) && json "j['code'] == 1" || return 1
	done <<-END
	face add x dev v0 addr 10.78.0.3
	face del w0
	job add x world 2
	job del train
	job ticket train rank 0
	tree add train child w0:0 child w1:1
	tree del 1
	tree wipe 1
	stats reset
	END
	[[ $(config) == "$before" ]]
}

owner_sees_the_key()
{
	relay setpriv --reuid nobody --clear-groups "$trib" -j job show train >"$dir/out" 2>"$dir/err" || return 1
	json "'key' in j" || return 1
	relay setpriv --reuid nobody --clear-groups "$trib" job ticket train rank 0 >"$dir/out" 2>"$dir/err" && out_has '^trib://'
}

# --- batch

batch_runs_until_the_first_error()
{
	cat >"$dir/good" <<-'END'
	# a comment

	  job add b1 world 1	# another
	job add "b2" world '1'
	END
	good batch "$dir/good" || return 1
	good -j job show && json "[x['name'] for x in j][-2:] == ['b1', 'b2']" || return 1
	printf 'job del b1\njob show\njob del b1\njob del b2\n' >"$dir/bad"
	t batch "$dir/bad"
	((rc == 1)) && err_is "trib: $dir/bad:3: no job b1" && out_has '^b2 ' || return 1
	printf 'job del b2\njob  bad\n' | relay "$trib" batch - >"$dir/out" 2>"$dir/err"
	rc=$?
	((rc == 2)) && grep -q '^trib: standard input:2: job has no command "bad"' "$dir/err" || return 1
	good -j job show && json "len(j) == 1"
}

batch_in_json()
{
	printf 'job add b1 world 1\njob show b1\njob add b1 world 1\njob del b1\n' >"$dir/file"
	t -j batch "$dir/file"
	((rc == 1)) && [[ ! -s $dir/err ]] || return 1
	json "[x['line'] for x in j] == [1, 2, 3] and j[0]['output'] == {} and j[1]['output']['name'] == 'b1' and j[2]['error'] == 'job b1 exists' and j[2]['command'][0] == 'job'" || return 1
	good job del b1 && : >"$dir/empty" && good -j batch "$dir/empty" && json "j == []" || return 1
	t -j batch "$dir/no-such-file"
	((rc == 1)) && json "'no-such-file' in j['error']"
}

batch_mistakes()
{
	printf 'watch\n' >"$dir/file"
	t batch "$dir/file"
	((rc == 1)) && grep -q 'needs --once' "$dir/err" || return 1
	printf 'batch %s\n' "$dir/file" >"$dir/file2"
	t batch "$dir/file2"
	((rc == 1)) && grep -q 'cannot run a batch' "$dir/err" || return 1
	printf 'job show "x\n' >"$dir/file"
	t batch "$dir/file"
	((rc == 2)) && grep -q 'quote is not closed' "$dir/err" || return 1
	printf 'job show a\0b\n' >"$dir/file"
	t batch "$dir/file"
	((rc == 2)) && grep -q 'NUL' "$dir/err" || return 1
	printf 'watch --once -n 0.1\n' >"$dir/file"
	good -j batch "$dir/file" && json "j[0]['output']['trees']" || return 1
	t batch "$dir"
	((rc == 1))
}

# --- doctor

# found STATE CHECK SUBJECT
found()
{
	t -j doctor
	json "[n for n in j if (n['state'], n['check'], n['subject']) == ('$1', '$2', '$3')]"
}

doctor_is_content()
{
	t -j doctor
	json "not [n for n in j if n['state'] == 'fail']" && ((rc == 0)) || return 1
	json "{'tribd', 'kernel', 'btf', 'xdp', 'mtu', 'reach', 'path', 'mac', 'tree'} <= {n['check'] for n in j}" || return 1
	good doctor && out_has '^ok +mtu w0 ' && out_has ' 0 failures$'
}

doctor_sees_a_deaf_veth()
{
	in_ns w0 ethtool -K v gro off || return 1
	found fail veth w0
	local r=$?
	((rc == 1)) || r=1
	in_ns w0 ethtool -K v gro on
	return "$r"
}

doctor_sees_small_mtus()
{
	local r

	ip -n "$ns-w0" link set v mtu 1400
	found fail path w0
	r=$?
	ip -n "$ns-r" link set v0 mtu 1400
	found fail mtu w0 || r=1
	ip -n "$ns-w0" link set v mtu 1500
	ip -n "$ns-r" link set v0 mtu 1500
	return "$r"
}

doctor_sees_a_wrong_mac() { found fail mac bad; }
doctor_sees_a_wrong_port() { found fail route astray; }
doctor_sees_nobody() { found fail reach nobody; }
doctor_sees_a_refusing_relay() { found warn port bad; }

doctor_sees_one_sender_in_two_faces() { found warn face twin; }

doctor_sees_a_short_star()
{
	found fail tree 7
}

doctor_sees_drops()
{
	in_ns w0 python3 -c '
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
# version 3, GRAD, up, ADD, I32; a secret that is wrong.
h = struct.pack("!8B4H2I2Hi8s", 3, 1, 1, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0, 1, 16, 0, 0, b"wrong   ")
s.sendto(h + bytes(64), ("10.78.0.1", 7417))' || return 1
	found warn counter drop-auth || return 1
	good stats reset && ! found warn counter drop-auth
}

# A veth with fewer queues than its peer takes generic XDP only.
doctor_sees_offloads_in_generic_mode()
{
	local r

	ip link add g netns "$ns-r" numrxqueues 1 numtxqueues 1 type veth peer name g netns "$ns-w2" numrxqueues 2 numtxqueues 2 || return 1
	ip -n "$ns-r" addr add 10.78.3.1/24 dev g
	ip -n "$ns-w2" addr add 10.78.3.2/24 dev g
	ip -n "$ns-r" link set g up
	ip -n "$ns-w2" link set g up
	good face add g dev g addr 10.78.3.2 port 7418 || return 1
	good -j face show g && json "j['xdp_mode'] == 'generic' and 'queues' in j['reason']" || return 1
	found warn xdp g && found fail offload g
	r=$?
	in_ns w2 ethtool -K g tx-udp-segmentation off gso off >/dev/null 2>&1
	found fail offload g && r=1
	good face del g || r=1
	return "$r"
}

doctor_looks_at_one_address()
{
	t -j doctor --peer 10.78.0.2
	json "{'reach', 'path'} <= {n['check'] for n in j} and not [n for n in j if n['check'] == 'kernel']" || return 1
	t -j doctor --peer 10.78.0.77
	((rc == 1)) && json "[n for n in j if n['check'] == 'reach' and n['state'] == 'fail']" || return 1
	# A worker's host without tribd looks at its relay.
	in_ns w0 "$trib" -j doctor --peer 10.78.0.1 >"$dir/out" 2>"$dir/err"
	json "not [n for n in j if n['state'] == 'fail'] and [n for n in j if n['check'] == 'path' and n['state'] == 'ok']"
}

unwritable_output_is_an_error()
{
	relay "$trib" -j stats show >/dev/full 2>"$dir/err"
	rc=$?
	((rc == 1)) && grep -q 'cannot write' "$dir/err"
}

removal_ends_where_it_began()
{
	t face del w0
	((rc == 1)) && grep -q 'w0' "$dir/err" || return 1
	good tree del 1 && good job del train && good face del w0 && good face del w1 || return 1
	good -j && json "(j['faces'], j['jobs'], j['trees'], j['slots_used']) == (0, 0, 0, 0)"
}

job_removal_takes_its_trees()
{
	good job add train world 2 && good tree add train id 5 child w0:0 w1:1 && good job del train || return 1
	good -j tree show && json "j == []"
}

setup()
{
	local i n

	for n in r w0 w1 w2; do
		ip netns add "$ns-$n" && ip -n "$ns-$n" link set lo up || return 1
	done
	for i in 0 1 2; do
		ip link add "v$i" netns "$ns-r" type veth peer name v netns "$ns-w$i" || return 1
		in_ns "w$i" ethtool -K v gro on || return 1
		if ((i < 2)); then
			ip -n "$ns-r" addr add "10.78.$i.1/24" dev "v$i"
			ip -n "$ns-w$i" addr add "10.78.$i.2/24" dev v
		else
			ip -n "$ns-r" addr add fd78:2::1/64 dev v2 nodad
			ip -n "$ns-w2" addr add fd78:2::2/64 dev v nodad
			ip -n "$ns-r" link add link v2 name v2.7 type vlan id 7 2>/dev/null &&
				ip -n "$ns-r" link add link v2.7 name v2.7.9 type vlan id 9 &&
				: >"$dir/vlans"
		fi
		ip -n "$ns-r" link set "v$i" up
		ip -n "$ns-w$i" link set v address "02:78:00:00:0$i:02" up
	done
}

setup >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; echo "Bail out! no namespaces"; exit 1; }
check "no tribd: said in one line" no_daemon
check "no tribd: doctor fails and says so" doctor_without_daemon
check "help everywhere, without a tribd" help_needs_no_daemon
start_tribd || { echo "Bail out! tribd does not start"; exit 1; }
check "status" status_shows_the_daemon
check "face: add, show, del" faces
check "face: VLAN tags" tagged_faces
check "job: add, show, del" jobs
check "job: dtype" floats
check "tree: add, show, wipe" trees
check "group: show" groups
check "job: ticket" tickets
check "stats: show, reset" counters
check "face: a comment" commented_faces
check "watch: blocks, objects, signals" watching
check "watch: one screen on a terminal" watching_on_a_terminal
check "other users may read all but keys" others_may_read
check "other users may change nothing" others_may_not_change
check "the job's owner sees key and ticket" owner_sees_the_key
check "batch: comments, quotes, file:line of the first error" batch_runs_until_the_first_error
check "batch: in JSON" batch_in_json
check "batch: mistakes" batch_mistakes
check "output that cannot be written is an error" unwritable_output_is_an_error

name64=$(printf 'n%.0s' {1..64})
refuse 2 'no object "nonsense"' nonsense
refuse 2 'object "s" is ambiguous' s
refuse 2 'face has no command "nonsense"' face nonsense
refuse 2 '"extra" is not expected' status extra
refuse 2 '"extra" is not expected' stats reset extra
refuse 2 'NAME is missing' face add
refuse 2 'dev IFNAME is missing' face add x
refuse 2 'addr ADDR is missing' face add x dev v2
refuse 2 'addr needs ADDR' face add x dev v2 addr
refuse 2 '"speed" is not expected' face add x dev v2 addr fd78:2::2 speed 3
refuse 2 'dev is given twice' face add x dev v2 dev v1 addr fd78:2::2
refuse 2 'inner needs vlan' face add x dev v2 addr fd78:2::2 inner 3
refuse 1 "$name64" face add "$name64" dev v2 addr fd78:2::2
refuse 1 '"a b"' face add 'a b' dev v2 addr fd78:2::2
refuse 1 '""' face add '' dev v2 addr fd78:2::2
refuse 1 'x:1' face add x:1 dev v2 addr fd78:2::2
refuse 1 '"a?b"' face add $'a\nb' dev v2 addr fd78:2::2
refuse 1 '"x?"' face add $'x\x01' dev v2 addr fd78:2::2
refuse 1 'nodev' face add x dev nodev addr fd78:2::2
refuse 1 '"abcdefghijklmnop"' face add x dev abcdefghijklmnop addr fd78:2::2
refuse 1 '"300.1.1.1"' face add x dev v2 addr 300.1.1.1
refuse 1 '"fd78::g"' face add x dev v2 addr fd78::g
refuse 1 '0.0.0.0' face add x dev v2 addr 0.0.0.0
refuse 1 '127.0.0.1' face add x dev v2 addr 127.0.0.1
refuse 1 '"02:00"' face add x dev v2 addr fd78:2::2 mac 02:00
refuse 1 '"00:00:00:00:00:00"' face add x dev v2 addr fd78:2::2 mac 00:00:00:00:00:00
refuse 1 '01:00:5e:00:00:01' face add x dev v2 addr fd78:2::2 mac 01:00:5e:00:00:01
refuse 1 '"65536"' face add x dev v2 addr fd78:2::2 port 65536
refuse 1 '"0"' face add x dev v2 addr fd78:2::2 port 0
refuse 1 '"-1"' face add x dev v2 addr fd78:2::2 port -1
refuse 1 '"4095"' face add x dev v2 addr fd78:2::2 vlan 4095
refuse 1 'tag 7' face add x dev v1 addr 10.78.1.3 vlan 7
refuse 1 '10.78.1.1' face add x dev v2 addr fd78:2::2 local 10.78.1.1
refuse 1 'face w0 exists' face add w0 dev v2 addr fd78:2::2
refuse 1 'no face nobody' face del nobody
refuse 1 'no face nobody' face show nobody
refuse 1 'w0' face del w0
refuse 2 '"x" is not expected' module sock x
refuse 2 '"x" is none of list, add, del' module claim x
refuse 2 '"x" is not expected' module claim list x
refuse 2 'JOB is missing' module claim add
refuse 2 'UID is missing' module claim add train
refuse 2 '"x" is not expected' module claim add train root x
refuse 2 'JOB is missing' module claim del
refuse 2 '"root" is not expected' module claim del train root
refuse 1 '"nobody-here" is not a user' module claim add train nobody-here
refuse 1 'job "65536" is not from 1 to 65535' module claim add 65536 root
refuse 1 'job "0" is not from 1 to 65535' module claim del 0
refuse 1 'job "a b" is neither a number nor a name' module claim del 'a b'
refuse 1 'no job nobody' module claim add nobody root
if ! [[ -d /sys/module/trib ]]; then
	refuse 1 'the kernel module is not loaded' module sock
	refuse 1 'the kernel module is not loaded' module claim
	refuse 1 'the kernel module is not loaded' module claim add train root
	refuse 1 'the kernel module is not loaded' module claim del 7
fi
refuse 2 'NAME is missing' face del
refuse 2 '"x" is not expected' face del w0 x
refuse 2 'world N is missing' job add x
refuse 1 '"0"' job add x world 0
refuse 1 '"1025"' job add x world 1025
refuse 1 '"four"' job add x world four
refuse 1 '"99999999999999999999"' job add x world 99999999999999999999
refuse 1 '"65536"' job add x world 2 id 65536
refuse 1 'job id 1 belongs to job train already' job add x world 2 id 1
refuse 1 'key: want 32' job add x world 2 key xyz
refuse 1 'key: want 32' job add x world 2 key 11112222333344445
refuse 1 'cannot read' job add x world 2 key /nonexistent/key
refuse 1 '"3"' job add x world 2 window 3
refuse 1 '"32768"' job add x world 2 window 32768
refuse 1 '"nosuchuser"' job add x world 2 owner nosuchuser
refuse 1 '"0"' job add x world 2 timeout 0
refuse 1 'timeout 5' job add x world 2 timeout 5
refuse 1 '"10Q"' job add x world 2 rate 10Q
refuse 1 'job train exists' job add train world 2
refuse 1 "a?b" job add 'a?b' world 2
refuse 1 '"../../etc"' job add ../../etc world 2
refuse 1 '".x"' job add .x world 2
refuse 1 'no job x' job del x
refuse 1 'no job x' job show x
refuse 1 'no job x' job ticket x rank 0
refuse 2 'rank R is missing' job ticket train
refuse 1 'rank 2' job ticket train rank 2
refuse 1 '"1024"' job ticket train rank 1024
refuse 2 'child FACE[:RANK], parent FACE or ps ADDR is missing' tree add train
refuse 1 'no job x' tree add x child w0:0
refuse 1 'no face nobody' tree add train child nobody:0 w1:1
refuse 1 'rank 2' tree add train child w0:0 w1:2
refuse 1 'rank 0' tree add train child w0:0 w1:0
refuse 1 '"1024"' tree add train child w0:1024
refuse 1 '"x"' tree add train child w0:x
refuse 1 'tree 1' tree add train id 1 child w0:0 w1:1
refuse 1 '"0"' tree add train id 0 child w0:0 w1:1
refuse 2 'parent needs index' tree add train child w0:0 parent w1
refuse 2 'index needs parent' tree add train child w0:0 index 1
refuse 1 '"64"' tree add train child w0:0 parent w1 index 64
refuse 1 'no face nobody' tree add train parent nobody index 0 local 0
refuse 1 '"64"' tree add train parent w0 index 0 local 0:64
refuse 1 'no face nobody' tree add train child w0:0 w1:1 down nobody
refuse 1 'no tree 99' tree del 99
refuse 1 'no tree 99' tree wipe 99
refuse 1 'no tree 99' tree show 99
refuse 1 '"x"' tree del x
refuse 2 'ID is missing' tree del
refuse 1 'no group 999999' group show 999999
refuse 1 '-n "x"' watch -n x
refuse 2 '-n needs SEC' watch -n
refuse 2 '"x" is not expected' watch x
refuse 2 '--peer needs ADDR' doctor --peer
refuse 1 '"x"' doctor --peer x
refuse 2 'FILE is missing' batch
refuse 1 'no-such-file' batch no-such-file
refuse 2 'no option "-x"' -x
refuse 2 'no option "--xyz"' --xyz

check "doctor: content with what is right" doctor_is_content
check "doctor: veth whose other end is deaf" doctor_sees_a_deaf_veth
check "doctor: MTU too small here and there" doctor_sees_small_mtus
t face add bad dev v0 addr 10.78.0.2 mac 02:99:00:00:00:99
t face add astray dev v0 addr 10.78.1.2
t face add nobody dev v1 addr 10.78.1.99
t tree add train id 7 child w0:0
check "doctor: wrong MAC" doctor_sees_a_wrong_mac
check "doctor: routed elsewhere" doctor_sees_a_wrong_port
check "doctor: nobody there" doctor_sees_nobody
check "doctor: no tribd at a relay's face" doctor_sees_a_refusing_relay
check "doctor: a star with a child missing" doctor_sees_a_short_star
t tree del 7
for f in bad astray nobody; do t face del $f; done
t face add twin dev v0 addr 10.78.0.2 port 7418
check "doctor: two faces of one sender" doctor_sees_one_sender_in_two_faces
t face del twin
check "doctor: counters that mean trouble" doctor_sees_drops
check "doctor: super-packets in generic mode" doctor_sees_offloads_in_generic_mode
check "doctor: --peer" doctor_looks_at_one_address
check "removal" removal_ends_where_it_began
t face add w0 dev v0 addr 10.78.0.2
t face add w1 dev v1 addr 10.78.1.2
check "a job takes its trees along" job_removal_takes_its_trees

done_testing
