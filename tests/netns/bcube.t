#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# BCubes whose servers sum in XDP: right sums, all links carry the same, and
# nothing travels that the formula does not know.
#
#	BCube(2,2):	w0 w1  w2 w3	level 0: s0 (w0 w1), s1 (w2 w3)
#			  \/\  /\/	level 1: s2 (w0 w2), s3 (w1 w3)
set -uo pipefail
# shellcheck source=tests/netns/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/netns/sums.sh
. tests/netns/sums.sh

need_root
need_programs tribd trib trib-perf tests/netns/wire

# bytes SERVERS: what went through each of their NICs, as JSON.
bytes()
{
	local v

	for ((v = 0; v < $1; v++)); do
		fabric exec "w$v" -- ip -s -j link show
	done
}

# spread MESSAGE LINKS BEFORE AFTER: how far the NIC is from the mean that is
# farthest from it, and the mean over what the formula says, both ways.
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

# equal N K: after sums of 4 MiB on slow wires. Checking them is traffic, too.
equal()
{
	local n=$1 k=$2 servers=$(($1 ** $2)) wish result try

	ok "bcube_$n,$k: sums over slow wires are right" \
		sums -A bcube -b 1m -e 1m -n 1 -w 0
	# Ranks that get no CPU for long are asked for what they lack.
	for try in 1 2 3; do
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
	within "bcube_$n,$k: all links carry the same" "${result% *}" 0 2
	# 2 (W - 1) / (W k), and the headers of 1490 bytes with 1408 of values.
	wish=$(awk "BEGIN { print 2 * ($servers - 1) / ($servers * $k) }")
	within "bcube_$n,$k: they carry what the formula says" "${result#* }" \
		"$wish" "$(awk "BEGIN { print 1.12 * $wish }")"
}

for shape in "2 2" "3 2" "2 3"; do
	read -r n k <<<"$shape"
	case_of "bcube_$n,$k" bcube --n "$n" --k "$k" --window 64
	is_over "bcube_$n,$k: results are mapped" xdp
	fabric down
	up bcube --n "$n" --k "$k" --window 32 --rate 70m
	equal "$n" "$k"
	fabric down
done

# Inner nodes hand partial sums on, and no user space is in between.
up bcube --window 64
ok "bcube: sums of small and odd messages are right" \
	sums -A bcube -b 4 -e 4k -f 32 -n 3 -w 0
within "bcube: partial sums hop from level to level" "$(stat w0 tx-partial)" \
	1 1e9
fabric down

faulty_case bcube_faults bcube --window 64 --loss 1 --dup 1 --reorder 1

# A star has one tree, and four ranks.
up star
matches "perf__bcube_needs_a_bcube" \
	"$(timeout 20 scripts/fabric -n "$fab" run -- trib-perf -A bcube 2>&1)" \
	'4 ranks with 1 trees are no BCube'
fabric down

done_testing
