# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# The command line of `fabric up`: reads options and refuses wrong combinations.
# Sourced by scripts/fabric.

# The largest MTU at which a veth's end takes tribd's programs in native mode: a page,
# less headroom and what the kernel keeps behind a frame.
xdp_mtu=3500

# The options of `up` as they are on the command line.
given=()

# integer OPTION VALUE MIN MAX
integer()
{
	[[ $2 =~ ^[0-9]{1,9}$ ]] || die -2 "$1: '$2' is not a number"
	((10#$2 >= $3 && 10#$2 <= $4)) ||
		die -2 "$1: $2 is not within $3 to $4"
	echo $((10#$2))
}

percent()
{
	[[ $2 =~ ^[0-9]{1,2}(\.[0-9]{1,6})?%?$ ]] ||
		die -2 "$1: '$2' is not a percentage below 100"
	# Without faults no wire is needed.
	[[ $2 =~ ^0*(\.0*)?%?$ ]] || echo "${2%\%}"
}

bits_per_second()
{
	local factor=1

	[[ $2 =~ ^([0-9]{1,12})([kmg]?)(bit)?$ ]] ||
		die -2 "$1: '$2' is not a rate such as 500m, 1g or 200mbit"
	case ${BASH_REMATCH[2]} in
	k) factor=1000 ;;
	m) factor=1000000 ;;
	g) factor=1000000000 ;;
	esac
	((BASH_REMATCH[1] * factor >= 100000 &&
	  BASH_REMATCH[1] * factor <= 400000000000)) ||
		die -2 "$1: '$2' is not between 100k and 400g"
	echo $((BASH_REMATCH[1] * factor))
}

transport_name()
{
	case $2 in
	udp | xdp) echo "$2" ;;
	kernel)
		[[ -d /sys/module/trib ]] ||
			die "$1: the kernel module trib is not loaded"
		echo "$2"
		;;
	*) die -2 "$1: '$2' is none of udp, xdp and kernel" ;;
	esac
}

dtype_name()
{
	case $2 in
	int | f32 | f16 | bf16) echo "$2" ;;
	*) die -2 "$1: '$2' is not int, f32, f16 or bf16" ;;
	esac
}

# True for kinds that a topology of trib-plan(8) describes.
is_planned() { [[ $kind == two-tier || $kind == fat-tree || $kind == file ]]; }

parse_kind()
{
	kind=${1-}
	case $kind in
	star | tree | bcube) return ;;
	two-tier | fat-tree | file) ;;
	'') die -2 "up: star, tree, bcube, two-tier, fat-tree or file?" ;;
	*) die -2 "up: '$kind' is none of star, tree, bcube, two-tier," \
		"fat-tree and file" ;;
	esac
	spec=${2-}
	[[ $spec && $spec != -* ]] || die -2 "up $kind: which?"
}

parse_up()
{
	local o

	parse_kind "$@"
	shift
	! is_planned || shift
	while (($#)); do
		o=$1
		shift
		given+=("$o")
		case $o in
		--generic) generic=1; continue ;;
		--ipv6) ipv6=1; continue ;;
		--one-nic) one_nic=1; continue ;;
		--apart) apart=1; continue ;;
		--no-reflex) tribd_args+=("$o"); continue ;;
		--plain) plain=1; continue ;;
		--no-rate) no_rate=1; continue ;;
		--ndn) ndn=1; continue ;;
		-*) (($#)) || die -2 "$o: no value (or no such option)" ;;
		*) die -2 "up: '$o' is not an option" ;;
		esac
		case $o in
		--workers) workers=$(integer "$o" "$1" 1 64) ;;
		--racks) racks=$(integer "$o" "$1" 2 16) ;;
		--ranks) ranks=$(integer "$o" "$1" 1 16) ;;
		--ps-host) ps_at=$(integer "$o" "$1" 0 16) ;;
		--n) bcube_n=$(integer "$o" "$1" 2 16) ;;
		--k) bcube_k=$(integer "$o" "$1" 1 6) ;;
		--mtu) mtu=$(integer "$o" "$1" 576 9000) ;;
		--queues) queues=$(integer "$o" "$1" 1 64) ;;
		--vlan) vlan=$(integer "$o" "$1" 1 4094) ;;
		--queue) queue=$(integer "$o" "$1" 1 10000) ;;
		--transport) transport=$(transport_name "$o" "$1") ;;
		--rate) rate=$(bits_per_second "$o" "$1") ;;
		--loss) loss=$(percent "$o" "$1") ;;
		--dup) dup=$(percent "$o" "$1") ;;
		--reorder) reorder=$(percent "$o" "$1") ;;
		--delay) delay=$(integer "$o" "$1" 1 1000000) ;;
		--window) window=$(integer "$o" "$1" 1 16384) ;;
		--timeout) timeout=$(integer "$o" "$1" 1 3600000) ;;
		--dtype) dtype=$(dtype_name "$o" "$1") ;;
		--plan-rate) plan_rate=$(bits_per_second "$o" "$1") ;;
		--values | --slots | --spread | --log) tribd_args+=("$o" "$1") ;;
		*) die -2 "no option $o; see --help" ;;
		esac
		shift
	done
	check_up
}

