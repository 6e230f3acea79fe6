# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # fab and scratch are lib.sh's
# For tests that sum on a fabric with trib-perf, which checks each result
# against an exact oracle on every rank. Sourced after lib.sh. Slow machines set
# SUMS_SECONDS for one run of trib-perf and SUMS_LARGEST, its largest message.

# up OPTION...: a fabric for one case. 0 if it is there.
up()
{
	local text

	new_fabric
	text=$(fabric up "$@" 2>&1) && return
	diag "$text"
	return 1
}

# sums ARG...: all ranks, and trib-perf's word for it that nothing was wrong.
sums()
{
	timeout "${SUMS_SECONDS:-90}" scripts/fabric -n "$fab" run --fail-fast -- trib-perf \
		-c 2 "$@" >"$scratch/out" 2>&1 &&
		grep -q '^# Out of bounds values : 0 OK' "$scratch/out"
}

# stat HOST NAME: a counter of its tribd.
stat()
{
	fabric exec "$1" -- trib -j stats show | python3 -c "
import json, sys
print(sum(s['value'] for s in json.load(sys.stdin) if s['name'] == '$2'))"
}

# case_of NAME OPTION...: 32-bit floats of several sizes, then integers; leaves
# the fabric up for more.
case_of()
{
	local name=$1

	shift
	if ! up "$@"; then
		fail "$name"
		return
	fi
	if sums -b 4 -e "${SUMS_LARGEST:-1m}" -f 16 -n 5 -w 1 &&
	   sums -b 300k -e 300k -n 5 -w 1 -d int32; then
		pass "$name"
	else
		diag "$(tail -n 20 "$scratch/out")"
		fail "$name"
	fi
}

# With faults, losses must have been seen, too.
faulty_case()
{
	case_of "$@"
	within "$1: packets were lost" "$(fabric status |
		awk '/^from/ {for (i = 1; i < NF; i++)
			if ($i == "lost") n += $(i + 1)} END {print n + 0}')" \
		1 1e9
	fabric down
}

is_over() { matches "$1" "$(head -n 1 "$scratch/out")" "$2 transport"; }
