# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# fabric run: one process per worker, their signals, output and exit status.
# Sourced by scripts/fabric.

declare -A worker_of=()	# pid -> host, of those that run
taggers=()
worst=0

# start_worker HOST COMMAND...
start_worker()
{
	local host=$1 out=/dev/stdout env

	mapfile -t env <"$state/$host.env"
	if [[ $tag ]]; then
		out=$scratch/$host
		mkfifo "$out"
		sed -u "s/^/$host: /" <"$out" &
		taggers+=($!)
	fi
	if [[ $tag ]]; then
		in_worker "$host" "${env[@]}" "${@:2}" >"$out" 2>&1 &
	else
		in_worker "$host" "${env[@]}" "${@:2}" &
	fi
	worker_of[$!]=$host
	echo "$host" >"$state/run/$!"
}

# in_worker HOST NAME=VALUE... COMMAND...: becomes the command.
in_worker()
{
	exec nsenter --net="/run/netns/$(ns_of "$1")" -- \
		env "PATH=$bin:$PATH" "${@:2}"
}

signal_workers()
{
	local pid

	for pid in "${!worker_of[@]}"; do
		kill "-$1" "$pid" 2>/dev/null || true
	done
}

# reap: waits for one worker. A signal to us interrupts `wait`; its handler has
# passed it on by then.
reap()
{
	local pid='' rc=0

	wait -n -p pid "${!worker_of[@]}" || rc=$?
	[[ ${pid-} && ${worker_of[$pid]-} ]] || return 0
	rm -f "$state/run/$pid"
	((rc == 0)) || say "${worker_of[$pid]}: exit status $rc" >&2
	unset "worker_of[$pid]"
	((rc <= worst)) || worst=$rc
	if ((rc)) && [[ $fail_fast ]]; then
		signal_workers TERM
	fi
}

# Only workers that were asked for, by `only`.
chosen_workers()
{
	local host list

	if [[ ! $only ]]; then
		hosts_of worker
		return
	fi
	IFS=, read -ra list <<<"$only"
	for host in "${list[@]}"; do
		[[ ${role[$host]-} == worker ]] ||
			die -2 "--only: no worker is called '$host'"
		echo "$host"
	done
}

run_workers()
{
	local host chosen

	chosen=$(chosen_workers)
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	mkdir -p "$state/run"
	trap 'signal_workers TERM; worst=143' TERM
	trap 'signal_workers TERM; worst=130' INT
	trap 'signal_workers TERM; worst=129' HUP
	for host in $chosen; do
		start_worker "$host" "$@"
	done
	while ((${#worker_of[@]})); do
		reap
	done
	((${#taggers[@]} == 0)) || wait "${taggers[@]}" || true
	return "$worst"
}
