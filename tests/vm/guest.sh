# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For tests that run in the VM: boots it if they are run by hand; TAP; waiting.
# They run in the repository's root; TRIB_KO is the module's file.
#
#	TRIB_KERNEL=6.12 tests/vm/sock.t	another series of Debian's kernels
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
ko=${TRIB_KO:-build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko}
export TRIB_KO=$ko
if [[ ! ${VMOUT-} ]]; then
	scripts/mkynl && make -s module || exit 1
	exec scripts/vm -m 2048 -t 900 -- env "TRIB_KO=$ko" \
		"TRIB_TEST_SCALE=${TRIB_TEST_SCALE:-1}" "$0" "$@"
fi

# Factor by which random tests and loops are longer than in the shortest run.
# shellcheck disable=SC2034 # for the tests
scale=${TRIB_TEST_SCALE:-1}
n=0 failed=0

# t NAME COMMAND...: one test.
t()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		echo "ok $((++n)) - $name"
	else
		tail -n 25 <<<"# ${out//$'\n'/$'\n'# }"
		echo "not ok $((++n)) - $name"
		failed=1
	fi
}

# The last command of a test that calls t.
done_testing()
{
	echo "1..$n"
	exit $failed
}

bail() { echo "Bail out! $*"; exit 1; }

load_module() { insmod "$ko" || bail "the module does not load"; }

# Retry a command until it succeeds, for at most ten seconds.
soon()
{
	local i

	for ((i = 0; i < 100; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "never: $*"
	return 1
}

is() { [[ $1 == "$2" ]] || { echo "'$1', not '$2'"; return 1; }; }
