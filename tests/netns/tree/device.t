#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums of values in GPU memory, through relays: trib-perf --device on the double of a
# GPU (tests/lib/gpu/double.h), which tests/gpu/fabric.t does with a real one.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

need_root
need_programs tribd trib trib-perf tests/gpu/double/libtrib-gpu.so
export TRIB_GPU_LIBRARY=$PWD/$TRIB_BUILD/tests/gpu/double/libtrib-gpu.so

if up star --workers 3; then
	device_case xdp
else
	fail xdp
fi
fabric down

if up star --workers 2 --transport udp --loss 1 --dup 1; then
	device_case udp_loss
else
	fail udp_loss
fi

export TRIB_GPU_LIBRARY=/nowhere/libtrib-gpu.so
fabric run -- trib-perf -D cuda >"$scratch/out" 2>&1
is "a missing library ends it" $? 3
matches "and is named, with what to do" "$(<"$scratch/out")" \
	"--device: no compression on the GPU: /nowhere/libtrib-gpu.so.*make gpu"
fabric down

done_testing
