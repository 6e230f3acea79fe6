# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared
# The processes of a fabric: starting, awaiting and ending daemons, and telling
# each tribd its part of the tree. Sourced by scripts/fabric.

job=train

# wait_until SECONDS COMMAND...
wait_until()
{
	local end=$((SECONDS + $1))

	until "${@:2}" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
}

# start_daemon HOST COMMAND...: its pid and log go to the state, under the
# host's name or that in daemon_name.
start_daemon()
{
	local host=$1 of=${daemon_name:-$1}

	# All of these exec: the pid is the daemon's.
	nsenter --net="/run/netns/$(ns_of "$host")" -- setsid "${@:2}" \
		</dev/null >"$state/$of.log" 2>&1 &
	echo $! >"$state/$of.pid"
	# From here on is_ours() recognises it.
	until is_ours $! "$host" || ! kill -0 $! 2>/dev/null; do
		sleep 0.002
	done
}

# True if a recorded pid is still the process that we started, which lives in the
# host's namespace. The kernel uses numbers of dead processes again.
is_ours()
{
	local pid=$1 host=$2

	[[ /proc/$pid/ns/net -ef /run/netns/$(ns_of "$host") ]]
}

# daemon_pid HOST [NAME]
daemon_pid()
{
	local pid file=$state/${2-$1}.pid

	[[ -s $file ]] || return 1
	pid=$(<"$file")
	is_ours "$pid" "$1" && echo "$pid"
}

# wait_daemon HOST COMMAND...: waits until COMMAND succeeds; fails when the daemon
# has ended. The limit is long because emulated CPUs verify BPF slowly.
wait_daemon()
{
	local host=$1 end=$((SECONDS + 250))

	until "${@:2}" >/dev/null 2>&1; do
		if ! daemon_pid "$host" >/dev/null || ((SECONDS >= end)); then
			# Keeps the shell from reporting processes that abandon() ends.
			disown -a
			tail -n 20 "$state/$host.log" >&2
			die "the daemon of $host does not come up"
		fi
		sleep 0.02
	done
}

is_gone() { ! is_ours "$@"; }

# end_process PID HOST
end_process()
{
	is_ours "$@" || return 0
	kill "$1" 2>/dev/null || true
	wait_until 5 is_gone "$@" || kill -KILL "$1" 2>/dev/null || true
	wait_until 5 is_gone "$@" || say "process $1 does not end" >&2
}

# Names of instances have no dots.
instance_of()
{
	local ns

	ns=$(ns_of "$1")
	echo "${ns//./_}"
}

start_tribd()
{
	local args=()

	[[ ! $ndn || ${role[$1]} != relay ]] || args=(--ndn "$ndn_entries")
	start_daemon "$1" "$bin/tribd" --instance "$(instance_of "$1")" \
		${args[@]+"${args[@]}"} "${tribd_args[@]}"
}

face_options() { echo "${vlan:+ vlan $vlan}"; }

# A worker without tribd has a port of its own, by its child index, unless one
# multicast copy serves all.
face_port()
{
	[[ ${role[$1]} == worker && $transport != xdp ]] || return 0
	[[ $one_nic ]] && group_port || echo " port $((7418 + place[$1]))"
}

# The address of that copy: XDP accepts only the usual port.
group_port() { [[ $transport == xdp ]] || echo " port 7418"; }
mcast_addr() { [[ $ipv6 ]] && echo ff15::77 || echo 239.77.0.1; }

# The far end of the LOCAL pair, where ranks of a host that adds them up send from.
local_addr() { [[ $ipv6 ]] && echo fe80::77:2 || echo 169.254.77.2; }

# child_of CHILD: a relay's words for it. A host that adds up is a relay, too.
child_of()
{
	local r=${rank[$1]-}

	if [[ ! $r ]] || { ((ranks > 1)) && [[ ! $apart ]]; }; then
		echo " child $1"
	else
		printf " child $1:%d" $(seq "$r" $((r + ranks - 1)))
	fi
}

