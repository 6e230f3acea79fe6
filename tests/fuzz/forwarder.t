#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of build/fuzz-forwarder, always the same: what `make check` affords.
# README.md has the long one.
set -u
cd "$(dirname "$0")/../.." || exit 1

if [[ $EUID != 0 ]]; then
	echo "1..0 # SKIP needs root, for a network namespace and BPF"
	exit 4
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
scale=${TRIB_TEST_SCALE:-1}
name=both_parsers_see_the_same
if timeout $((300 * scale)) build/fuzz-forwarder -seed=1 -runs=$((60000 * scale)) -max_len=300 \
	-dict=tests/fuzz/ndn.dict -artifact_prefix="$tmp/" >"$tmp/log" 2>&1
then
	grep -a '^fuzz-forwarder:' "$tmp/log" | sed 's/^/# /'
	echo "ok 1 - $name"
	rc=0
else
	sed 's/^/# /' "$tmp/log" | tail -40
	for f in "$tmp"/crash-*; do
		[[ -e $f ]] && echo "# input: $(base64 -w0 "$f")"
	done
	echo "not ok 1 - $name"
	rc=1
fi
echo "1..1"
exit $rc
