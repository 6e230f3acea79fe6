#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A plan without trees: hosts of a torus, which have no relay, learn from it where the
# ranks of the job meet.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs trib tribd trib-perf

# apply WORD: applies the plan of jobs whose peers are WORD.
# shellcheck disable=SC2317 # called through ok
apply()
{
	echo "{\"jobs\": [{\"name\": \"train\", \"workers\": \"all\", \"peers\": $1}]}" \
		>"$scratch/jobs.json"
	"$TRIB_BUILD/trib" plan --builtin torus:1,2 "$scratch/jobs.json" \
		-o "$scratch/plan.json" >/dev/null && fabric apply "$scratch/plan.json"
}

echo '{"builtin": "torus:1,2"}' >"$scratch/torus.json"
up file "$scratch/torus.json" --no-rate
ok "apply a plan without trees" apply true
ok "its job needs none" sums -b 4 -e 1m -f 64 -n 3
matches "... goes by peers" "$(head -n 1 "$scratch/out")" "peer transport"
ok "apply it again" apply true
matches "a job meets where it did" "$(apply '"10.77.0.1:7500"' 2>&1)" \
	"job train: peers is 10.77.0.1:7416 there, 10.77.0.1:7500 in the plan"
fabric down
done_testing
