#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Ports of peers over RDMA: soft-RoCE (rdma_rxe) on a veth, by native verbs. With an
# argument by libfabric's verbs;ofi_rxm, too, which in version 1.17 may crash when the
# other end of a connection closes. Both ends of a link use one device; soft-RoCE of this kernel works
# in the first network namespace only.
#
#	rank 0 --- roce0 (rxe0) --- rank 1, in this process or another
# shellcheck disable=SC2317 # called by t
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
address=10.77.0.1

cleanup()
{
	rdma link delete rxe0 2>/dev/null
	ip link delete roce0 2>/dev/null
	modprobe -r rdma_ucm rdma_rxe 2>/dev/null
}

for module in veth rdma_rxe ib_uverbs rdma_ucm; do
	modprobe "$module" 2>/dev/null ||
		{ echo "1..0 # SKIP no module $module"; exit 4; }
done
trap cleanup EXIT

device()
{
	ip link add roce0 mtu 4500 type veth peer name roce1 mtu 4500 || return
	ip address add $address/24 dev roce0 || return
	ip link set roce0 up || return
	ip link set roce1 up || return
	rdma link add rxe0 type rxe netdev roce0
}

device || bail "no soft-RoCE"
soon test -e /dev/infiniband/rdma_cm

runs=("build/tests/unit/peer/port/port_rc verbs $address")
(($# == 0)) || runs+=("build/tests/unit/peer/port/port_ofi verbs;ofi_rxm $address")
tests/vm/guest-tap "${runs[@]}"
