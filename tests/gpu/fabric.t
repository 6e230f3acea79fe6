#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums of values in the memory of this machine's GPU, by two ranks through a relay:
# each in a network namespace of its own, all on one GPU.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../netns/lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

export TRIB_GPU_LIBRARY=${TRIB_GPU_LIBRARY:-$PWD/build/libtrib-gpu.so}

need_root
need_programs tribd trib trib-perf libtrib-gpu.so
build/tests/gpu/vectors --find >/dev/null || skip_all "no GPU"

# Only the transports differ; one may be missing on a machine.
for transport in xdp udp; do
	if up star --workers 2 --transport $transport >"$scratch/up"; then
		device_case $transport
		fabric down
	else
		cat "$scratch/up"
		skip $transport "no fabric"
	fi
done

done_testing
