#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Collective sockets in stars of four workers, whose hosts have no tribd. A
# program that needs a fabric other than "sock" has its name behind a colon.
#
#	tests/vm/sock.t [PROGRAM[:FABRIC]...]
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

b=build/tests/vm/sock
(($#)) || set -- $b/sock_{sum,life,mem,user,share,access,mix} $b/sock_mix:lossy $b/sock_mix:six \
	tests/vm/sock/sock-life
declare -A options=([sock]="" [lossy]="--loss 1" [six]="--ipv6")
folder=$(mktemp -d)

end()
{
	local name

	for name in "${!options[@]}"; do
		scripts/fabric -n "$name" down >/dev/null 2>&1
	done
	rm -rf "$folder"
}

trap end EXIT
programs=()
for program; do
	fabric=sock
	[[ $program == *:* ]] && fabric=${program#*:}
	# shellcheck disable=SC2086 # options are words
	[[ -e /run/trib-fabric/$fabric ]] || scripts/fabric -n "$fabric" up star \
		--workers 4 --transport udp ${options[$fabric]} \
		>"$folder/log" 2>&1 ||
		{ cat "$folder/log"; bail "no fabric"; }
	if [[ $fabric != sock ]]; then
		run=$folder/$(basename "${program%:*}")-$fabric
		printf '#!/bin/sh\nFABRIC=%s exec %s\n' "$fabric" \
			"${program%:*}" >"$run"
		chmod +x "$run"
		program=$run
	fi
	programs+=("$program")
done
# Load it after the relays' programs, so that they do not keep it.
load_module
tests/vm/guest-tap "${programs[@]}"
