#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib.ko as a file: what it says of itself, that the compiler and sparse have
# nothing to say about it, that it installs, that DKMS could build it, and that it
# builds for a newer kernel, whose headers are fetched.
# shellcheck disable=SC2317 # called by t
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1

n=0 failed=0 newer=6.12
kdir=build/kdir${TRIB_KERNEL:+-$TRIB_KERNEL}
ko=build/module${TRIB_KERNEL:+-$TRIB_KERNEL}/trib.ko
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# t NAME COMMAND...: one test.
t()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "ok $((++n)) - $name"
	else
		tail -n 20 <<<"# ${out//$'\n'/$'\n'# }"
		echo "not ok $((++n)) - $name"
		failed=1
	fi
}

builds() { make -s module && [[ -s $ko ]]; }

modinfo_complete()
{
	local field

	for field in license author description version vermagic; do
		[[ $(modinfo -F "$field" "$ko") ]] || { echo "no $field"; return 1; }
	done
	[[ $(modinfo -F license "$ko") == GPL ]] || return
	# The kernel looks for the family by this name.
	modinfo -F alias "$ko" |
		grep -x 'net-pf-16-proto-16-family-trib' >/dev/null || return
	# Each parameter has its line of explanation.
	[[ $(modinfo -F parm "$ko" | cut -d: -f1 | sort | xargs) == \
		"codec fpu_busy level mem_max mem_total mem_used mem_user protocol" ]] || return
	! modinfo -F parm "$ko" | grep -E '^[^:]*: *\('
}

has_section()
{
	readelf -SW "$ko" | grep -F " $1 " >/dev/null || { echo "no $1"; return 1; }
}

without_btf_is_refused()
{
	local bare=$tmp/bare

	# A make of its own, which may not find pahole.
	mkdir -p "$bare/build/kdir" &&
		ln -s "$PWD"/{kmod,userspace,bpf,kernels,tests,scripts} \
			"$bare/" && cp Makefile Kbuild "$bare/" &&
		ln -s "$PWD/$kdir"/{.config,.kernelvariables,*} \
			"$bare/build/kdir/" && rm "$bare/build/kdir/vmlinux"
	! make -s -C "$bare" KDIR=build/kdir/ module 2>"$tmp/err" &&
		grep -q "no BTF" "$tmp/err"
}

installs()
{
	make -s module-install DESTDIR="$tmp/root" >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log"; return 1; }
	find "$tmp/root/lib/modules" -name 'trib.ko*' | grep . >/dev/null
}

# The command that DKMS runs, on a copy of the sources.
dkms()
{
	local PACKAGE_NAME PACKAGE_VERSION MAKE BUILT_MODULE_NAME \
		BUILT_MODULE_LOCATION DEST_MODULE_LOCATION AUTOINSTALL
	local kernel_source_dir=$PWD/$kdir dkms_tree=$tmp/dkms

	# shellcheck source=dkms.conf
	. ./dkms.conf || return
	local tree=$dkms_tree/$PACKAGE_NAME/$PACKAGE_VERSION/build

	mkdir -p "$tree" && cp -r Kbuild kmod kernels "$tree/" || return
	[[ $AUTOINSTALL == yes && ${DEST_MODULE_LOCATION[0]} == /* ]] || return
	(cd "$tree" && unset MAKEFLAGS && eval "${MAKE[*]}") || return
	modinfo -F version \
		"$tree/${BUILT_MODULE_LOCATION[0]}/${BUILT_MODULE_NAME[0]}.ko" |
		grep -x "$PACKAGE_VERSION" >/dev/null
}

newer_has_headers()
{
	scripts/mkkdir --headers --series $newer >"$tmp/newer" 2>&1
}

# One build does it all: W=1 and sparse leave a module behind.
builds_for_newer()
{
	local ko=build/module-check-$newer/trib.ko

	rm -f "$ko"
	make -s module-check TRIB_KERNEL="$newer" || return
	has_section .BTF_ids && has_section .BTF || return
	modinfo -F vermagic "$ko" | grep -F "$newer." >/dev/null
}

t module__builds builds
t modinfo__is_complete modinfo_complete
t btf__is_there has_section .BTF
t btf__its_absence_fails_the_build without_btf_is_refused
t check__compiler_and_sparse_are_silent make -s module-check
t install__puts_it_with_the_kernels_modules installs
t dkms__builds_what_it_is_told dkms
if newer_has_headers; then
	t newer__compiler_and_sparse_are_silent builds_for_newer
else
	echo "ok $((++n)) - newer__compiler_and_sparse_are_silent # SKIP" \
		"$(tail -n 1 "$tmp/newer")"
fi
echo "1..$n"
exit $failed
