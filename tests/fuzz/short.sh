# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Short runs of the fuzzers, always the same: what `make check` affords. Sourced by
# the tests. An input comes from corpus/TARGET, or from one of these.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
n=0
scale=${TRIB_TEST_SCALE:-1}

# rows NEEDS: the rows of the table that need that.
rows() { awk -v needs="$1" '!/^#/ && $2 == needs { print $1 }' tests/fuzz/targets; }

# short TARGET TITLE: one test.
short()
{
	local name=$1 title=$2 kept=tests/fuzz/corpus/$1 target runs len command

	n=$((n + 1))
	read -r target _ runs len command < <(awk -v t="$name" '$1 == t' tests/fuzz/targets)
	[[ ${target-} ]] || { echo "not ok $n - $title # no target $name"; failed=1; return; }
	mkdir "$tmp/$name"
	[[ -d $kept ]] || kept=
	# shellcheck disable=SC2086 # words of a command
	if timeout $((300 * scale)) $command -seed=1 -runs=$((runs * scale)) -max_len="$len" \
		-timeout=30 -artifact_prefix="$tmp/" "$tmp/$name" ${kept:+"$kept"} \
		</dev/null >"$tmp/log" 2>&1; then
		grep -a '^fuzz-.*:' "$tmp/log" | sed 's/^/# /'
		echo "ok $n - $title"
		return
	fi
	failed=1
	sed 's/^/# /' "$tmp/log" | tail -40
	for f in "$tmp"/crash-* "$tmp"/leak-* "$tmp"/timeout-*; do
		[[ -e $f ]] && echo "# input: $(base64 -w0 "$f")"
	done
	echo "not ok $n - $title"
}

need_root()
{
	[[ $EUID == 0 ]] && return
	echo "1..0 # SKIP needs root, for a network namespace and BPF"
	exit 4
}

finish()
{
	echo "1..$n"
	exit $failed
}
