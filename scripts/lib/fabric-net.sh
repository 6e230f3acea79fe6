# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# Makes the planned network: namespaces, veths, wires, addresses, routes.
# Sourced by scripts/fabric.
#
# A link without a rate or faults is one veth pair. Otherwise both ends lead to the
# "wires" namespace, where scripts/wire/wire passes packets from one veth to the
# other, and a token bucket on each shapes them. Token buckets on the hosts would
# not do: XDP bypasses the queueing disciplines of its port. Hosts with generic XDP
# need a wire too, because generic XDP skips packets that the peer redirected.

wires=wires

ns_of() { echo "$name-$1"; }

# in_ns HOST COMMAND...: `ip netns exec` would hide bpffs.
in_ns() { nsenter --net="/run/netns/$(ns_of "$1")" -- "${@:2}"; }

ip_batch() { ip -n "$(ns_of "$1")" -batch -; }

# make_ns HOST IPV6
make_ns()
{
	# Before devices exist, because they inherit it.
	# shellcheck disable=SC2016 # expanded in the namespace
	in_ns "$1" bash -c '
		cd /proc/sys/net/ipv6/conf 2>/dev/null || exit 0
		for i in all default; do
			[[ $1 ]] || echo 1 >$i/disable_ipv6
			echo 0 >$i/accept_dad
			echo 0 >$i/accept_ra
			echo 0 >$i/router_solicitations
		done' - "$2"
}

is_shaped() { [[ ${speeds[*]} == *[1-9]* ]]; }
is_wired() { is_shaped || [[ $loss || $dup || $reorder || $delay || $generic ]]; }
is_faulty() { [[ $loss || $dup || $reorder || $delay ]]; }

# Native XDP needs a veth with as many receive queues as its peer has transmit
# queues. --generic gives the hosts' ends fewer, so that tribd falls back to generic
# mode there, but not at the wires' ends.
host_queues() { queues_of "${generic:+1}"; }
peer_queues() { queues_of "${generic:+2}"; }
queues_of()
{
	local n=${1:-$queues}

	[[ ! $n ]] || echo "numrxqueues $n numtxqueues $n"
}

# veth HOST DEVICE HOST DEVICE
veth()
{
	echo "link add $2 netns $(ns_of "$1") mtu $mtu $(host_queues)" \
		"type veth peer name $4 netns $(ns_of "$3") mtu $mtu" \
		"$(peer_queues)"
}

