# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Ranks of trib-perf on the loopback device, as peers, with values in the memory of one
# GPU: for tests and benches; needs neither root nor tribd.

ranks_key=00112233445566778899aabbccddeeff
ranks_dir=$(mktemp -d)
ranks_pids=()

# ranks_start WORLD ARG...: starts them; $ranks_dir/R has the output of rank R.
ranks_start()
{
	local world=$1 r port

	shift
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	ranks_pids=()
	for ((r = 0; r < world; r++)); do
		TRIB_TRANSPORT=peer TRIB_PEER_NICS=127.0.0.1 TRIB_PEER_PROVIDER='tcp;ofi_rxm' \
			TRIB_JOB="trib://127.0.0.1/gpu?job=1&rank=$r&world=$world&keys=$ranks_key:$ranks_key&peers=127.0.0.1:$port" \
			build/trib-perf "$@" >"$ranks_dir/$r" 2>&1 &
		ranks_pids+=($!)
	done
}

# ranks_wait: waits for all, up to RANKS_SECONDS; returns the first status that is not 0.
ranks_wait()
{
	local p rc=0 one

	for p in "${ranks_pids[@]}"; do
		timeout "${RANKS_SECONDS:-120}" tail -s 0.02 --pid="$p" -f /dev/null ||
			kill -KILL "$p"
		wait "$p" 2>/dev/null
		one=$?
		((rc)) || rc=$one
	done
	return $rc
}

# ranks_stop: ends what is left; for traps.
ranks_stop()
{
	local p

	for p in "${ranks_pids[@]}"; do
		kill "$p" 2>/dev/null || true
	done
	rm -rf "$ranks_dir"
}
