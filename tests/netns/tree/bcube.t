#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# BCubes whose servers sum in XDP: sums are right, all links carry the same, and as
# much as the formula says.
#
#	BCube(2,2):	w0 w1  w2 w3	level 0: s0 (w0 w1), s1 (w2 w3)
#			  \/\  /\/	level 1: s2 (w0 w2), s3 (w1 w3)
# shellcheck disable=SC2317 # functions that are called through ok and wait_for
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs tribd trib trib-perf scripts/wire/wire

# bytes SERVERS: prints the bytes of each of their NICs as JSON.
bytes()
{
	local v

	for ((v = 0; v < $1; v++)); do
		fabric exec "w$v" -- ip -s -j link show
	done
}

# spread MESSAGE LINKS BEFORE AFTER: prints the largest distance of a NIC from the
# mean, and the mean over the formula's value, for both directions.
spread()
{
	python3 - "$@" <<-'EOF'
	import json, sys

	message, links = int(sys.argv[1]), int(sys.argv[2])

	def counters(path):
	    decoder, text, at, out = json.JSONDecoder(), open(path).read(), 0, []
	    while text[at:].strip():
	        at += len(text[at:]) - len(text[at:].lstrip())
	        devs, at = decoder.raw_decode(text, at)
	        out += [(d["stats64"]["rx"]["bytes"], d["stats64"]["tx"]["bytes"])
	                for d in devs if d["ifname"].startswith("eth")]
	    return out

	moved = [[b[i] - a[i] for a, b in zip(counters(sys.argv[3]),
	                                      counters(sys.argv[4]))]
	         for i in (0, 1)]
	assert len(moved[0]) == links, moved
	worst = max(abs(v - sum(d) / links) / (sum(d) / links)
	            for d in moved for v in d)
	print(100 * worst, sum(moved[0]) / links / message)
	EOF
}

unchecked()
{
	timeout 60 scripts/fabric -n "$fab" run --fail-fast -- trib-perf -A bcube \
		-c 0 "$@"
}

