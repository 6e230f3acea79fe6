#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Random requests and calls to the module for some seconds each, and sockets
# that open and close.
#
#	tests/vm/stress.t [nlfuzz] [sockfuzz] [sockcycles]
#
# SEED	of the random numbers (default: 1)
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
seed=${SEED:-1}

# Lets allocations that may sleep fail, without a line in the log, on kernels
# that can. nlfuzz and sockfuzz choose the process and the number.
failures()
{
	local what dir=/sys/kernel/debug

	for what in failslab fail_page_alloc; do
		[[ -e $dir/$what ]] || continue
		echo 0 >$dir/$what/verbose
		echo N >$dir/$what/ignore-gfp-wait
		echo Y >$dir/$what/task-filter
		echo -1 >$dir/$what/times
		echo 30 >$dir/$what/probability
	done
}

(($#)) || set -- nlfuzz sockfuzz sockcycles
random="-s $seed -t $((6 * scale))"
declare -A programs=([nlfuzz]="netlink/nlfuzz $random"
	[sockfuzz]="sockfuzz/sockfuzz $random"
	[sockcycles]="sock/sockcycles $((100 * scale))")
runs=()
for name; do
	runs+=("build/tests/vm/${programs[$name]}")
done
load_module
failures
exec tests/vm/guest-tap "${runs[@]}"
