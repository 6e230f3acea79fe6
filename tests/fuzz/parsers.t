#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Short runs of the fuzzers of user space, always the same: what `make check`
# affords. README.md has the long ones.
set -u
cd "$(dirname "$0")/../.." || exit

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
n=0
scale=${TRIB_TEST_SCALE:-1}

# short NAME RUNS MAX_LEN [ARGUMENT...]
short()
{
	local name=$1 runs=$2 len=$3
	shift 3
	n=$((n + 1))
	if timeout $((300 * scale)) "build/fuzz-$name" -seed=1 -runs=$((runs * scale)) \
		-max_len="$len" -artifact_prefix="$tmp/" "$@" \
		</dev/null >"$tmp/log" 2>&1; then
		echo "ok $n - ${name}__stands_bad_input"
		return
	fi
	failed=1
	sed 's/^/# /' "$tmp/log" | tail -40
	for f in "$tmp"/crash-* "$tmp"/leak-* "$tmp"/timeout-*; do
		[[ -e $f ]] && echo "# input: $(base64 -w0 "$f")"
	done
	echo "not ok $n - ${name}__stands_bad_input"
}

mkdir "$tmp/ticket"
query='job=7&cookie=abcdef0123456789&rank=3&world=8&tree=1:2&tree=2:3'
printf 'trib://%s' "10.0.0.1/train?$query" >"$tmp/ticket/v4"
printf 'trib://%s' "[fd00::1]:7417/train?$query" >"$tmp/ticket/v6"
printf 'trib://%s' "10.0.0.1/train?$query:7418@239.77.0.1" >"$tmp/ticket/g4"
printf 'trib://%s' "[fd00::1]/train?$query:7418@[ff15::77]" >"$tmp/ticket/g6"
short ticket 100000 400 -dict=tests/fuzz/ticket.dict "$tmp/ticket"
mkdir "$tmp/ndn"
name='\x07\x0b\x08\x02ps\x08\x02jb\x32\x01\x00'
digest='\x02\x20aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb'
sig='\x16\x03\x1b\x01\x00\x17\x01s'
# shellcheck disable=SC2059 # the bytes are the format
{
	printf "p\x05\x18$name\x21\x00\x0a\x041234\x22\x01\x05" \
		>"$tmp/ndn/interest"
	printf "p\x05\x27\x07\x22$digest\x24\x01p" >"$tmp/ndn/params"
	printf "p\x06\x1d$name\x14\x03\x19\x01\x0a\x15\x01x$sig" \
		>"$tmp/ndn/data"
	printf "p\x64\x18\x62\x01t\xfd\x03\x20\x00\x50\x0f\x05\x0d$name" \
		>"$tmp/ndn/lp"
	printf 'd\x00\x0f\x03\x01\x08\x00\x02psjob' >"$tmp/ndn/d"
	printf 'i\x07\x3f\x03\x01\x08\x00\x02psjob' >"$tmp/ndn/i"
	printf 't/ps/job/v=3/seg=0' >"$tmp/ndn/text"
}
short ndn 300000 600 -dict=tests/fuzz/ndn.dict "$tmp/ndn"
short netlink 3000 1500
# Two jobs; time passes, one worker accepts and gives its segments.
mkdir "$tmp/ps"
# shellcheck disable=SC2059 # the bytes are the format
printf "\\x31\\x30\\x15\\x03\\x04\\x00\\x15\\x15\\x03\\x00\\x00\\x03\\x08\\x00\\x03\\x10\\x00\\x03\\x18\\x00" \
	>"$tmp/ps/round"
# The same with NaN in the first segment; three rounds of the largest values.
offer='\x31\x30\x15\x03\x04\x00\x15\x15'
largest='\x03\x00\x08\x00\x7f\x7f\xff\xff\x03\x08\x00\x03\x10\x00\x03\x18\x00'
printf '%b' "$offer\\x03\\x00\\x08\\x00\\x7f\\xc0\\x00\\x00" >"$tmp/ps/nan"
printf '%b' "$offer$largest" "\\x15\\x15$largest" "\\x15\\x15$largest" \
	>"$tmp/ps/largest"
short ps 30000 400 -dict=tests/fuzz/ndn.dict "$tmp/ps"
# A task is offered, started and subscribed to; a model, its gradient.
mkdir "$tmp/worker"
printf '%b' '\x01\x00\x00\x00\x00\x00\x06\x23\x00\x00\x00' \
	'\x06\x24\x00\x00\x00\x06\x25\x01\x00\x00\x06\x25\x01\x01\x00' \
	'\x06\x25\x01\x02\x00\x06\x25\x01\x03\x00\x04\x02\x04\x05' \
	'\x01\x01\x01\x00\x00\xff' >"$tmp/worker/round"
short worker 30000 400 -dict=tests/fuzz/ndn.dict "$tmp/worker"
short join 10000 600
short attach 20000 300
# A result with another number lets a rank run ahead: all wait, for ever.
mkdir "$tmp/lib"
printf '\xa6\xd1\x01\x00\xfb\x01\x00\x00\x00\x00\xa9\xd1\xd1\x01' \
	>"$tmp/lib/ahead"
short lib 1500 800 "$tmp/lib"
echo "1..$n"
exit $failed
