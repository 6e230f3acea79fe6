# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For tests in bash: TAP, and fabrics with unique names that are removed at exit.
# Tests source it first; they then run in the repository's root.

cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
TRIB_BUILD=${TRIB_BUILD:-build}
export TRIB_BUILD

tap_count=0
tap_failed=0
fabrics=()
scratch=$(mktemp -d)

# Tests with more to remove than fabrics define it anew.
at_exit() { :; }

# cleanup: the EXIT trap.
cleanup()
{
	local rc=$? f

	trap '' INT TERM HUP
	at_exit
	for f in ${fabrics[@]+"${fabrics[@]}"}; do
		scripts/fabric -n "$f" down >/dev/null 2>&1
	done
	rm -rf "$scratch"
	exit "$rc"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

pass() { echo "ok $((++tap_count)) - $1"; }

fail()
{
	((tap_failed++))
	echo "not ok $((++tap_count)) - $1"
}

skip() { echo "ok $((++tap_count)) - $1 # SKIP $2"; }

skip_all() { echo "1..0 # SKIP $*"; exit 4; }

# Last command of every test.
done_testing()
{
	echo "1..$tap_count"
	exit $((tap_failed != 0))
}

# ok NAME COMMAND...: passes if the command succeeds; else shows its output.
ok()
{
	local name=$1 text rc=0

	shift
	text=$("$@" 2>&1) || rc=$?
	if ((rc == 0)); then
		pass "$name"
		return
	fi
	diag "exit status $rc: $*"
	diag "$text"
	fail "$name"
}

# is NAME GOT WANTED
is()
{
	if [[ $2 == "$3" ]]; then
		pass "$1"
		return
	fi
	diag "got    '$2'"
	diag "wanted '$3'"
	fail "$1"
}

# matches NAME TEXT PATTERN: PATTERN is an extended regular expression.
matches()
{
	if [[ $2 =~ $3 ]]; then
		pass "$1"
		return
	fi
	diag "'$2'"
	diag "does not match '$3'"
	fail "$1"
}

# within NAME GOT LOW HIGH: passes if LOW <= GOT <= HIGH; fractions are allowed.
within()
{
	if awk -v x="$2" -v l="$3" -v h="$4" \
		'BEGIN { exit !(x == x + 0 && x >= l && x <= h) }'; then
		pass "$1"
		return
	fi
	diag "$2 is not within $3 to $4"
	fail "$1"
}

need_root() { ((EUID == 0)) || skip_all "needs root"; }

# need_programs NAME...: bails out unless they are built.
need_programs()
{
	local p

	for p; do
		[[ -x $TRIB_BUILD/$p ]] || { echo "Bail out! no $p: make"; exit 1; }
	done
}

# wait_for SECONDS COMMAND...: repeats it until it succeeds or time is up.
wait_for()
{
	local end=$((SECONDS + $1))

	until "${@:2}" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# new_fabric: sets `fab` to an unused name. The caller brings the fabric up.
new_fabric()
{
	fab=t$$-${#fabrics[@]}
	fabrics+=("$fab")
}

# Runs a command of scripts/fabric on the fabric `fab`.
fabric() { scripts/fabric -n "$fab" "$@"; }
