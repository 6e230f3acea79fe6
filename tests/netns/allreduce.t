#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums on every kind of network that the fabric makes: trib-perf checks each
# result against an exact oracle on every rank.
set -uo pipefail
# shellcheck source=tests/netns/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/netns/sums.sh
. tests/netns/sums.sh

need_root
need_programs tribd trib trib-perf

for ip in "" --ipv6; do
	case_of "star_xdp$ip" star $ip
	is_over "star_xdp$ip: results are mapped" xdp
	fabric down
	case_of "star_udp$ip" star --transport udp $ip
	is_over "star_udp$ip: over sockets" udp
	fabric down
done

for transport in xdp udp; do
	case_of "generic_$transport" star --generic --workers 3 \
		--transport $transport
	is "generic_$transport: it is generic" "$(fabric exec r0 -- \
		trib -j face show | grep -o '"xdp_mode":"[a-z]*"' |
		sort -u)" '"xdp_mode":"generic"'
	fabric down
done

case_of mtu_3400 star --mtu 3400 --workers 3
is "mtu_3400: 832 values in a packet" "$(fabric exec r0 -- trib -j |
	grep -o '"nval":[0-9]*')" '"nval":832'
fabric down
case_of mtu_3420_ipv6 star --mtu 3420 --workers 3 --ipv6 --transport udp
fabric down

case_of multicast star --one-nic
# A copy for each of the four would make as many again.
within "multicast: one copy for all" \
	"$(awk "BEGIN { print $(stat r0 egress) / $(stat r0 "done") }")" 0.9 1.5
fabric down

for transport in xdp udp; do
	case_of "tree_$transport" tree --racks 2 --workers 2 \
		--transport $transport
	within "tree_$transport: racks send partial sums" \
		"$(stat r1 tx-partial)" 100 1e9
	fabric down
done
case_of tree_ipv6 tree --racks 3 --workers 1 --ipv6
fabric down

case_of star_of_8 star --workers 8
fabric down
case_of star_of_1 star --workers 1
fabric down
case_of wires_200m star --rate 200m
fabric down

for p in 1 5; do
	faults=(--loss "$p" --dup "$p" --reorder "$p")
	for transport in xdp udp; do
		faulty_case "star_${transport}_faults_$p" star \
			--transport $transport "${faults[@]}"
	done
	faulty_case "tree_faults_$p" tree "${faults[@]}"
done
faulty_case "ipv6_faults_5" star --ipv6 --workers 2 "${faults[@]}"
faulty_case "multicast_faults_5" star --one-nic "${faults[@]}"

done_testing
