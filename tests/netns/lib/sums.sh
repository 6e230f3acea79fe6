# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # fab and scratch are lib.sh's
# For tests that sum on a fabric with trib-perf, which checks each result on every
# rank against an exact oracle. Sourced after test.sh. Tests on slow machines set
# SUMS_SECONDS, the limit of one trib-perf, and SUMS_LARGEST, its largest message.

# up OPTION...: brings up a new fabric.
up()
{
	local text

	new_fabric
	text=$(fabric up "$@" 2>&1) && return
	diag "$text"
	return 1
}

# sums ARG...: runs trib-perf on all ranks; succeeds if every value was right.
sums()
{
	timeout "${SUMS_SECONDS:-90}" scripts/fabric -n "$fab" run --fail-fast -- trib-perf \
		-c 2 "$@" >"$scratch/out" 2>&1 &&
		grep -q '^# Out of bounds values : 0 OK' "$scratch/out"
}

# stat HOST NAME: prints a counter of its tribd.
stat()
{
	fabric exec "$1" -- trib -j stats show | python3 -c "
import json, sys
print(sum(s['value'] for s in json.load(sys.stdin) if s['name'] == '$2'))"
}

# case_of NAME OPTION...: sums 32-bit floats of several sizes, then integers.
# Leaves the fabric up.
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

# faulty_case NAME OPTION...: the same; the wires must have lost packets.
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

# device_case NAME: sums values in the memory of a GPU, by $TRIB_GPU_LIBRARY, on the
# fabric that is up.
device_case()
{
	local spec memory

	for spec in dense 2:4 2:4+int8 int4 1:32+int16 2:4/local; do
		if ! sums --device cuda -z $spec -b 4 -e 4m -f 32 -n 3 -w 1; then
			diag "$(tail -n 20 "$scratch/out")"
			fail "$1: $spec"
			return
		fi
	done
	ok "$1: averages" sums --device cuda -z 4:8+int8 -o avg -b 3m -e 3m -n 3
	ok "$1: without -z values are whole" sums --device cuda -b 1m -e 1m -n 3
	ok "$1: staged in host memory" sums --device staged -z 2:4+int8 -b 1m -e 1m -n 3
	# Odd ranks have a GPU, the others have none.
	# shellcheck disable=SC2016 # each rank expands it
	memory='[ $((TRIB_RANK % 2)) = 0 ] && exec trib-perf -D host "$@"; exec trib-perf -D cuda "$@"'
	ok "$1: ranks with any memory" timeout 90 scripts/fabric -n "$fab" run --fail-fast -- \
		sh -c "$memory" sh -c 2 -z 2:4+int8 -b 4 -e 1m -f 64 -n 3
	pass "$1"
}