# ranks_of HOST: its words for its ranks.
ranks_of()
{
	local r=${rank[$1]} end=$((${rank[$1]} + ranks - 1))

	if ((ranks == 1)); then
		echo " local $r${apart:+:$r}"
	elif [[ $apart ]]; then
		for ((; r <= end; r++)); do
			echo -n " local $r:$r"
		done
	else
		printf ' child local:%d' $(seq "$r" "$end")
		printf ' local %d' $(seq "$r" "$end")
	fi
}

# bracketed ADDRESS: as it stands before a port.
bracketed() { [[ $1 == *:* ]] && echo "[$1]" || echo "$1"; }

# Rank 0 listens at this address for ranks that exchange without relays.
meeting() { echo "$(bracketed "${up_addr[w0]}"):7416"; }

# The configuration of the host's tribd, as lines for `trib batch`.
config_of()
{
	local host=$1 child tree="tree add $job id 1"

	for child in ${below[$host]-}; do
		echo "face add $child dev ${top_dev[$child]}" \
		     "addr ${up_addr[$child]}$(face_port "$child")$(face_options)$(
			face_ndn "$host" "$child")"
		tree+=$(child_of "$child")
	done
	if [[ ${parent[$host]-} ]]; then
		echo "face add up dev ${up_dev[$host]}" \
		     "addr ${top_addr[$host]}$(face_options)$(
			face_ndn "$host" up)"
		tree+=" parent up"
		# Children of the relay have their indices there.
		[[ $apart ]] || tree+=" index ${place[$host]}"
	fi
	if [[ ${rank[$host]-} ]]; then
		if ((ranks > 1)) && [[ ! $apart ]]; then
			echo "face add local dev trib0 addr $(local_addr)"
		fi
		tree+=$(ranks_of "$host")
	fi
	if [[ $one_nic && ${role[$host]} == relay ]]; then
		echo "face add everybody dev p0 addr" \
		     "$(mcast_addr)$(group_port)$(face_options)"
		tree+=" down everybody"
	fi
	echo "job add $job id 1 world $world key $key window $window" \
	     "timeout $timeout${plan_rate:+ rate $plan_rate} dtype $dtype" \
	     "${up_addr[w0]:+peers $(meeting)}"
	echo "$tree"
	[[ ! $ndn || ${role[$host]} != relay ]] || config_of_ndn "$host"
}

