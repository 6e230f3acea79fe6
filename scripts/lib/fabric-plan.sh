# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# Computes an emulated cluster: hosts, links, addresses and the place of each host
# in the tree. Fills tables only. Sourced by scripts/fabric.
#
# Every fabric has namespaces of its own, so all use the same addresses. Link
# number K has the network 10.77.K.0/24 or fd77:0:0:K::/64; the end towards the
# root is host 1.

# Tables, kept in the fabric's state (fabric_vars in scripts/fabric). Keys are
# hosts.
hosts=()		# in the order in which they come up: relays first
links=()		# "HOST DEVICE HOST DEVICE"
speeds=()		# of links, bit/s; 0: not shaped
declare -A role=()	# relay, worker, switch (a bridge), server (the PS over NDN,
			# without tribd); of a topology: host, relay, router
declare -A forwards=()	# 1: passes on what is not for it
declare -A parent=()	# the relay above
declare -A below=()	# the children, in order
declare -A place=()	# index among them
declare -A rank=()	# the first of workers; of a topology: of hosts that names lead to
declare -A up_dev=()	# device towards the parent,
declare -A up_addr=()	# its address,
declare -A top_dev=()	# and those of the parent's end
declare -A top_addr=()
declare -A addrs=()	# all: "DEVICE ADDRESS/LENGTH,..."
declare -A nets=()	# networks on and below a host: "NET/LENGTH,..."

# address NET HOST
address()
{
	if [[ $ipv6 ]]; then
		printf 'fd77:0:0:%x::%x' "$1" "$2"
	else
		printf '10.77.%d.%d' "$1" "$2"
	fi
}

net_length() { [[ $ipv6 ]] && echo 64 || echo 24; }

# The device that carries addresses: the VLAN's, if there is one.
ip_dev() { echo "$1${vlan:+.$vlan}"; }

add_host()
{
	hosts+=("$1")
	role[$1]=$2
	[[ $2 != relay ]] || forwards[$1]=1
}

add_addr() { addrs[$1]+="$(ip_dev "$2") $3/$(net_length),"; }

