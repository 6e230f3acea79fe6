# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/demo ndn: a parameter server and four workers that know each other by
# name, over three relays that forward NDN in XDP. Sourced by scripts/demo, which
# sets $fabric, $options and $top.
# shellcheck disable=SC2154

ndn_versions=${DEMO_VERSIONS:-400}
ndn_ps=

ndn_picture()
{
	cat <<'END'
    /w0 --+
          +-- r1 --+
    /w1 --+        |
                   +-- r0 -- /ps     the relays know names, the PS no workers'
    /w2 --+        |                 addresses; each version of the model leaves
          +-- r2 --+                 it once, and relays copy it to subscribers
    /w3 --+
END
}

ndn_relay()
{
	local host=$1
	shift
	"${fabric[@]}" exec "$host" -- "$@"
}

# ndn_job NAME MODE VERSIONS RATE MOMENTUM LEAST: writes the job's file. Each
# version needs at least LEAST gradients.
ndn_job()
{
	cat >"$ndn_dir/$1.json" <<END
{
  "name": "$1", "prefix": "/ps/$1", "mode": "$2", "versions": $3,
  "elements": $ndn_elements, "model": {"file": "$ndn_dir/initial"},
  "workers": [{"name": "w0"}, {"name": "w1"}, {"name": "w2"}, {"name": "w3"}],
  "sgd": {"lr": $4, "momentum": $5}, "lease_ms": 5000,
  "min_workers": $6,
  "state": "$ndn_dir/$1.state"
}
END
	mkdir -p "$ndn_dir/$1.state"
}

# ndn_start_ps NAME: starts trib-ps, with its output in a file.
ndn_start_ps()
{
	# shellcheck disable=SC2016 # expanded over there
	ndn_relay ps sh -c 'echo $$ >"$1.pid"
		exec trib-ps ndn --forwarder "$TRIB_PS_FORWARDER" \
			--job "$1.json"' - \
		"$ndn_dir/$1" >"$ndn_dir/$1.log" 2>&1 &
	ndn_ps=$1
}

ndn_stop_ps()
{
	local pid

	[[ $ndn_ps ]] || return 0
	pid=$(cat "$ndn_dir/$ndn_ps.pid" 2>/dev/null) || return 0
	ndn_ps=
	kill "$pid" 2>/dev/null || true
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.05
	done
}

# ndn_subscribed HOST SUBSCRIBERS: true once HOST has acknowledged all.
ndn_subscribed()
{
	ndn_relay "$1" trib pit show 2>/dev/null |
		grep "confirmed .* $2 " >/dev/null
}

# Prints the subscriptions on the relays during training, once all are there.
ndn_show_pit()
{
	local i host

	for ((i = 0; i < 100; i++)); do
		ndn_subscribed r0 r1,r2 && ndn_subscribed r1 w0,w1 && break
		sleep 0.05
	done
	for host in r0 r1; do
		echo "$host\$ trib pit show"
		ndn_relay "$host" trib pit show | sed 's/^/  /'
	done
}

# ndn_train OPTION...: runs all workers; the last one pauses for ndn_pause.
ndn_train()
{
	local pause=${ndn_pause:-0}

	# shellcheck disable=SC2016 # expanded over there
	"${fabric[@]}" run --fail-fast -- sh -c '
		p=$1
		shift
		[ "$TRIB_PS_NAME" = /w3 ] || p=0
		exec trib-train --ps --parts 4 --pause "$p" "$@"' - \
		"$pause" "$@"
}

ndn_counters()
{
	heading "What the relay r0 counted"
	echo "r0\$ trib stats"
	ndn_relay r0 trib stats | awk '/^ndn-/ && $2 { print "  " $0 }'
}

# Synchronous: every version has the gradients of all workers.
ndn_sync()
{
	local train

	heading "Synchronous: every version has the gradients of all workers"
	ndn_job demo sync "$ndn_versions" 0.05 0.9 4
	ndn_start_ps demo
	ndn_train "$@" >"$ndn_dir/demo.out" 2>&1 &
	train=$!
	ndn_show_pit
	wait $train || { cat "$ndn_dir/demo.out" >&2; die "training failed"; }
	ndn_stop_ps
	cat "$ndn_dir/demo.out"
	[[ $(sed -n 's/^worker.* parameters //p' "$ndn_dir/demo.out" |
		sort -u | wc -l) == 1 ]] ||
		die "the workers' last versions differ"
	say "all 4 workers have the same last version, to the bit"
}

# Asynchronous: a slow worker gives fewer gradients and delays no other.
ndn_async()
{
	heading "Asynchronous, and w3 rests 100 ms after each gradient"
	# Small steps: each gradient is a step of its own, and some are old.
	ndn_job late async "$((ndn_versions * 10))" 0.04 0 1
	ndn_start_ps late
	ndn_pause=100 ndn_train "$@"
	ndn_stop_ps
	tail -n 1 "$ndn_dir/late.log" | sed 's/^/PS: /'
}

ndn_main()
{
	[[ $ndn_versions =~ ^[1-9][0-9]{0,5}$ ]] ||
		die -2 "DEMO_VERSIONS: '$ndn_versions' is not within 1 to 999999"
	((${#options[@]} == 0)) || say "ndn: on a tree of 3 relays with ${options[*]}"
	[[ " $* " == *" --hidden "* ]] || set -- --hidden 96,96 "$@"
	[[ " $* " == *" --samples "* ]] || set -- --samples 8192 "$@"
	ndn_dir=$(mktemp -d)
	ndn_elements=$("$top/build/trib-train" "$@" --initial "$ndn_dir/initial") ||
		exit 2
	"${fabric[@]}" up tree --ndn "${options[@]}"
	ndn_picture
	ndn_sync "$@"
	ndn_counters
	ndn_async "$@"
}
