#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A plan's rows, loaded into the tribds of a fabric in the order in which they
# stand, make a job that sums. (trib apply is to do it by itself.)
# shellcheck source=tests/netns/lib.sh
. "$(dirname "$0")/../netns/lib.sh"

name=plan-apply-$$
fabrics+=("$name")

# lines HOST: its rows as commands for trib batch.
lines()
{
	python3 - "$scratch/plan" "$1" <<-'EOF_PY'
	import json, sys
	plan = json.load(open(sys.argv[1]))
	for row in plan["hosts"]:
	    if row["host"] != sys.argv[2]:
	        continue
	    for f in row["faces"]:
	        print("face add", f["name"], "dev", f["dev"], "addr", f["addr"])
	    for j in row["jobs"]:
	        print("job add", j["name"], *(f"{k} {j[k]}" for k in (
	            "world", "id", "cookie", "window", "timeout", "owner",
	            "rate") if k in j))
	    for t in row["trees"]:
	        line = ["tree add", t["job"], "id", t["id"]]
	        for c in t.get("children", []):
	            line += ["child", c["face"] + (
	                f":{c['rank']}" if "rank" in c else "")]
	        if "parent" in t:
	            line += ["parent", t["parent"]]
	        if "index" in t:
	            line += ["index", t["index"]]
	        for x in t.get("local", []):
	            line += ["local", f"{x['rank']}:{x['index']}"]
	        for d in t.get("down", []):
	            line += ["down", d]
	        print(*line)
	EOF_PY
}

# clear HOST: what the fabric told its tribd.
clear()
{
	local f

	scripts/fabric -n "$name" exec "$1" -- trib job del train &&
		for f in $(scripts/fabric -n "$name" exec "$1" -- \
			trib -j face show | grep -oE '"name":"[^"]*"' |
			cut -d'"' -f4); do
			scripts/fabric -n "$name" exec "$1" -- \
				trib face del "$f" || return 1
		done
}

# planned KIND SPEC RELAYS HOST...: fabric, plan, rows, sums.
planned()
{
	local kind=$1 spec=$2 relays=$3 host job
	shift 3
	job='"name":"train","workers":"all","cookie":"5eed","window":64'

	scripts/fabric -n "$name" up "$kind" --workers 2 >/dev/null || return 1
	echo "{\"jobs\":[{$job,\"max_relays\":$relays}]}" >"$scratch/jobs"
	"$TRIB_BUILD/trib" plan --builtin "$spec" "$scratch/jobs" \
		-o "$scratch/plan" >/dev/null || return 1
	for host; do
		clear "$host" || return 1
	done
	for host; do
		lines "$host" >"$scratch/$host.trib"
		scripts/fabric -n "$name" exec "$host" -- trib batch \
			"$scratch/$host.trib" || return 1
	done
	scripts/fabric -n "$name" run --fail-fast -- trib-perf -b 64K -e 64K \
		-n 20 >"$scratch/out" 2>&1 || { diag "$(<"$scratch/out")"; return 1; }
	scripts/fabric -n "$name" down >/dev/null
}

if planned star star:2 1 r0 w0 w1; then
	pass rows__of_a_star_sum
else
	fail rows__of_a_star_sum
	scripts/fabric -n "$name" down >/dev/null 2>&1
fi
if planned tree two-tier:2,2 3 r0 r1 r2 w0 w1 w2 w3; then
	pass rows__of_two_tiers_sum
else
	fail rows__of_two_tiers_sum
fi
done_testing
