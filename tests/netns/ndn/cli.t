#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2317,SC2016 # functions that ok() calls; other shells expand
# trib's commands for NDN against a real tribd with --ndn: their output for real
# subscriptions, and wrong requests, which must change nothing. On a star of
# `fabric up --ndn`:
#
#	ps (NDN by hand) ---- r0 (tribd --ndn) ---- w0, w1 (tribd without)
#
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_programs tribd trib
hand=$PWD/tests/netns/ndn/ndn_host.py

r0() { fabric exec r0 -- trib "$@"; }
w0() { fabric exec w0 -- trib "$@"; }

# t ARGS...: run trib on the relay; sets rc, $scratch/out, $scratch/err
t()
{
	r0 "$@" >"$scratch/out" 2>"$scratch/err"
	rc=$?
}
good() { t "$@"; [[ $rc == 0 && ! -s $scratch/err ]] || said; }
said() { cat "$scratch/out" "$scratch/err"; return 1; }
has() { grep -qE -- "$1" "$scratch/out" || said; }

# json EXPRESSION: the output is JSON for which a Python expression on j holds.
json()
{
	python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$scratch/out" "$1" || said
}

config()
{
	printf '%s show\n' face fib strategy | r0 -j batch -
}

# refuses CODE TEXT ARGS...: fails with CODE and one line with TEXT, plain and in
# JSON; the configuration does not change.
refuses()
{
	local code=$1 text=$2 before
	shift 2
	before=$(config)
	t "$@"
	((rc == code)) || said || return
	[[ ! -s $scratch/out && $(wc -l <"$scratch/err") == 1 ]] || said || return
	grep -qF -- "$text" "$scratch/err" || said || return
	t -j "$@"
	((rc == code)) && [[ ! -s $scratch/err ]] || said || return
	json "j['code'] == $code and len(j) == 2 and j['error']" || return
	[[ $(config) == "$before" ]]
}
refuse() { ok "refuses: ${*:3:12}" refuses "$@"; }

# ask HOST NAME: repeat an Interest until it is answered.
ask() { fabric exec "$1" -- "$hand" ask "$2"; }

start_ps()
{
	# Not by fabric(): $! must be the program itself.
	scripts/fabric -n "$fab" exec ps -- "$hand" serve /ps/train \
		12884901905 2 >"$scratch/ps.log" 2>&1 &
	ps=$!
	wait_for 5 grep -q ready "$scratch/ps.log"
}

off_is_said()
{
	local c

	for c in fib pit cs strategy "fib del /x" "pit del /x" "cs wipe /x" \
		"strategy set lease 9s"; do
		# shellcheck disable=SC2086 # words
		w0 $c >"$scratch/out" 2>"$scratch/err" && return 1
		grep -qF -- --ndn "$scratch/err" || said || return
		[[ ! -s $scratch/out ]] || said || return
	done
}

off_is_no_trouble()
{
	w0 -j doctor >"$scratch/out"
	json "not [n for n in j if n['check'] in ('ndn', 'route', 'entry')]" || return
	w0 watch --once -n 0.1 >"$scratch/out" && ! has '^ndn' >/dev/null || said || return
	w0 -j watch --once -n 0.1 >"$scratch/out" && json "'ndn' not in j" || return
	w0 face show >"$scratch/out" && has '^up .* -$'
}

routes()
{
	good fib && has '^PREFIX +VIA$' && has '^/w1 +w1$' && has '^/ps +ps$' || return
	good -j fib show && json "[r['face'] for r in j if r['prefix'] == '/w0'] == ['w0'] and len(j) == 3" || return
	good fib add /a/%62/v=7 via w0 && good -j fib show /a/b/54=%07 &&
		json "j == {'prefix': '/a/b/v=7', 'face': 'w0'}" || return
	good -j fib add /a/b/v=7 via w1 && json 'j == {}' &&
		good fib show ndn:/a/b/v=7 && has '^via +w1$' || return
	good fib add / via ps && good fib show / && has '^prefix +/$' || return
	good fib del / && good fib del /a/b/v=7 && good -j fib show && json 'len(j) == 3'
}