# add_child RELAY DEVICE CHILD DEVICE NET NUMBER: makes CHILD the relay's next
# child, as host NUMBER of network NET.
add_child()
{
	local kin

	read -ra kin <<<"${below[$1]-}"
	place[$3]=${#kin[@]}
	below[$1]+="$3 "
	add_leaf "$@"
}

# add_leaf: the same for a host outside the tree.
add_leaf()
{
	local child=$3

	parent[$child]=$1
	top_dev[$child]=$2
	top_addr[$child]=$(address "$5" 1)
	up_dev[$child]=$4
	up_addr[$child]=$(address "$5" "$6")
	add_addr "$child" "$4" "${up_addr[$child]}"
	nets[$child]+="$(address "$5" 0)/$(net_length),"
	[[ ${role[$child]} == worker ]] || return 0
	rank[$child]=$((${child#w} * ranks))
}

plan_star()
{
	local k

	add_host r0 relay
	for ((k = 0; k < workers; k++)); do
		add_host "w$k" worker
		links+=("r0 p$k w$k eth0")
		add_child r0 "p$k" "w$k" eth0 "$k" 2
		add_addr r0 "p$k" "${top_addr[w$k]}"
	done
	[[ ! $ndn ]] || plan_ps r0 "p$workers" "$workers"
}

# plan_ps RELAY DEVICE NET: adds the host that /ps leads to.
plan_ps()
{
	add_host ps server
	links+=("$1 $2 ps eth0")
	add_leaf "$1" "$2" ps eth0 "$3" 2
	add_addr "$1" "$2" "${top_addr[ps]}"
}

# All workers behind one port of the relay and a switch.
plan_one_nic()
{
	local k

	add_host r0 relay
	add_host s0 switch
	links+=("r0 p0 s0 up0")
	add_addr r0 p0 "$(address 0 1)"
	for ((k = 0; k < workers; k++)); do
		add_host "w$k" worker
		links+=("s0 p$k w$k eth0")
		add_child r0 p0 "w$k" eth0 0 $((k + 2))
	done
	[[ $ndn ]] || return 0
	add_host ps server
	links+=("s0 p$workers ps eth0")
	add_leaf r0 p0 ps eth0 0 $((workers + 2))
}

# A core relay, rack relays below it, workers below those.
plan_tree()
{
	local r k w=0 net

	add_host r0 relay
	for ((r = 1; r <= racks; r++)); do
		add_host "r$r" relay
		net=$((r - 1))
		links+=("r0 p$net r$r up0")
		add_child r0 "p$net" "r$r" up0 "$net" 2
		add_addr r0 "p$net" "${top_addr[r$r]}"
	done
	for ((r = 1; r <= racks; r++)); do
		for ((k = 0; k < workers; k++, w++)); do
			add_host "w$w" worker
			links+=("r$r p$k w$w eth0")
			net=$((racks + w))
			add_child "r$r" "p$k" "w$w" eth0 "$net" 2
			add_addr "r$r" "p$k" "${top_addr[w$w]}"
			nets[r$r]+="$(address "$net" 0)/$(net_length),"
		done
	done
	[[ $ndn ]] || return 0
	net=$((racks + w))
	plan_ps "r$ps_at" "p$((ps_at ? workers : racks))" "$net"
	((ps_at == 0)) || nets[r$ps_at]+="$(address "$net" 0)/$(net_length),"
}

# bcube_digit SERVER LEVEL
bcube_digit() { echo $(($1 / bcube_n ** $2 % bcube_n)); }

# bcube_switch SERVER LEVEL: its number, which is also that of its network.
# shellcheck disable=SC2017 # the division is to round down
bcube_switch()
{
	local low=$((bcube_n ** $2))

	echo $(($2 * bcube_n ** (bcube_k - 1) +
		$1 / (low * bcube_n) * low + $1 % low))
}

# bcube_addr SERVER LEVEL
bcube_addr()
{
	local s

	s=$(bcube_switch "$1" "$2")
	echo "10.$((77 + s / 256)).$((s % 256)).$(($(bcube_digit "$1" "$2") + 1))"
}

# with_digit SERVER LEVEL DIGIT: prints the server with that digit replaced
with_digit()
{
	echo $(($1 + ($3 - $(bcube_digit "$1" "$2")) * bcube_n ** $2))
}

# n^k servers with a port at each level, k * n^(k-1) switches. Servers are named
# w0 ..., switches s0 ..., those of level 0 first.
plan_bcube()
{
	local v l s

	for ((v = 0; v < world; v++)); do
		add_host "w$v" worker
		forwards[w$v]=1
		rank[w$v]=$v
	done
	for ((s = 0; s < bcube_k * bcube_n ** (bcube_k - 1); s++)); do
		add_host "s$s" switch
	done
	for ((l = 0; l < bcube_k; l++)); do
		for ((v = 0; v < world; v++)); do
			s=$(bcube_switch "$v" "$l")
			links+=("s$s p$(bcube_digit "$v" "$l") w$v eth$l")
			add_addr "w$v" "eth$l" "$(bcube_addr "$v" "$l")"
		done
	done
	for ((v = 0; v < world; v++)); do
		up_addr[w$v]=$(bcube_addr "$v" 0)
	done
}

# Writes the topology to a file, with the rate for all links if there is one.
topology_file()
{
	if [[ $kind == file ]]; then
		echo "$spec"
		return
	fi
	printf '{"builtin": "%s:%s", "capacity": %s}\n' "$kind" \
		"${spec//[!0-9,]/?}" "${rate:-10000000000}" >"$state/builtin.json"
	echo "$state/builtin.json"
}

# Fills the tables with the planner's answer for a topology. Writes addresses and
# routes to files that setup_host reads.
plan_topology()
{
	local unshaped='' table word a b c d e

	[[ $kind != file || ! $no_rate ]] || unshaped=unshaped
	[[ $kind == file || $rate ]] || unshaped=unshaped
	"$bin/trib" plan network "$(topology_file)" -o "$state/network.json" ||
		die "no network for $kind $spec; see above"
	table=$("$top/scripts/lib/fabric-topology" network \
		"$state/network.json" "$state" $unshaped) ||
		die "no fabric for $kind $spec; see above"
	while read -r word a b c d e; do
		case $word in
		node)
			add_host "$a" "$b"
			up_addr[$a]=$c
			forwards[$a]=${d#0}
			;;
		link)
			links+=("$a $b $c $d")
			speeds+=("$e")
			;;
		esac
	done <<<"$table"
	[[ "${up_addr[*]}" != *:* ]] || ipv6=1
	[[ ! $ndn ]] || plan_ndn
}

plan()
{
	local i

	world=$workers
	case $kind in
	two-tier | fat-tree | file)
		plan_topology
		return
		;;
	bcube)
		world=$((bcube_n ** bcube_k))
		plan_bcube
		;;
	tree)
		plan_tree
		world=$((racks * workers * ranks))
		;;
	star)
		if [[ $one_nic ]]; then plan_one_nic; else plan_star; fi
		world=$((workers * ranks))
		;;
	esac
	for ((i = 0; i < ${#links[@]}; i++)); do
		speeds[i]=${rate:-0}
	done
}

# has_tribd HOST: true if tribd runs there.
has_tribd()
{
	[[ ! $plain ]] || return 1
	case ${role[$1]} in
	relay | host) return 0 ;;
	worker) [[ $transport == xdp ]] ;;
	*) return 1 ;;
	esac
}

# hosts_of ROLE
hosts_of()
{
	local host

	for host in "${hosts[@]}"; do
		[[ ${role[$host]} != "$1" ]] || echo "$host"
	done
}
