#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of the planner's fuzzer with a fixed seed. A long run:
#	build/fuzz-plan -max_len=4000 -dict=tests/plan/plan.dict CORPUS
set -u
cd "$(dirname "$0")/../.." || exit

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/corpus"
job='{"name":"a","workers":"all","max_relays":2,"weight":2,"window":8}'
ps='{"name":"b","workers":["w1"],"ps":"w0","max_relays":1,"mode":"shared"}'
link='{"a":"s","b":"h","capacity":"1G","a_dev":"p0","a_addr":"10.0.0.1"}'
nic='{"name":"x","nics":[{"dev":"e","addr":"10.0.0.1"}]}'
printf 'j{"jobs":[%s]}' "$job" >"$tmp/corpus/job"
printf 'j{"jobs":[%s,%s]}' "$job" "$ps" >"$tmp/corpus/jobs"
printf 't{"switches":["s"],"hosts":[{"name":"h"}],"links":[%s]}' "$link" \
	>"$tmp/corpus/links"
printf 't{"builtin":"fat-tree:4","capacity":1}' >"$tmp/corpus/builtin"
printf 't{"bcube":{"ports":2,"hosts":[%s,%s]}}' "$nic" "${nic/x/y}" \
	>"$tmp/corpus/bcube"
printf '{"jobs":[%s]}' "$ps" >"$tmp/jobs"
build/trib plan --builtin star:2 "$tmp/jobs" 2>/dev/null |
	sed '1s/^/p/' >"$tmp/corpus/plan"

failed=0
if timeout 200 build/fuzz-plan -seed=1 -runs=4000 -max_len=1500 \
	-timeout=30 -dict=tests/plan/plan.dict -artifact_prefix="$tmp/" \
	"$tmp/corpus" </dev/null >"$tmp/log" 2>&1; then
	echo "ok 1 - plan__stands_bad_input"
else
	failed=1
	sed 's/^/# /' "$tmp/log" | tail -40
	for f in "$tmp"/crash-* "$tmp"/leak-* "$tmp"/timeout-*; do
		[[ -e $f ]] && echo "# input: $(base64 -w0 "$f")"
	done
	echo "not ok 1 - plan__stands_bad_input"
fi
echo 1..1
exit $failed
