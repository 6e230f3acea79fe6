#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of build/fuzz-xdp on both objects, always the same: what
# `make check` affords. README.md has the long one.
set -u
cd "$(dirname "$0")/../../.." || exit 1

if [[ $EUID != 0 ]]; then
	echo "1..0 # SKIP needs root, for a network namespace and BPF"
	exit 4
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
n=0
scale=${TRIB_TEST_SCALE:-1}
for nval in 352 832; do
	n=$((n + 1))
	name=packets_do_what_the_model_does__$nval
	if FUZZ_NVAL=$nval timeout $((300 * scale)) build/fuzz-xdp -seed=1 -runs=$((8000 * scale)) \
		-max_len=512 -artifact_prefix="$tmp/" >"$tmp/log" 2>&1; then
		grep -a '^fuzz-xdp:' "$tmp/log" | sed 's/^/# /'
		echo "ok $n - $name"
	else
		failed=1
		sed 's/^/# /' "$tmp/log" | tail -40
		for f in "$tmp"/crash-*; do
			[[ -e $f ]] && echo "# input: $(base64 -w0 "$f")"
		done
		echo "not ok $n - $name"
	fi
done
echo "1..$n"
exit $failed
