#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tests of tests/gpu for peers with GPUs, on the double of a GPU: processes, loopback
# and emulated hosts.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1

export TRIB_GPU_LIBRARY=$PWD/build/tests/gpu/double/libtrib-gpu.so
failed=0
count=0
for test in peers.t peers_fabric.t; do
	out=$(PEERS_SETTLE=1.5 PEERS_LARGEST=1m tests/gpu/$test 2>&1)
	rc=$?
	echo "# ${out//$'\n'/$'\n'# }"
	((++count))
	case $rc in
	0) echo "ok $count - gpu__$test passes on the double" ;;
	4) echo "ok $count - gpu__$test passes on the double # SKIP ${out#*SKIP }" ;;
	*)
		echo "not ok $count - gpu__$test passes on the double"
		failed=1
		;;
	esac
done
echo "1..$count"
exit $failed
