#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums on every kind of network that the fabric makes: trib-perf checks each
# result against an exact oracle on every rank.
set -uo pipefail
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/netns/lib/sums.sh
. tests/netns/lib/sums.sh

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

# Ranks of hosts whose relay's faces name the port of XDP, each by its own transport.
# shellcheck disable=SC2016,SC2317 # for the shell there; called through ok
by_choice()
{
	timeout 90 scripts/fabric -n "$fab" run --fail-fast -- sh -c '
		TRIB_TRANSPORT=$(echo "$1" | cut -d, -f$((RANK + 1)))
		export TRIB_TRANSPORT
		exec trib-perf -c 2 -b 4 -e 64k -f 16 -n 5 -w 1' sh "$1" >"$scratch/out" 2>&1 &&
		grep -q '^# Out of bounds values : 0 OK' "$scratch/out"
}

for ip in "" --ipv6; do
	up star --workers 3 $ip
	for ways in udp,udp,udp udp,xdp,xdp xdp,udp,auto; do
		ok "chosen$ip: $ways" by_choice "$ways"
	done
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

# per_chunk COUNTER: of the root relay.
per_chunk()
{
	awk "BEGIN { print $(stat r0 "$1") / $(stat r0 "done") }"
}

# A copy for each of the four would make as many again, and each worker that the
# copy does not reach asks for every chunk. A worker that has to wait for its CPU
# on a busy machine asks for some.
one_copy_for_all()
{
	within "$1: one copy for all" "$(per_chunk egress)" 0.9 1.5
	within "$1: hardly anybody had to ask for it" \
		"$(per_chunk tx-answer)" 0 0.3
}

case_of multicast star --one-nic
one_copy_for_all multicast
fabric down

# The copy of a worker that is not in its group is lost: it asks again for every
# chunk (of exponents, and of values), when its time is up.
group_is_needed()
{
	local before

	sed -i 's/@[^&]*//' "/run/trib-fabric/$fab/w0.env"
	before=$(stat r0 tx-answer)
	ok "$1: without the group, sums are right" sums -b 4 -e 4 -n 5 -w 0
	within "$1: ... but have to be asked for" \
		$(($(stat r0 tx-answer) - before)) 10 1e9
}

for ip in "" --ipv6; do
	case_of "multicast_udp$ip" star --one-nic --transport udp $ip
	is_over "multicast_udp$ip: over sockets" udp
	one_copy_for_all "multicast_udp$ip"
	group_is_needed "multicast_udp$ip"
	fabric down
done

# tell HOST SED...: its tribd forgets all, and is told what sed makes of what it
# was told.
tell()
{
	local host=$1 told="/run/trib-fabric/$fab/$1.trib"

	shift
	{
		echo "job del train"
		sed -n 's/^face add \([^ ]*\) .*/face del \1/p' "$told"
		sed "$@" "$told"
	} >"$scratch/$host.trib"
	fabric exec "$host" -- trib batch "$scratch/$host.trib" \
		>"$scratch/out" 2>&1 || diag "$(<"$scratch/out")"
}

# Workers' hosts have a tribd, which names the group, but sockets receive.
# shellcheck disable=SC2317 # called through ok
attached_sockets()
{
	local group="face add group dev eth0 addr 239.77.0.1 port 7418" host

	tell r0 '/^face add/s/$/ port 7418/'
	for host in w0 w1 w2; do
		tell "$host" "s/^tree add .*/$group\n& down group/"
	done
	sums -b 4 -e 64k -f 16 -n 5 -w 1
}

up star --one-nic --workers 3
ok "multicast_attached: sums are right" attached_sockets
is_over "multicast_attached: over sockets" udp
one_copy_for_all multicast_attached
# XDP would take what comes to its own port.
tell w0 's/^tree add .*/face add own dev eth0 addr 239.77.0.1\n& down own/'
matches "multicast_attached: not over sockets at the port of XDP" \
	"$(TRIB_TRANSPORT=udp timeout 20 scripts/fabric -n "$fab" run --only w0 \
		-- trib-perf -b 4 2>&1)" 'UDP port 7417, which XDP takes here'
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
for transport in xdp udp; do
	faulty_case "multicast_${transport}_faults_5" star --one-nic \
		--transport $transport "${faults[@]}"
done

done_testing