faces()
{
	good face && has '^w0 .* host$' && has ' NDN$' || return
	good face show w0 && has '^may subscribe to +/ps$' && has '^may send Data of +/w0$' || return
	good -j face show w0 && json "j['ndn'] == 'host' and j['ndn_port'] == 6363 and j['ndn_number'] > 0 and j['ndn_subscribe'] == ['/ps'] and j['ndn_write'] == ['/w0']" || return
	good face add x dev p1 addr 10.77.1.9 mac 02:00:00:00:00:09 ndn router ndn-port 7000 &&
		good face show && has '^x .* router:7000$' || return
	good -j face show x && json "j['ndn_subscribe'] == ['/'] and j['ndn_write'] == ['/']" || return
	good face set x ndn host subscribe /a /b subscribe /c write none &&
		good -j face show x && json "sorted(j['ndn_subscribe']) == ['/a', '/b', '/c'] and j['ndn_write'] == [] and j['ndn'] == 'host'" || return
	good -j face set x subscribe none && json 'j == {}' &&
		good -j face show x && json "j['ndn_subscribe'] == [] and j['ndn_port'] == 7000" || return
	good face set x ndn none && good face show x && has '^ndn +-$' && good face del x
}

ethernet_faces()
{
	good face add e dev p1 mac 02:00:00:00:00:0e ndn host ndn-port ether write /e &&
		good face show && has '^e +p1 +- .* host:ether$' || return
	good -j face show e && json "j['ndn_port'] == 0 and j['ndn_write'] == ['/e']" &&
		good -j doctor && json "not [n for n in j if n['subject'] == 'e' and n['state'] == 'fail']" &&
		good face del e
}

entries_are_shown()
{
	ask w0 /insert/ps/train && ask w1 /insert/ps/train || return
	good pit && has '^/ps/train +confirmed +ps +w0,w1 .* - ' || return
	kill -USR1 "$ps"
	wait_for 5 eval "r0 pit | grep ' 3[.]17/1 ' >/dev/null" || { r0 pit; return 1; }
	good -j pit show /ps && json "len(j) == 1 and j[0]['name'] == '/ps/train' and j[0]['version'] == 12884901905 and j[0]['segment'] == 1 and sorted(j[0]['faces']) == ['w0', 'w1'] and j[0]['state'] == 'confirmed' and j[0]['up'] == 'ps' and j[0]['acked_ms'] < 60000 and j[0]['taken_ms'] < 60000" || return
	good -j pit show /ps/train && json 'len(j) == 1' || return
	good -j pit show /ps/tra && json 'j == []' || return
	good -j pit show /w0 && json 'j == []'
}

cache_is_shown_and_wiped()
{
	good cs && has '/ps/train/v=12884901905/seg=1 +[0-9]+$' || return
	good -j cs show /ps && json "len(j) == 2 and all(d['bytes'] > 500 for d in j)" || return
	good -j cs show /other && json 'j == []' || return
	good cs wipe /other && good -j cs && json 'len(j) == 2' || return
	good cs wipe /ps/train && good -j cs && json 'j == []'
}

strategy_is_shown_and_set()
{
	good status && has '^NDN forwarder +1 of 4096 entries, 3 routes$' &&
		good -j status && json "j['ndn']['routes'] == 3" || return
	good strategy && has '^entries +1 of 4096$' && has '^lease +30.0s$' && has '^leave +15.0s$' && has '^insert +insert$' || return
	good strategy set lease 10s leave 2500ms delete remove && good -j strategy &&
		json "j['lease_ms'] == 10000 and j['leave_ms'] == 2500 and j['delete'] == 'remove' and j['insert'] == 'insert' and j['routes'] == 3" || return
	good -j strategy set lease 0.5m leave 15s delete delete && json 'j == {}' &&
		good strategy && has '^lease +30.0s$'
}

entries_are_forgotten()
{
	good pit del /ps/train && good -j pit && json 'j == []' || return
	ask w1 /insert/ps/train && good -j pit &&
		json "j[0]['faces'] == ['w1']"
}

counters_are_apart()
{
	good stats reset && ask w0 /insert/ps/train && good stats || return
	[[ $(sed -n '/^NDN forwarder$/,$p' "$scratch/out" | grep -c '^ndn-') -gt 2 ]] || said || return
	sed '/^NDN forwarder$/,$d' "$scratch/out" >"$scratch/trees"
	! grep -q '^ndn-' "$scratch/trees" || said || return
	has '^ndn-inserted +1 +[a-z]' || return
	good -j stats && json "sum(s['name'].startswith('ndn-') for s in j) > 40 and all(s['text'] for s in j)"
}

