#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib doctor --topology, at host h0 of
#
#	h1 --+
#	h2 --+-- s0 --+ eth0          eth1 +-- s1 --+-- h3
#	              +-------- h0 --------+
# shellcheck source=tests/netns/lib/test.sh
. "$(dirname "$0")/../netns/lib/test.sh"

id=wire$$
need_root
hosts() { for n in h0 h1 h2 h3 s0 s1; do ip netns "$1" $id-$n 2>/dev/null; done; }
trap 'hosts del; cleanup' EXIT

# cable HOST DEV SWITCH ADDR
cable()
{
	ip -n $id-"$3" link add name p-"$1" type veth peer name "$2" netns $id-"$1"
	ip -n $id-"$3" link set dev p-"$1" master br up
	ip -n $id-"$1" addr add "$4" dev "$2"
	ip -n $id-"$1" link set "$2" up
}

hosts add
for n in s0 s1; do
	ip -n $id-$n link add name br type bridge
	ip -n $id-$n link set dev br up
done
cable h0 eth0 s0 10.9.0.1/24
cable h1 eth0 s0 10.9.0.2/24
cable h2 eth0 s0 10.9.0.3/24
cable h0 eth1 s1 10.9.1.1/24
cable h3 eth0 s1 10.9.1.2/24

cat > "$scratch/topology" <<-'EOF_JSON'
	{"switches": ["s0", "s1"], "hosts": ["h0", "h1", "h2", "h3"],
	 "links": [
	  {"a": "h0", "b": "s0", "a_dev": "eth0", "a_addr": "10.9.0.1"},
	  {"a": "h1", "b": "s0", "a_dev": "eth0", "a_addr": "10.9.0.2"},
	  {"a": "h2", "b": "s0", "a_dev": "eth0", "a_addr": "10.9.0.3"},
	  {"a": "h0", "b": "s1", "a_dev": "eth1", "a_addr": "10.9.1.1"},
	  {"a": "h3", "b": "s1", "a_dev": "eth0", "a_addr": "10.9.1.2"}]}
EOF_JSON

doctor()
{
	nsenter --net=/run/netns/$id-h0 -- build/trib doctor \
		--topology "$scratch/topology" "$@" > "$scratch/said" 2>&1
}

# shellcheck disable=SC2317 # called by ok
says() { grep -q -- "$1" "$scratch/said"; }

doctor --host h0
is "wiring__right_one_is_found_right" $? 0
ok "wiring__who_answered_is_counted" says 'eth0 *all 2 behind s0'

ip -n $id-h2 link set eth0 down
doctor --host h0
is "wiring__one_silent_host_fails" $? 1
ok "wiring__the_silent_host_is_named" says '1 of 2 there do not answer: 10.9.0.3'
ip -n $id-h2 link set eth0 up

# addresses ETH0 ETH1
addresses()
{
	ip -n $id-h0 addr flush dev eth0
	ip -n $id-h0 addr flush dev eth1
	ip -n $id-h0 addr add "$1" dev eth0
	ip -n $id-h0 addr add "$2" dev eth1
}

addresses 10.9.1.1/24 10.9.0.1/24
doctor --host h0
is "wiring__swapped_addresses_fail" $? 1
ok "wiring__address_that_is_elsewhere_is_named" says 'eth0 does not have 10.9.0.1'

# Its cables change places.
for dev in eth0:a eth1:eth0 a:eth1; do
	ip -n $id-h0 link set dev ${dev%:*} down
	ip -n $id-h0 link set dev ${dev%:*} name ${dev#*:}
	ip -n $id-h0 link set dev ${dev#*:} up
done
addresses 10.9.0.1/24 10.9.1.1/24
doctor --host h0
is "wiring__swapped_cables_fail" $? 1
ok "wiring__swapped_eth0_is_named" says 'h0 eth0: no answer; expected s0'
ok "wiring__swapped_eth1_is_named" says 'h0 eth1: no answer; expected s1'

doctor --host h9
ok "wiring__unknown_host_is_refused" says 'no such host'
nsenter --net=/run/netns/$id-h0 -- build/trib doctor --host h0 > "$scratch/said" 2>&1
is "wiring__host_alone_is_a_usage_error" $? 2
done_testing