# In an empty namespace: kernels before 6.13 refuse a name that the current one has.
make_links()
{
	local i a dev_a b dev_b

	for ((i = 0; i < ${#links[@]}; i++)); do
		read -r a dev_a b dev_b <<<"${links[i]}"
		if is_wired; then
			veth "$a" "$dev_a" $wires "a$i"
			veth "$b" "$dev_b" $wires "b$i"
		else
			veth "$a" "$dev_a" "$b" "$dev_b"
		fi
	done | unshare --net ip -batch -
}

# devices_of HOST
devices_of()
{
	local a dev_a b dev_b link

	for link in "${links[@]}"; do
		read -r a dev_a b dev_b <<<"$link"
		[[ $a != "$1" ]] || echo "$dev_a"
		[[ $b != "$1" ]] || echo "$dev_b"
	done
}

# Offloads of veths. GRO is on: without GRO or XDP, a veth loses packets that XDP
# sends to it. Segmentation is off: a wire would lose whole bursts at once. VLAN
# offload is off: XDP does not see a tag beside the frame. Checksum offload is off:
# an unfinished checksum does not survive user space or XDP.
offloads()
{
	local off='' gro=on

	# Merged packets are too long to be held; without daemons no XDP sends.
	[[ ! $delay || ! $plain ]] || gro=off
	is_wired && off+=" tx-udp-segmentation off"
	{ is_faulty || [[ $generic ]]; } && off+=" tso off gso off"
	[[ $reorder || $delay || $generic ]] && off+=" tx off"
	[[ $vlan ]] && off+=" tx-vlan-offload off"
	echo "gro $gro$off"
}

# set_steering HOST DEVICE...: each CPU sends by a queue of its own, so that packets stay on
# their CPU. In a mount namespace of the host's /sys, as ip-netns(8) has it.
set_steering()
{
	# shellcheck disable=SC2016 # expanded in the namespace
	ip netns exec "$(ns_of "$1")" bash -ec 'cpus=$(nproc) queues=$1
		for dev in "${@:2}"; do
			for ((q = 0; q < queues && q < cpus && q < 32; q++)); do
				mask=0
				for ((c = q; c < cpus && c < 32; c += queues)); do ((mask |= 1 << c)); done
				printf %x "$mask" >"/sys/class/net/$dev/queues/tx-$q/xps_cpus"
			done
		done' - "$queues" "${@:2}"
}

# set_offloads HOST DEVICE...
set_offloads()
{
	# shellcheck disable=SC2016 # expanded in the namespace
	in_ns "$1" bash -ec 'for dev in "${@:2}"; do
			ethtool -K "$dev" $1 >/dev/null
		done' - "$(offloads)" "${@:2}"
	((${queues:-1} == 1)) || set_steering "$@"
}

# Makes every host reachable from every other through the relays.
routes_of()
{
	local host=$1 child net dests

	[[ ! ${parent[$host]-} ]] ||
		echo "route add default via ${top_addr[$host]}"
	for child in ${below[$host]-}; do
		[[ ${role[$child]} == relay ]] || continue
		IFS=, read -ra dests <<<"${nets[$child]}"
		for net in "${dests[@]}"; do
			# The route over the link to it is ours, too.
			[[ $net == "${nets[$child]%%,*}" ]] ||
				echo "route add $net via ${up_addr[$child]}"
		done
	done
}

# The routes of a BCube's server until tribd has found those over living links, which it
# prefers by their metric. To the address at a level by that level, if that is a shortest way.
cube_routes_of()
{
	awk -v v="${1#w}" -v n="$bcube_n" -v k="$bcube_k" '
		function digit(x, l) { return int(x / n ^ l) % n }
		function addr(x, l,	low, s) {
			low = n ^ l
			s = l * n ^ (k - 1) + int(x / (low * n)) * low + x % low
			return sprintf("10.%d.%d.%d", 77 + int(s / 256), s % 256, digit(x, l) + 1)
		}
		BEGIN {
			for (u = 0; u < n ^ k; u++)
				for (l = 0; l < k && u != v; l++) {
					for (by = l; digit(u, by) == digit(v, by); by = (by + 1) % k)
						;
					via = v + (digit(u, by) - digit(v, by)) * n ^ by
					if (via != u || by != l)
						print "route add", addr(u, l), "via", addr(via, by),
							"dev eth" by, "metric 9000"
				}
		}'
}

# Prints addresses and routes as lines for `ip -batch`.
addresses_of()
{
	local host=$1 dev list item

	IFS=, read -ra list <<<"${addrs[$host]-}"
	echo "link set dev lo up"
	for dev in "${@:2}"; do
		echo "link set dev $dev up"
		[[ ! $vlan ]] ||
			echo "link add link $dev name $dev.$vlan up" \
			     "type vlan id $vlan"
	done
	for item in "${list[@]}"; do
		echo "addr add ${item#* } dev ${item% *}" \
		     "${ipv6:+nodad}"
	done
	if [[ $kind == bcube ]]; then
		cube_routes_of "$host"
	else
		routes_of "$host"
	fi
}

setup_host()
{
	local host=$1 devs

	mapfile -t devs < <(devices_of "$host")
	set_offloads "$host" "${devs[@]}"
	if is_planned; then
		ip_batch "$host" <"$state/$host.ip"
	else
		addresses_of "$host" "${devs[@]}" | ip_batch "$host"
	fi
	[[ ${forwards[$host]-} ]] || return 0
	# shellcheck disable=SC2016 # expanded in the namespace
	in_ns "$host" bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		f=/proc/sys/net/ipv6/conf/all/forwarding
		[[ ! -e $f ]] || echo 1 >$f
		# Detours are not symmetric while routes change.
		for f in /proc/sys/net/ipv4/conf/*/rp_filter; do
			echo 0 >$f
		done'
}

setup_switch()
{
	local host=$1 devs dev

	mapfile -t devs < <(devices_of "$host")
	set_offloads "$host" "${devs[@]}"
	{
		echo "link add br0 mtu $mtu up type bridge mcast_snooping 0"
		for dev in "${devs[@]}"; do
			echo "link set dev $dev master br0 up"
		done
	} | ip_batch "$host"
}

# shape DEVICE RATE: a burst of about 1 ms, a queue of $queue ms. The burst holds a
# TCP super-packet of 64 KiB: when tbf had to split them, TCP reached less than
# half of the rate.
shape()
{
	local burst=$(($2 / 8000)) limit=$(($2 * queue / 8000))

	((burst >= 131072)) || burst=131072
	((limit >= 32 * mtu)) || limit=$((32 * mtu))
	echo "qdisc add dev $1 root tbf rate ${2}bit burst $burst limit $limit"
}

wire_pin() { echo "/sys/fs/bpf/trib-fabric-$name"; }

start_wires()
{
	local i dev pairs=() devs=() args=()

	for ((i = 0; i < ${#links[@]}; i++)); do
		pairs+=("a$i:b$i")
		devs+=("a$i" "b$i")
	done
	set_offloads $wires "${devs[@]}"
	for dev in "${devs[@]}"; do
		echo "link set dev $dev up"
	done | ip_batch $wires
	for ((i = 0; i < ${#links[@]}; i++)); do
		((speeds[i] == 0)) || for dev in "a$i" "b$i"; do
			shape "$dev" "${speeds[i]}"
		done
	done | tc -n "$(ns_of $wires)" -batch -
	[[ ! $loss ]] || args+=(-l "$loss")
	[[ ! $dup ]] || args+=(-d "$dup")
	[[ ! $reorder ]] || args+=(-r "$reorder")
	[[ ! $delay ]] || args+=(-w "$delay")
	[[ ! $generic ]] || args=(-x)
	start_daemon $wires "$bin/scripts/wire/wire" -p "$(wire_pin)" \
		"${args[@]}" "${pairs[@]}"
	wait_daemon $wires grep -q '^ready' "$state/$wires.log"
}

# A veth computes its XDP features when GRO is switched on at its peer while both
# are up. GRO switched on earlier has no effect on them.
switch_gro_on()
{
	local devs

	mapfile -t devs < <(devices_of "$1")
	# shellcheck disable=SC2016 # expanded in the namespace
	in_ns "$1" bash -ec 'for dev; do
			ethtool -K "$dev" gro off >/dev/null
			ethtool -K "$dev" gro on >/dev/null
		done' - "${devs[@]}"
}

make_network()
{
	local host

	# bpffs is not mounted before the first use of BPF.
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
	for host in "${hosts[@]}" $(is_wired && echo $wires); do
		echo "netns add $(ns_of "$host")"
	done | ip -batch -
	for host in "${hosts[@]}"; do
		make_ns "$host" "$ipv6"
	done
	is_wired && make_ns $wires ""
	make_links
	is_wired && start_wires
	for host in "${hosts[@]}"; do
		if [[ ${role[$host]} == switch ]]; then
			setup_switch "$host"
		else
			setup_host "$host"
		fi
	done
	for host in "${hosts[@]}"; do
		switch_gro_on "$host"
	done
}

remove_network()
{
	local host

	for host in "${hosts[@]}" $wires; do
		[[ ! -e /run/netns/$(ns_of "$host") ]] ||
			ip netns del "$(ns_of "$host")"
	done
	rm -f "$(wire_pin)"
}
