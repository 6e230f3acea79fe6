# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For tests in the VM with RDMA: N soft-RoCE devices, each on a veth of its own to one
# bridge. All are in the first network namespace, the only one where soft-RoCE of this
# kernel works; policy routing sends what goes from one to another over the bridge.
#
#	rxe0 - roce0 10.77.0.1 --+
#	rxe1 - roce1 10.77.0.2 --+-- rocebr
#	...                      |
#
# Sourced after guest.sh. devices N makes them, devices_down takes them away.

rdma_modules=(veth bridge rdma_rxe ib_uverbs rdma_ucm)

need_rdma()
{
	local m

	for m in "${rdma_modules[@]}"; do
		modprobe "$m" 2>/dev/null || { echo "1..0 # SKIP no module $m"; exit 4; }
	done
}

# The address of device N.
roce() { echo "10.77.0.$(($1 + 1))"; }

one_device()
{
	local dev=roce$1 at from=$((200 + $1)) s

	at=$(roce "$1")
	ip link add "$dev" mtu 4500 type veth peer name "rocep$1" mtu 4500 || return
	for s in accept_local=1 rp_filter=0; do
		sysctl -qw "net.ipv4.conf.$dev.$s" || return
	done
	ip link set "rocep$1" master rocebr up || return
	ip address add "$at/24" dev "$dev" noprefixroute || return
	ip link set "$dev" up || return
	ip route add 10.77.0.0/24 dev "$dev" src "$at" table "$from" || return
	ip rule add pref $((10 + $1)) from "$at" iif lo lookup "$from" || return
	ip rule add pref $((50 + $1)) oif "$dev" lookup "$from" || return
	rdma link add "rxe$1" type rxe netdev "$dev"
}

devices()
{
	local i

	# A device answers for its own address only.
	rdma_sysctl=$(sysctl net.ipv4.conf.all.{arp_ignore,arp_announce,rp_filter}) || return
	sysctl -qw net.ipv4.conf.all.{arp_ignore=1,arp_announce=2,rp_filter=0} || return
	ip link add rocebr type bridge || return
	ip link set rocebr mtu 4500 up || return
	ndevices=$1
	for ((i = 0; i < ndevices; i++)); do
		one_device $i || return
	done
	ip rule add pref 100 lookup local && ip rule delete pref 0 || return
	soon test -e /dev/infiniband/rdma_cm
}

devices_down()
{
	local i

	[[ ${rdma_sysctl-} ]] && sysctl -q -p - <<<"$rdma_sysctl"
	ip rule add pref 0 lookup local 2>/dev/null
	ip rule delete pref 100 2>/dev/null
	for ((i = 0; i < ${ndevices:-0}; i++)); do
		rdma link delete "rxe$i"
		ip rule delete pref $((10 + i))
		ip rule delete pref $((50 + i))
		ip link delete "roce$i"
	done 2>/dev/null
	ip link delete rocebr 2>/dev/null
	modprobe -r rdma_ucm rdma_rxe 2>/dev/null
}
