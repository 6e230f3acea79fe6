#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib-train over a relay with compressed gradients: it learns, with parameters that are
# the same bits on all ranks, and once more in a second run.
# shellcheck disable=SC2317 # functions that are called through ok
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs tribd trib trib-train

# train ARGS...: a short training; figures in $scratch/json.
train()
{
	fabric run --fail-fast -- timeout 120 trib-train --task loud8 --hidden 64 \
		--samples 8192 --test 2048 --batch 128 --epochs 4 --json "$scratch/json" "$@" \
		>"$scratch/out" 2>&1
}

# figure EXPRESSION: of the JSON `j`, with Python.
figure() { python3 -c "import json, sys; j = json.load(open(sys.argv[1])); print($1)" "$scratch/json"; }

# learns NAME SPEC MIN MAX: the ratio of bytes is between MIN and MAX.
learns()
{
	local name=$1 spec=$2 hash

	if ! train --compress "$spec"; then
		diag "$(tail -n 20 "$scratch/out")"
		fail "$name"
		return
	fi
	ok "$name: all ranks have the same parameters" test "$(figure 'j["identical"]')" = True
	within "$name: saves bytes" "$(figure 'j["compressed_dense_bytes"] / j["compressed_sent_bytes"]')" "$3" "$4"
	within "$name: learns" "$(figure 'j["test_accuracy"]')" 0.3 1
	hash=$(figure 'j["hash"]')
	train --compress "$spec"
	ok "$name: another run gives the same bits" test "$(figure 'j["hash"]')" = "$hash"
}

up star
learns ints 2:4+int8 5 6
learns local 2:4/local 1.7 2
learns schedule 0:dense,64:4:8,128:2:4+int4 1.5 4
train
dense=$(figure 'j["hash"]')
train --compress dense
ok "dense: as without compression" test "$(figure 'j["hash"]')" = "$dense"
train --compress 2:4
with=$(figure 'j["epochs"][-1]["loss"]')
train --compress 2:4 --no-feedback
within "no feedback: learns less" "$(figure "j['epochs'][-1]['loss'] / $with")" 1.01 2
fabric down
done_testing
