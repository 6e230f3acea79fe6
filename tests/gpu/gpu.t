#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# All tests that need a GPU, `make gpu-check`: bits against the CPU, processes on one GPU
# that add each other's values, sums over a fabric (which need root), and bits under
# compute-sanitizer where it is installed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

export TRIB_GPU_LIBRARY=${TRIB_GPU_LIBRARY:-$PWD/build/libtrib-gpu.so}
count=0
failed=0
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)

# report NAME COMMAND ...: a line of TAP; the exit status 4 is a skip.
report()
{
	local name=$1 out rc

	shift
	out=$("$@" 2>&1)
	rc=$?
	((count++))
	[[ ! $out ]] || echo "# ${out//$'\n'/$'\n'# }"
	case $rc in
	0) echo "ok $count - $name" ;;
	4) echo "ok $count - $name # SKIP no GPU" ;;
	*)
		echo "not ok $count - $name"
		failed=1
		;;
	esac
}

report vectors__bits_are_the_scalar_level_s build/tests/gpu/vectors
report reduce__bits_are_the_scalar_level_s build/tests/gpu/reduce
report bulk__a_hundred_million_values_have_the_cpu_s_bits build/tests/gpu/bulk
report ipc__peers_add_each_other_s_values build/tests/gpu/ipc
report collective__threads_sum_from_gpu_memory build/tests/gpu/collective
report fabric__sums_from_gpu_memory_through_a_relay tests/gpu/fabric.t
report peers__processes_on_one_gpu tests/gpu/peers.t
report peers_fabric__hosts_of_processes_on_one_gpu tests/gpu/peers_fabric.t
for tool in memcheck racecheck; do
	for program in vectors reduce; do
		if [[ -x $sanitizer ]]; then
			report "${program}__are_clean_under_$tool" "$sanitizer" --tool "$tool" \
				--error-exitcode 1 build/tests/gpu/$program
		else
			((count++))
			echo "ok $count - ${program}__are_clean_under_$tool # SKIP no compute-sanitizer"
		fi
	done
done
echo "1..$count"
exit $failed
