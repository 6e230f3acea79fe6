#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The module's tests, random ones, the BPF tests and sums over emulated networks,
# with the module, on a kernel with KASAN, UBSan, lockdep and kmemleak. Not in
# `make check`, because that kernel takes minutes to build the first time.
#
#	tests/vm/module-kasan.t			module stress bpf netns; make check-kasan
#	tests/vm/module-kasan.t PART...		those, and sock
#	tests/vm/module-kasan.t long		ten minutes of chance each, and thousands
#						of cycles; make check-long
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

kasan=build/kasan
ko=build/module-kasan/trib.ko
n=0 failed=0

bail() { echo "Bail out! $*"; exit 1; }

# vm NAME SECONDS KMEMLEAK COMMAND...: in a VM of its own; its TAP becomes ours.
vm()
{
	local name=$1 limit=$2 leaks=$3 begun=$SECONDS line rc
	shift 3
	while IFS= read -r line; do
		if [[ $line =~ ^(not )?ok\ [0-9]+(.*)$ ]]; then
			echo "${BASH_REMATCH[1]}ok $((++n))${BASH_REMATCH[2]}"
		elif [[ $line =~ ^rc\ ([0-9]+)$ ]]; then
			rc=${BASH_REMATCH[1]}
		elif [[ $line != 1..* ]]; then
			echo "# ${line#'# '}"
		fi
	done < <(scripts/vm -k $kasan/bzImage -m 2048 -t "$limit" \
		-a "kmemleak=$leaks" -- "$@" 2>&1; echo "rc $?")
	((rc == 0)) || { failed=1; echo -n "not "; }
	echo "ok $((++n)) - $name: the kernel is content"
	echo "# $name: $((SECONDS - begun)) s"
}

# The same for what allocates memory: none of it is lost.
leakless() { vm "$1" "$2" on tests/vm/kasan-guest "${@:3}"; }

run_part()
{
	local programs program

	case $1 in
	module)
		leakless module 900 env TRIB_KO=$ko tests/vm/guest-tap \
			"tests/vm/load $ko" build/tests/vm/netlink/family \
			tests/vm/{netlink/ynl,life/module-life} \
			"build/tests/vm/life/cycles 20"
		;;
	stress)
		leakless stress 600 tests/vm/stress-guest $ko 20 100
		;;
	sock)
		leakless sock 1200 tests/vm/sock-guest $ko
		;;
	# With kmemleak, loading a program takes three times as long.
	bpf)
		mapfile -t programs < <(grep '^build/tests/bpf/' build/check-list)
		vm bpf 1800 off tests/vm/guest-tap "tests/vm/load $ko" \
			build/tests/vm/kfunc/{kfunc,floats} "${programs[@]}"
		;;
	netns)
		vm netns 600 off tests/vm/guest-tap "tests/vm/load $ko" \
			tests/netns/tree/old-kernel.t
		;;
	long)
		for program in netlink/nlfuzz sockfuzz/sockfuzz sock/sockcycles; do
			leakless ${program#*/} 2400 tests/vm/stress-guest $ko 600 \
				10000 $program
		done
		leakless cycles 5400 env TRIB_KO=$ko build/tests/vm/life/cycles 1000
		;;
	*) bail "there is no part '$1'" ;;
	esac
}

scripts/mkkasan $kasan >&2 || bail "the kernel does not build"
scripts/mkynl >&2 || bail "no ynl"
# UBSan is for those who ask for it.
UBSAN_SANITIZE=y make -s module KDIR=$kasan MODULE_DIR=${ko%/*} >&2 ||
	bail "the module does not build"
(($#)) || set -- module stress bpf netns
for name; do
	run_part "$name"
done
echo "1..$n"
exit $failed
