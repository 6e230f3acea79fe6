# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# fabric run: one process per rank, their signals, output and exit status.
# Sourced by scripts/fabric.

declare -A worker_of=()	# pid -> host, of those that run
taggers=()
worst=0
failed=

# start_worker HOST COMMAND...
start_worker()
{
	local host=$1 out=/dev/stdout env

	mapfile -t env <"$env_dir/$host.env"
	if [[ $tag ]]; then
		out=$scratch/$host
		mkfifo "$out"
		sed -u "s/^/$host: /" <"$out" &
		taggers+=($!)
	fi
	if [[ $tag ]]; then
		in_worker "${host%+*}" "${env[@]}" "${@:2}" >"$out" 2>&1 &
	else
		in_worker "${host%+*}" "${env[@]}" "${@:2}" &
	fi
	worker_of[$!]=$host
	echo "${host%+*}" >"$state/run/$!"
}

# in_worker HOST NAME=VALUE... COMMAND...: becomes the command.
in_worker()
{
	local env

	mapfile -t env < <(ndn_env "$1")
	exec nsenter --net="/run/netns/$(ns_of "$1")" -- \
		env "PATH=$bin:$PATH" ${env[@]+"${env[@]}"} "${@:2}"
}

signal_workers()
{
	local pid

	for pid in "${!worker_of[@]}"; do
		kill "-$1" "$pid" 2>/dev/null || true
	done
}

# reap: notes workers that have ended. `wait -n` would return at once, but loses
# some that end together.
reap()
{
	local pid rc

	for pid in "${!worker_of[@]}"; do
		! kill -0 "$pid" 2>/dev/null || continue
		rc=0
		wait "$pid" || rc=$?
		rm -f "$state/run/$pid"
		((rc == 0)) || say "${worker_of[$pid]}: exit status $rc" >&2
		unset "worker_of[$pid]"
		# Workers that we ended are not reported.
		[[ $failed && $rc == 143 ]] || ((rc <= worst)) || worst=$rc
		[[ $rc == 0 || ! $fail_fast || $failed ]] && continue
		failed=1
		signal_workers TERM
	done
}

# pause: waits a twentieth of a second without a process of its own, which would
# disturb measurements.
pause() { read -rt 0.05 -u "$tick" || true; }

# Prints the workers of the fabric's own job or of a plan's.
choose_job()
{
	local list

	env_dir=$state
	is_planned || [[ $run_job ]] || return 0
	mapfile -t list < <(applied_jobs)
	# Without a job: the hosts that have names.
	[[ $run_job || ! $ndn ]] || ((${#list[@]})) || return 0
	[[ $run_job ]] || ((${#list[@]} == 1)) ||
		die -2 "run: ${#list[@]} jobs: --job says which"
	run_job=${run_job:-${list[0]}}
	env_dir=$state/jobs/$run_job
	[[ -s $env_dir/workers ]] || die -2 "--job: no plan brought '$run_job'"
}

all_workers()
{
	if [[ $env_dir == "$state" ]]; then
		own_workers
	else
		cat "$env_dir/workers"
	fi
}

# Keeps the workers on hosts that --only names.
chosen_workers()
{
	local host list

	if [[ ! $only ]]; then
		all_workers
		return
	fi
	IFS=, read -ra list <<<"$only"
	for host in "${list[@]}"; do
		all_workers | grep -xE -- "${host//./\\.}(\+[0-9]+)?" ||
			die -2 "--only: no worker is called '$host'"
	done
}

run_workers()
{
	local host chosen

	choose_job
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
	mkfifo "$scratch/tick"
	exec {tick}<>"$scratch/tick"
	while ((${#worker_of[@]})); do
		pause
		reap
	done
	((${#taggers[@]} == 0)) || wait "${taggers[@]}" || true
	return "$worst"
}
