# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# fabric up --ndn: faces, routes and permissions on relays, and the environment of
# programs on hosts. A host's name is its prefix: /w0, /ps. Sourced by
# scripts/fabric.

# Sizes of a relay's tables.
ndn_entries=4096

# Prints the workers when there is no plan: those of the fabric's own job, or all
# hosts of a topology that have a name. Rank K of a host is HOST+K, the first HOST.
own_workers()
{
	local host k

	for host in "${hosts[@]}"; do
		[[ ${rank[$host]-} ]] || continue
		echo "$host"
		for ((k = 1; k < ranks; k++)); do
			echo "$host+$k"
		done
	done
}

# host_rights HOST: its permissions on its relay. Workers may subscribe below the
# PS's name; every host may send Data below its own.
host_rights()
{
	[[ $1 == ps ]] && echo "write /ps" || echo "subscribe /ps write /$1"
}

# face_ndn HOST NEIGHBOUR: the end of the line that adds the face.
face_ndn()
{
	[[ $ndn && ${role[$1]} == relay ]] || return 0
	if [[ $2 == up || ${role[$2]} == relay ]]; then
		echo " ndn router"
	else
		echo " ndn host $(host_rights "$2")"
	fi
}

# way_to RELAY HOST: prints the face that leads there.
way_to()
{
	local at=$2

	while [[ ${parent[$at]-} && ${parent[$at]} != "$1" ]]; do
		at=${parent[$at]}
	done
	[[ ${parent[$at]-} ]] && echo "$at" || echo up
}

# config_of_ndn RELAY: prints lines for `trib batch`: routes, and the face of the
# PS, which is outside the tree.
config_of_ndn()
{
	local host

	[[ ${parent[ps]} != "$1" ]] ||
		echo "face add ps dev ${top_dev[ps]} addr" \
		     "${up_addr[ps]}$(face_options)$(face_ndn "$1" ps)"
	for host in $(own_workers) ps; do
		echo "fib add /$host via $(way_to "$1" "$host")"
	done
}

# plan_ndn: for a topology: writes lines for `trib batch` to files, and the relay
# of each host into the tables.
plan_ndn()
{
	local table host relay address n=0

	table=$("$top/scripts/lib/fabric-topology" ndn \
		"$state/network.json" "$state") ||
		die "no names for $kind $spec; see above"
	while read -r host relay address; do
		parent["$host"]=$relay
		top_addr["$host"]=$address
		[[ $host == ps ]] || rank["$host"]=$((n++))
	done <<<"$table"
	world=$n
}

# Gives these lines to the relays; other fabrics got them with the job.
start_ndn()
{
	local host

	for host in $(hosts_of relay); do
		in_ns "$host" "$bin/trib" batch "$state/$host.trib" \
			>>"$state/$host.log" ||
			die "cannot configure $host; see above"
	done
}

# ndn_env HOST: for programs that speak NDN.
ndn_env()
{
	[[ $ndn && ${top_addr[$1]-} && ${role[$1]} != relay ]] || return 0
	echo "TRIB_PS_NAME=/$1"
	echo "TRIB_PS_FORWARDER=${top_addr[$1]}"
}
