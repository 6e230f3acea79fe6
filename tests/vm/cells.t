#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Collective sockets in stars of four workers whose hosts run tribd: it gives them cells.
# shellcheck disable=SC2317 # called by t
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
export FABRIC=cells
trib=$PWD/build/trib
tmp=$(mktemp -d)

fabric() { scripts/fabric -n "$FABRIC" "$@"; }
host() { nsenter --net="/run/netns/$FABRIC-$1" -- "${@:2}"; }

cleanup()
{
	fabric down >/dev/null 2>&1
	rm -rf "$tmp"
}
trap cleanup EXIT

# perf TRANSPORTS OPTION...: rank r uses the r-th of the four transports; old: a kernel socket,
# beside a module that has no cells.
# shellcheck disable=SC2016 # for the shell there
perf()
{
	fabric run --fail-fast -- sh -c 'TRIB_TRANSPORT=$(echo "$1" | cut -d, -f$((RANK + 1)))
		if [ "$TRIB_TRANSPORT" = old ]; then
			TRIB_TRANSPORT=kernel
			export LD_PRELOAD=build/tests/vm/sock/old_module.so
		fi
		export TRIB_TRANSPORT
		shift
		exec trib-perf -w 1 -c 2 -J '"$tmp"'/perf "$@"' sh "$@"
}

# counter NAME: rank 0's, of the newest perf.
counter()
{
	python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["counters"][sys.argv[2]])' "$tmp/perf" "$1"
}

listed()
{
	host w0 "$trib" -j module sock | python3 -c 'import json, sys
s, = json.load(sys.stdin)
sys.exit(not 0 < s["carried"] <= s["sent"])' &&
		awk 'NR == 2 && $10 > 0 && $10 <= $9 { good = 1 } END { exit !good }' \
			"$tmp/proc"
}

look() { host w0 cat /proc/net/trib >"$tmp/proc"; listed; }

# The lists say by which way packets leave.
# shellcheck disable=SC2016 # for the shell there
lists()
{
	local rc=0

	fabric run -- sh -c 'echo $$ >'"$tmp"'/pid.$RANK
		TRIB_TRANSPORT=kernel exec trib-perf -b 64K -e 64K -n 100000' \
		>/dev/null 2>&1 &
	soon look || { cat "$tmp/proc"; rc=1; }
	kill -KILL "$(<"$tmp/pid.1")"
	wait "$!"
	return "$rc"
}

all_kinds()
{
	local c

	for c in allreduce reduce_scatter allgather broadcast barrier; do
		perf kernel,kernel,kernel,kernel -b 4 -e 5K -f 17 -n 1 -C "$c" -p 4 || return
	done
	perf kernel,xdp,xdp,kernel -b 4 -e 300K -f 17 -n 2
}

big()
{
	perf kernel,kernel,kernel,kernel -b 1M -e 1M -n 5 || return
	echo "carried $(counter carried) of $(counter sent_packets)"
	(($(counter carried) > 0 && $(counter recv_packets) > 0))
}

# Ranks without cells, alone and beside others, on hosts whose results come to the port of XDP.
without()
{
	local ways

	for ways in old,kernel,kernel,kernel kernel,old,xdp,udp old,old,old,old; do
		perf "$ways" -b 4 -e 300K -f 17 -n 2 || return
	done
	(($(counter carried) == 0))
}

lossy()
{
	fabric down
	fabric up star --workers 4 --loss 1 || return
	perf kernel,kernel,kernel,kernel -b 64K -e 1M -f 16 -n 3 || return
	perf kernel,xdp,kernel,xdp -b 64K -e 256K -f 4 -n 3 || return
	(($(counter resends) + $(counter fast_resends) > 0))
}

generic()
{
	fabric down
	fabric up star --workers 4 --generic || return
	perf kernel,kernel,kernel,kernel -b 64K -e 256K -f 4 -n 3
}

unload()
{
	fabric down
	soon rmmod trib
}

fabric up star --workers 4 >"$tmp/up" 2>&1 || { cat "$tmp/up"; bail "no fabric"; }
load_module
t cells__of_sockets build/tests/vm/sock/sock_cells
t perf__of_a_megabyte_by_xdp big
t perf__every_collective_and_mixed_ranks all_kinds
t perf__ranks_without_cells_beside_others without
t lists__say_by_which_way_packets_leave lists
t loss__of_one_percent lossy
t generic__xdp_delivers_too generic
t module__goes_after_all unload
done_testing