check_up()
{
	case $kind in
	star) workers=${workers:-4} ;;
	tree) workers=${workers:-2} ;;
	esac
	if [[ $kind == tree ]]; then
		[[ ! $one_nic ]] || die -2 "--one-nic needs a star"
		((racks + racks * workers <= 250)) ||
			die -2 "$racks racks of $workers are more than 250 hosts"
	fi
	[[ $kind != bcube ]] || check_bcube
	[[ ! $apart && $ranks == 1 ]] || check_ranks
	[[ ! $ndn && ! $ps_at ]] || check_ndn
	[[ $kind == file || ! $no_rate ]] || die -2 "--no-rate needs a file"
	! is_planned || check_planned
	# tribd's own choice leaves room for IPv6.
	if [[ ! $ipv6 && " ${tribd_args[*]} " != *" --values "* ]] &&
		((mtu >= 3396)); then
		tribd_args+=(--values 832)
	fi
	check_mtu
	[[ ! $generic || ! $queues ]] || die -2 "--generic chooses the queues itself"
	[[ ! $generic || ! ($rate || $loss || $dup || $reorder || $delay) ]] ||
		die -2 "--generic has no wires with rates or faults"
}

# The LOCAL pair has no tags, and kernel sockets are of hosts without tribd.
check_ranks()
{
	[[ $kind == star || $kind == tree ]] || die -2 "--ranks and --apart need a star or a tree"
	[[ $transport == xdp || $plain ]] || die -2 "--ranks: workers' hosts must run tribd"
	[[ ! $apart || ! $plain ]] || die -2 "--apart: without daemons there are no trees"
	[[ ! $vlan ]] || die -2 "--ranks has no --vlan"
	[[ ! $apart || $kind == star ]] || die -2 "--apart needs a star"
	[[ ! $apart ]] || ((workers * ranks <= 64)) ||
		die -2 "$workers hosts of $ranks ranks are more than 64 children"
}

# tribd would fall back to generic mode at both ends of a veth, where neither sees
# what the other one redirects: RESULTs would pass by the workers.
check_mtu()
{
	local cure="--mtu $((ipv6 ? 3420 : 3400)) carries the largest packets"

	((mtu > xdp_mtu)) && [[ ! $plain && ! $generic ]] || return 0
	is_planned || [[ $kind == bcube ]] || cure+=", --generic takes any MTU"
	die -2 "--mtu $mtu: veths run XDP natively up to $xdp_mtu; $cure"
}

# The topology or its jobs set the rest.
check_planned()
{
	local o

	for o in "${given[@]}"; do
		case $o in
		--mtu | --queue | --loss | --dup | --reorder | --delay | --values | \
			--slots | --log | --plain | --no-rate | --ndn) ;;
		--rate)
			[[ $kind != file ]] ||
				die -2 "--rate: the links of $spec have theirs"
			;;
		*) die -2 "$o does not go with $kind" ;;
		esac
	done
}

check_ndn()
{
	[[ $ndn ]] || die -2 "--ps-host needs --ndn"
	[[ ! $plain ]] || die -2 "--ndn: with --plain there are no daemons"
	case $kind in
	star) ;;
	tree)
		((${ps_at:=0} <= racks)) ||
			die -2 "--ps-host: there is no relay r$ps_at"
		return
		;;
	two-tier)
		[[ $spec =~ ^[0-9]+,[0-9]+,[0-9]+$ ]] ||
			die -2 "--ndn: two-tier RACKS,HOSTS,PS; where is the PS?"
		;;
	*) die -2 "--ndn goes with star, tree and two-tier" ;;
	esac
	[[ ! $ps_at ]] || die -2 "--ps-host goes with tree"
}

check_bcube()
{
	[[ ! $generic && ! $ipv6 && ! $vlan && ! $one_nic ]] ||
		die -2 "bcube: without --generic, --ipv6, --vlan and --one-nic"
	[[ $transport == xdp ]] || die -2 "bcube: its servers run tribd"
	[[ ! $workers ]] || die -2 "bcube: --n and --k say how many workers"
	((bcube_n ** bcube_k <= 64)) ||
		die -2 "$bcube_n^$bcube_k servers: at most 64"
	# Each link carries 2 (W - 1) of the W * k parts of a message.
	[[ ! $rate ]] || : "${plan_rate:=$((rate * bcube_k *
		bcube_n ** bcube_k / (2 * (bcube_n ** bcube_k - 1))))}"
}