traffic_is_watched()
{
	( sleep 0.3; kill -USR1 "$ps" ) &
	good -j watch --once -n 1 || return
	json "j['ndn']['entries'] == 1 and j['ndn']['routes'] == 3 and 1 <= j['ndn']['data'] < 3 and j['ndn']['drops'] == {} and not [d for d in j['drops'] if d.startswith('ndn-')]" || return
	# The second version is the same: dropped as seen.
	( sleep 0.3; kill -USR1 "$ps" ) &
	good watch --once -n 1 && has '^ndn: 1 entries, 3 routes, [0-9]+ cached, ' &&
		has '^  ndn-drop-seen '
}

# found STATE CHECK SUBJECT
found()
{
	t -j doctor
	json "[n for n in j if (n['state'], n['check'], n['subject']) == ('$1', '$2', '$3') and (n['state'] == 'ok' or n['remedy'])]"
}

doctor_is_content()
{
	found ok ndn "" && json "not [n for n in j if n['state'] == 'fail']"
}

# A packet from the relay itself would count as one of an unknown sender.
doctor_leaves_routers_alone()
{
	local asked="[n for n in j if (n['check'], n['subject']) == ('port', 'ps')]"

	found ok ndn "" && json "$asked" && good face set ps ndn router &&
		found ok ndn "" && json "not $asked" &&
		good face set ps ndn host subscribe none write /ps
}

doctor_sees_faces_without_rights()
{
	good face set w1 subscribe none write none && found warn ndn w1 &&
		good face set w1 subscribe /ps write /w1 && found ok ndn ""
}

doctor_sees_dead_routes()
{
	fabric exec r0 -- ip link add dead type veth peer name alive &&
		fabric exec r0 -- ip link set dead up &&
		good face add d dev dead addr 10.77.99.2 mac 02:00:00:00:00:0d ndn router &&
		good fib add /d via d || return
	fabric exec r0 -- ip link del dead
	wait_for 5 eval "r0 face | grep 'dead (gone)' >/dev/null"
	found fail route /d && good fib del /d && good face del d
}

# No host answers at that address.
doctor_sees_entries_that_wait()
{
	good fib add /ps/mute via w1 || return
	fabric exec w0 -- timeout 1 "$hand" ask /insert/ps/mute
	good pit show /ps/mute && has '^/ps/mute +pending +w1 +w0 +- ' &&
		found warn entry /ps/mute && good fib del /ps/mute && good pit del /ps/mute
}

# An unknown sender, and a face without the right.
doctor_sees_drops()
{
	good stats reset || return
	! fabric exec w0 -- env TRIB_NDN_PORT=7000 timeout 2 "$hand" ask /ps/x
	! fabric exec w0 -- timeout 2 "$hand" ask /insert/secret
	found warn counter ndn-drop-face && found warn counter ndn-drop-right &&
		good stats reset && ! found warn counter ndn-drop-face >/dev/null
}

batch_has_ndn()
{
	printf 'fib add /b via w0\nfib show /b\nfib del /b\nfib show /b\n' >"$scratch/batch"
	t -j batch "$scratch/batch"
	((rc == 1)) && json "[x.get('output') for x in j][:3] == [{}, {'prefix': '/b', 'face': 'w0'}, {}] and '/b' in j[3]['error']"
}

as_nobody()
{
	fabric exec r0 -- setpriv --reuid 65533 --regid 65533 --clear-groups \
		trib "$@" >"$scratch/out" 2>"$scratch/err"
}

others_may_read_only()
{
	local o before line

	for o in fib pit cs strategy; do
		as_nobody -j "$o" || said || return
	done
	before=$(config)
	while read -r line; do
		# shellcheck disable=SC2086 # words
		! as_nobody $line && grep -q '^trib: ' "$scratch/err" || said || return
	done <<-END
	face set w0 write /x
	fib add /x via w0
	fib del /w0
	pit del /ps/train
	cs wipe /
	strategy set lease 5s
	END
	[[ $(config) == "$before" && $(r0 -j pit | grep -c /ps/train) == 1 ]]
}

# Restarted without --ndn: the records are kept, and nothing is forwarded.
doctor_sees_that_it_is_off()
{
	local pid rc=0

	kill "$(<"/run/trib-fabric/$fab/r0.pid")"
	wait_for 5 eval '! r0 status' || return
	nsenter --net="/run/netns/$fab-r0" "$TRIB_BUILD/tribd" \
		--instance "$fab-r0" >"$scratch/tribd.log" 2>&1 &
	pid=$!
	wait_for 60 r0 status && found fail ndn "" || rc=1
	good status && has '^NDN forwarder +off$' || rc=1
	kill "$pid"
	wait "$pid"
	return "$rc"
}

