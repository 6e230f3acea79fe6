# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # variables are mkkdir's
# A part of mkkdir: fetches a kernel from Debian's archive and unpacks it into
# $dir/root, so that nothing in /usr changes.

# newest_of SERIES: prints its full version, from the dependency of the package
# without one.
newest_of()
{
	local version

	command -v apt-cache >/dev/null || die -3 "no apt to fetch $1 with"
	# Without root or network, the lists on disk must do.
	apt-get -qq update >/dev/null 2>&1 || true
	version=$(apt-cache depends "linux-headers-$1-amd64" 2>/dev/null |
		sed -n "s/^ *Depends: linux-headers-\($1\..*-amd64\)$/\1/p")
	[[ $version ]] || die -3 "no package has headers of $1"
	echo "$version"
}

# fetch PACKAGE...: unpacks them into $dir/root.
fetch()
{
	local deb

	mkdir "$tmp/debs"
	(cd "$tmp/debs" && apt-get -qq -o APT::Sandbox::User=root \
		download "$@") >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log" >&2; die -3 "cannot fetch $*"; }
	for deb in "$tmp/debs"/*.deb; do
		dpkg -x "$deb" "$dir/root"
	done
	rm -r "$tmp/debs"
}

# The headers include resolve_btfids, and a vmlinux that is only BTF.
fetch_headers()
{
	local src=$dir/root/usr/src name
	local headers=$src/linux-headers-$kernel common=${kernel%-amd64}

	[[ -e $dir/Makefile ]] && return
	say "fetching headers of $kernel" >&2
	fetch "linux-headers-$kernel" "linux-headers-$common-common" \
		"linux-kbuild-$common"
	for name in .config .kernelvariables Module.symvers arch include \
		scripts tools vmlinux; do
		[[ -e $headers/$name ]] || die "no $name in the headers"
		ln -sfn "$headers/$name" "$dir/$name"
	done
	# Written last: it marks the folder as complete. The package's own Makefile
	# works in /usr only.
	echo "include $src/linux-headers-$common-common/Makefile" \
		>"$dir/Makefile"
}

fetch_image()
{
	[[ -e $dir/bzImage ]] && return
	say "fetching the image of $kernel" >&2
	fetch "linux-image-$kernel"
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$dir/root" "$kernel"
	ln -sfn "$dir/root/boot/vmlinuz-$kernel" "$dir/bzImage"
}
