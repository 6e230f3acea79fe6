#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# `make install` to another place than the build's default: the program in
# README.md compiles with what pkg-config says, and runs.
# shellcheck disable=SC2317 # called by t
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL

n=0 failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/root/opt/trib

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

# With DESTDIR the loader's cache stays as it is.
installs() { make -s install DESTDIR="$tmp/root" PREFIX=/opt/trib; }

units_name_the_place()
{
	local unit

	for unit in tribd trib-ps; do
		grep "^ExecStart=/opt/trib/sbin/$unit" \
			"$prefix/lib/systemd/system/$unit.service" || return
	done
}

# README.md's lines, with values to add up around them.
program()
{
	echo '#include <err.h>'
	echo '#include <trib.h>'
	echo '#include <trib_compress.h>'
	echo 'int main(void) { float grad[4] = {1, 2, 3, 4}; int n = 4;'
	sed -n '/^    struct trib \*t;/,/^    trib_detach/p' README.md
	echo '}'
}

readme_compiles()
{
	local flags

	program >"$tmp/train.c"
	flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root \
		pkg-config --cflags --libs trib) || return
	read -ra flags <<<"$flags"
	cc -Wall -Werror -o "$tmp/train" "$tmp/train.c" "${flags[@]}"
}

program_explains_what_it_lacks()
{
	local out

	out=$(TRIB_JOB='' LD_LIBRARY_PATH=$prefix/lib "$tmp/train" 2>&1) && return 1
	echo "$out"
	[[ $out == *TRIB_JOB* ]]
}

t install__to_another_prefix installs
t units__name_the_place units_name_the_place
t readme__program_compiles_with_pkg_config readme_compiles
t program__explains_what_it_lacks program_explains_what_it_lacks
echo "1..$n"
exit $failed