# Print the completions that the shell offers.
offers()
{
	fabric exec r0 -- bash -c '
		. "$1"; shift
		COMP_WORDS=(trib "$@") COMP_CWORD=$#
		_trib; printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "' - \
		"$PWD/userspace/cli/man/trib.bash-completion" "$@"
}

new_fabric
ok "fabric__star_with_names" fabric up star --workers 2 --ndn
ps=
start_ps || { echo "Bail out! no PS"; exit 1; }
trap 'rc=$?; kill $ps 2>/dev/null; (exit $rc); cleanup' EXIT

ok "off__is_said_by_every_command" off_is_said
ok "off__is_no_trouble" off_is_no_trouble
ok "fib__add_show_del" routes
ok "face__add_set_show" faces
ok "face__ethernet_needs_no_address" ethernet_faces
ok "pit__shows_subscriptions" entries_are_shown
ok "cs__shows_and_wipes" cache_is_shown_and_wiped
ok "strategy__show_set" strategy_is_shown_and_set
ok "pit__del_forgets_until_the_next_renewal" entries_are_forgotten
ok "stats__names_apart" counters_are_apart
ok "watch__names" traffic_is_watched
ok "doctor__content" doctor_is_content
ok "doctor__does_not_ask_routers_ports" doctor_leaves_routers_alone
ok "doctor__faces_without_rights" doctor_sees_faces_without_rights
ok "doctor__routes_to_nowhere" doctor_sees_dead_routes
ok "doctor__entries_pending_for_long" doctor_sees_entries_that_wait
ok "doctor__senders_and_what_they_may" doctor_sees_drops
ok "batch__names" batch_has_ndn
ok "others__read_and_change_nothing" others_may_read_only

is "completion__objects" "$(offers p)" "pit plan"
is "completion__faces_after_via" "$(offers fib add /x via w)" "w0 w1"
is "completion__routes" "$(offers fib del /w)" "/w0 /w1"
is "completion__kinds" "$(offers face set w0 ndn '')" "host none router"
is "completion__keywords_have_dashes" "$(offers face set w0 n)" "ndn ndn-port"
is "completion__values_are_no_keywords" "$(offers face set w0 h)" ""
is "completion__strategy" "$(offers strategy set l)" "lease leave"

refuse 2 'via FACE is missing' fib add /x
refuse 2 'PREFIX is missing' fib add
refuse 1 'PREFIX "x"' fib add x via w0
refuse 1 'nobody' fib add /x via nobody
refuse 1 '/x' fib del /x
refuse 1 '/x' fib show /x
refuse 1 'marker' fib add /insert/ps via w0
refuse 1 'w0' face del w0
refuse 2 'nothing to change: give comment, forward, watch, ndn, ndn-port, subscribe or write' face set w0
refuse 1 'nobody' face set nobody ndn host
refuse 1 'ndn "guest"' face set w0 ndn guest
refuse 1 'ndn-port "0"' face set w0 ndn-port 0
refuse 1 'write "w0"' face set w0 write w0
refuse 2 'none stands alone' face set w0 write none /a
refuse 1 '/insert' face set w0 write /insert/a
refuse 2 'addr ADDR is missing' face add x dev p1 ndn host
refuse 1 'addr' face add x dev p1 ndn host ndn-port 6363
refuse 2 'need ndn host or ndn router' face add x dev p1 addr 10.77.1.9 write /x
refuse 1 '/nobody' pit del /nobody
refuse 2 'NAME is missing' pit del
refuse 2 'PREFIX is missing' cs wipe
refuse 2 '"x" is not expected' pit show / x
refuse 2 'nothing to change: give lease, leave, insert, distribute or delete' strategy set
refuse 1 'lease "30"' strategy set lease 30
refuse 1 'lease "99ms"' strategy set lease 99ms
refuse 1 'insert "a/b"' strategy set insert a/b
refuse 1 'distribute' strategy set insert distribute
refuse 2 '"x" is not expected' strategy show x

kill $ps
wait $ps 2>/dev/null
ok "doctor__off_though_faces_are_for_it" doctor_sees_that_it_is_off
ok "down__takes_names_along" fabric down
done_testing