# equal N K: after sums of 4 MiB on slow wires. Their checks are traffic too.
equal()
{
	local n=$1 k=$2 servers=$(($1 ** $2)) wish result try

	# Ranks without CPU for long are asked for their contributions.
	for try in 1 2 3 4 5; do
		bytes "$servers" >"$scratch/before"
		unchecked -b 4m -e 4m -n 3 -w 0 >"$scratch/out" 2>&1 ||
			diag "$(<"$scratch/out")"
		bytes "$servers" >"$scratch/after"
		result=$(spread $((3 * 4194304)) $((servers * k)) \
			"$scratch/before" "$scratch/after")
		diag "try $try: farthest from the mean, in percent, and bytes" \
			"over those summed: $result"
		awk "BEGIN { exit ${result% *} > 2 }" && break
	done
	# 2 (W - 1) / (W k), and the headers of 1490 bytes with 1408 of values.
	wish=$(awk "BEGIN { print 2 * ($servers - 1) / ($servers * $k) }")
	# Retransmits on a busy machine may be on any link.
	within "bcube_$n,$k: all links carry the same" "${result% *}" 0 \
		"$(awk "BEGIN { more = ${result#* } / ($wish * 1490 / 1408) - 1
			print 2 + 100 * (more > 0 ? more : 0) }")"
	within "bcube_$n,$k: they carry what the formula says" "${result#* }" \
		"$wish" "$(awk "BEGIN { print 1.12 * $wish }")"
}

# forwarded HOST: prints the packets that its kernel has routed.
# shellcheck disable=SC2016 # expanded by awk
forwarded()
{
	fabric exec "$1" -- awk '/^Ip: [0-9]/ {print $6}' /proc/net/snmp
}

has_detour()
{
	fabric exec w0 -- ip route show 10.77.0.2 proto 74 | grep via >/dev/null
}
no_detour() { ! has_detour; }

# all_alive SERVERS: each tribd hears from all its neighbours, by their own links.
all_alive()
{
	local v

	for ((v = 0; v < $1; v++)); do
		fabric exec "w$v" -- trib -j face show | grep '"neighbour":"dead"' >/dev/null &&
			return 1
	done
	return 0
}

unproven() { fabric exec w0 -- trib -j status | python3 -c "
import json, sys
s = json.load(sys.stdin)
print((s[0] if isinstance(s, list) else s)['unproven'])"; }
done_more() { (($(stat w0 "done") > $1 + 50)); }
log_says() { grep -q "$2" "/run/trib-fabric/$fab/$1.log"; }

# All other ranks are told at once which rank failed.
killed()
{
	local pid start=$SECONDS

	timeout 60 scripts/fabric -n "$fab" run -- trib-perf -c 0 -b 1m \
		-e 1m -n 100000 >"$scratch/out" 2>&1 &
	pid=$!
	before=$(stat w0 "done")
	wait_for 20 done_more "$before"
	kill -KILL "$(grep -l '^w3$' "/run/trib-fabric/$fab/run/"* | xargs -n 1 \
		basename)"
	wait $pid
	echo "$((SECONDS - start <= 20)) $(grep -c 'rank [0-2]: allreduce .*rank 3' "$scratch/out")"
}

# Inner nodes pass partial sums on without user space.
up bcube --window 64
ok "bcube: sums of small and odd messages are right" \
	sums -A bcube -b 4 -e 4k -f 32 -n 3 -w 0
within "bcube: partial sums hop from level to level" "$(stat w0 tx-partial)" \
	1 1e9
is "bcube: a killed rank is soon named to all others" "$(killed)" "1 3"
# The first face behind trib0 creates the pair, the last one removes it.
ok "local: the pair is there with its face" \
	fabric exec w0 -- ip link show dev trib1
fabric exec w0 -- trib job del train
ok "local: its face can go" fabric exec w0 -- trib face del local
is "local: and takes the pair along" \
	"$(fabric exec w0 -- ip link show dev trib0 2>&1)" \
	'Device "trib0" does not exist.'
fabric down

faulty_case bcube_faults bcube --window 64 --loss 1 --dup 1 --reorder 1

# cut NAME PORT...: sums continue while ports of switch s0 go down.
cut()
{
	local name=$1 before pid rc=0 port
	local ports=("${@:2}")

	before=$(stat w0 "done")
	timeout 60 scripts/fabric -n "$fab" run --fail-fast -- trib-perf -c 2 \
		-d int32 -b 512k -e 512k -w 0 -n 25 >"$scratch/out" 2>&1 &
	pid=$!
	wait_for 20 done_more "$before"
	for port in "${ports[@]}"; do
		fabric exec s0 -- ip link set "$port" down
	done
	ok "$name, ${ports[*]} cut: routes lead round it" wait_for 10 has_detour
	ok "$name, ${ports[*]} cut: it was while sums were under way" kill -0 $pid
	wait $pid || rc=$?
	is "$name, ${ports[*]} cut: all sums are right" "$rc $(grep -c \
		'^# Out of bounds values : 0 OK' "$scratch/out")" "0 1"
	((rc == 0)) || diag "$(tail -n 20 "$scratch/out")"
	ok "$name, ${ports[*]} cut: the daemon says so" log_says w0 'packets make a detour'
}

# Sends w0 what looks like a message of w1: rubbish, and a probe with a wrong
# authenticator. `trib status` counts what proves no sender.
lie()
{
	fabric exec w1 -- python3 - <<-'EOF'
		import socket, struct
		sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
		probe = struct.pack(">QIBBHQQQ", 1, 0x54574159, 1, 1, 0, 1 << 62, 0, 0)
		news = struct.pack(">QIBBHQQQQQBB6x", 1, 0x54574159, 1, 2, 1, 0, 0, 0,
		                   1, 1 << 62, 0, 1)
		for packet in b"", probe[:20], probe, news, bytes(1400):
		    sock.sendto(packet, ("10.77.0.1", 7415))
		EOF
}

# The link between w0 and s0 is dead; w2 and w3 are on the detour.
two_by_two()
{
	local before relayed

	before=$(forwarded w2)
	relayed=$(stat w2 relayed)
	ok "bcube: with the link cut, others sum through w2" \
		sums -b 256k -e 256k -n 4
	within "bcube: XDP relays them, not w2's kernel" \
		$(($(forwarded w2) - before)) 0 200
	within "bcube: ... and it counts them" \
		$(($(stat w2 relayed) - relayed)) 1000 1e9
	ok "bcube: any host is reached round the link" \
		fabric exec w0 -- ping -q -c 1 -W 2 10.77.0.2
	fabric exec s0 -- ip link set p0 up
	ok "bcube: routes come back with the link" wait_for 10 no_detour
	ok "bcube: ... and sums over it" sums -b 4 -e 64k -f 16 -n 3
	before=$(unproven)
	lie
	ok "bcube: forged news are not heard" no_detour
	within "bcube: ... and counted" "$(($(unproven) - before))" 5 1000
	cut "bcube_2,2" p0 p1
}

# Slow enough for two cores to serve all links in time: late ranks are asked again,
# which is traffic too.
for shape in "2 2 70m" "3 2 35m" "2 3 25m"; do
	read -r n k rate <<<"$shape"
	case_of "bcube_$n,$k" bcube --n "$n" --k "$k" --window 32 \
		--rate "$rate"
	is_over "bcube_$n,$k: results are mapped" xdp
	ok "bcube_$n,$k: all neighbours answer" wait_for 10 all_alive $((n ** k))
	equal "$n" "$k"
	cut "bcube_$n,$k" p0
	[[ $n$k != 22 ]] || two_by_two
	fabric down
done

# A star has one tree, and four ranks.
up star
matches "perf__bcube_needs_a_bcube" \
	"$(timeout 20 scripts/fabric -n "$fab" run -- trib-perf -A bcube 2>&1)" \
	'4 ranks with 1 trees are no BCube'
fabric down

done_testing