# The plan of a BCube; made once. Its hosts watch each other with one key.
plan_cube()
{
	printf '{"builtin": "bcube:%d,%d", "capacity": %d}\n' "$bcube_n" "$bcube_k" \
		"${rate:-10000000000}" >"$state/topology.json"
	printf '{"jobs": [{"name": "%s", "id": 1, "workers": "all", "algorithm": "bcube", %s}]}\n' \
		"$job" "\"key\": \"$key\", \"window\": $window, \"timeout\": $timeout,
		\"dtype\": \"$dtype\", \"peers\": \"$(meeting)\"" >"$state/jobs.json"
	"$bin/trib" plan "$state/topology.json" "$state/jobs.json" -o "$state/plan.json" \
		>"$state/plan.log" || die "no plan for $kind; see above"
	(umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$state/watch.key")
}

configure_host()
{
	if [[ $kind == bcube ]]; then
		"$top/scripts/lib/rows-batch" "$state/plan.json" "$1" "$state/watch.key" \
			${plan_rate:+"$plan_rate"}
	else
		config_of "$1"
	fi >"$state/$1.trib"
	in_ns "$1" "$bin/trib" batch "$state/$1.trib" >>"$state/$1.log" ||
		die "cannot configure $1; see above"
}

# write_peers HOST RANK: how its processes exchange without relays (-A ring, ...). The
# job tells where they meet.
write_peers()
{
	local nics=${up_addr[$1]} l

	[[ $nics && ${up_addr[w0]} ]] || return 0
	for ((l = 1; l < bcube_k; l++)); do
		[[ $kind != bcube ]] || nics+=",$(bcube_addr "${1#w}" "$l")"
	done
	echo "TRIB_PEER_NICS=$nics"
	[[ ! $plain ]] || echo "TRIB_JOB=trib://$(meeting)/$job?job=1&rank=$2&$(
		)world=$world&keys=$key:$key&peers=$(meeting)"
}

# write_env WORKER: the environment of a rank's process.
write_env()
{
	local host=${1%+*} name_of_job=$job nth=0 own

	[[ $1 == "$host" ]] || nth=${1##*+}
	own=$((${rank[$host]} + nth))

	if [[ ! $plain && $transport != xdp ]]; then
		name_of_job=$(in_ns "${parent[$host]}" "$bin/trib" job ticket \
			"$job" rank "$own")
	fi
	{
		[[ $plain ]] || is_planned || echo "TRIB_JOB=$name_of_job"
		[[ $transport != kernel ]] || echo "TRIB_TRANSPORT=kernel"
		echo "TRIB_RANK=$own"
		echo "TRIB_WORLD=$world"
		echo "RANK=$own"
		echo "WORLD_SIZE=$world"
		is_planned || write_peers "$host" "$own"
	} >"$state/$1.env"
}

# The job folder of a host's trib-ps, which trib apply uses too.
ps_folder() { echo "/run/trib/ps/net-$(stat -Lc %i "/run/netns/$(ns_of "$1")")"; }

# True if a trib-ps holds the folder's lock.
has_ps()
{
	local lock

	lock=$(ps_folder "$1")/.lock
	[[ -e $lock ]] && ! flock -n "$lock" true
}

# start_servers PLAN: starts trib-ps on the plan's PS hosts that run none.
start_servers()
{
	local host listen list

	list=$("$top/scripts/lib/fabric-topology" servers "$1") || return
	mkdir -p "$state/ps"
	while read -r host listen; do
		[[ $host ]] || continue
		! has_ps "$host" || continue
		[[ ${role[$host]-} ]] || die "no host is called '$host'"
		[[ -x $bin/trib-ps ]] || die "no $bin/trib-ps; run: make"
		daemon_name=ps/$host start_daemon "$host" "$bin/trib-ps" \
			--listen "$listen"
		wait_until 20 has_ps "$host" ||
			die "no trib-ps comes up on $host: $(tail -n 1 \
				"$state/ps/$host.log")"
	done <<<"$list"
}

start_daemons()
{
	local host

	for host in "${hosts[@]}"; do
		! has_tribd "$host" || start_tribd "$host"
	done
	for host in "${hosts[@]}"; do
		! has_tribd "$host" ||
			wait_daemon "$host" in_ns "$host" "$bin/trib" status
	done
}

start_job()
{
	local host

	[[ $kind != bcube ]] || plan_cube
	for host in "${hosts[@]}"; do
		! has_tribd "$host" || configure_host "$host"
	done
}

# apply_plan PLAN OPTIONS...: applies it and notes its jobs for `run`.
apply_plan()
{
	local fresh=$state/jobs.new job

	start_servers "$1"
	PATH=$bin:$PATH trib apply "$@" \
		--via "nsenter --net=/run/netns/$(ns_of '{}') --" || return
	[[ " $* " != *" --diff "* ]] || return 0
	rm -rf "$fresh"
	"$top/scripts/lib/fabric-topology" jobs "$1" "$fresh" || return
	mkdir -p "$state/jobs"
	for job in "$fresh"/*; do
		rm -rf "$state/jobs/${job##*/}"
		mv "$job" "$state/jobs/"
	done
	rmdir "$fresh"
}

# Prints the jobs of applied plans.
applied_jobs()
{
	[[ ! -d $state/jobs ]] || ls "$state/jobs"
}

# stop_daemons: ends our daemons by their recorded pids and removes their pins.
stop_daemons()
{
	local host file

	for file in "$state"/run/*; do
		[[ -e $file ]] || continue
		read -r host <"$file"
		end_process "${file##*/}" "$host"
	done
	for host in "${hosts[@]}" $wires; do
		for file in "$state"/{,ps/}"$host.pid"; do
			[[ ! -s $file ]] || end_process "$(<"$file")" "$host"
		done
		[[ -e /run/netns/$(ns_of "$host") ]] || continue
		[[ ! -e $state/ps/$host.pid ]] || rm -rf "$(ps_folder "$host")"
		[[ ! -e /sys/fs/bpf/trib/$(instance_of "$host") ]] ||
			in_ns "$host" "$bin/tribd" --purge \
				--instance "$(instance_of "$host")" \
				>>"$state/$host.log" 2>&1 ||
			say "cannot purge $host: $(tail -n 1 "$state/$host.log")" >&2
	done
}
