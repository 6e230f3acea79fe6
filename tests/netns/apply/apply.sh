# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Applies plans to fabrics whose tribds start without configuration. Sourced by
# tests of trib apply.
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/test.sh"

need_root
need_programs trib tribd trib-perf
bin=$(realpath "$TRIB_BUILD")
PATH=$bin:$PATH

on() { fabric exec "$1" -- trib "${@:2}"; }

# bare KIND HOST...: brings up a fabric and removes its configuration.
bare()
{
	local host f

	hosts=("${@:2}")
	new_fabric
	fabric up "$1" --workers 2 >/dev/null || return 1
	for host in "${hosts[@]}"; do
		on "$host" job del train || return 1
		for f in $(on "$host" -j face show |
			grep -oE '"name":"[^"]*"' | cut -d'"' -f4); do
			on "$host" face del "$f" || return 1
		done
	done
}

# make_plan SPEC RELAYS FILE [MORE]
make_plan()
{
	local job='"name":"train","workers":"all","window":64'

	echo "{\"jobs\":[{$job,\"max_relays\":$2${4-}}]}" >"$scratch/jobs"
	trib plan --builtin "$1" "$scratch/jobs" -o "$3" >/dev/null
}

apply() { trib apply "$@" --via "nsenter --net=/run/netns/$fab-{} --"; }

# world: prints the configuration of all hosts, without values that change by
# themselves.
world()
{
	local host what

	for host in "${hosts[@]}"; do
		for what in face job tree; do
			on "$host" -p "$what" show || return 1
		done | grep -vE '"(samples|lag_ns|last|chunk|seen_ms|mac|pid)"' |
			sed "s/^/$host /"
	done
}

# change FILE CODE: writes the plan to FILE after Python code has changed it (p).
change()
{
	python3 - "$scratch/plan" "$1" "$2" <<-'EOF_PY'
	import json, sys
	p = json.load(open(sys.argv[1]))
	h = {x["host"]: x for x in p["hosts"]}
	exec(sys.argv[3])
	json.dump(p, open(sys.argv[2], "w"))
	EOF_PY
}

sums()
{
	fabric run --fail-fast -- trib-perf -b 64K -e 64K -n 20 \
		>"$scratch/perf" 2>&1 || { cat "$scratch/perf"; return 1; }
}

# refuses NAME FILE PATTERN: apply fails with this reason and changes nothing.
refuses()
{
	local before after text

	before=$(world)
	if text=$(apply "$2" 2>&1); then
		fail "$1"
		return
	fi
	after=$(world)
	matches "$1" "$text" "$3"
	is "$1"_changes_nothing "$after" "$before"
}
