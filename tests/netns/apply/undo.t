#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib apply when hosts fail half-way: w0 w1 --- r0. A script between apply and its
# hosts can lose requests.
# shellcheck disable=SC2317 # functions are called by ok
# shellcheck source=tests/netns/apply/apply.sh
. "$(dirname "$0")/apply.sh"

# On a step that contains WORD, w1 does this: refuse; hang (neither does it nor
# answers); mute (does it without an answer); once: the first time only.
cat >"$scratch/between" <<'EOF_SH'
#!/bin/sh
host=$1
shift
text=$(cat)
. "$(dirname "$0")/trouble"
case $host,$text in
w1,*"$word"*)
	if [ -z "$once" ] || mkdir "$once" 2>/dev/null; then
		case $what in
		refuse) echo '{"error":"broken"}'; exit 1 ;;
		hang) exec sleep 60 ;;
		mute) echo "$text" | nsenter --net="/run/netns/$fab-$host" -- "$@" >/dev/null
			exec sleep 60 ;;
		esac
	fi ;;
esac
echo "$text" | nsenter --net="/run/netns/$fab-$host" -- "$@"
EOF_SH
chmod +x "$scratch/between"

# trouble WHAT WORD [once]
trouble()
{
	cat >"$scratch/trouble" <<-EOF_SH
	fab=$fab what=$1 word='$2' once=${3:+$scratch/once-$1-$RANDOM}
	EOF_SH
}

# Without --via apply calls ssh: this one enters namespaces.
by_ssh()
{
	mkdir "$scratch/bin"
	cat >"$scratch/bin/ssh" <<-EOF_SH
	#!/bin/sh
	[ "\$2" = -- ] || exit 255
	host=\$1
	shift 2
	exec nsenter --net="/run/netns/$fab-\$host" -- "\$@"
	EOF_SH
	chmod +x "$scratch/bin/ssh"
	PATH=$scratch/bin:$PATH trib apply "$1"
}

# fails NAME PATTERN PLAN: apply fails for this reason and nothing has changed.
fails()
{
	local before after text

	before=$(world)
	if text=$(trib apply "$3" --timeout 2 --via "$scratch/between {}" 2>&1)
	then
		diag "$text"
		fail "$1"
		return
	fi
	after=$(world)
	matches "$1" "$text" "$2"
	is "$1"_and_all_is_as_it_was "$after" "$before"
}

now()
{
	local pid

	scripts/fabric -n "$fab" run -- trib-perf -b 64K -e 64K -n 1000000 \
		>"$scratch/long" 2>&1 &
	pid=$!
	wait_for 20 sh -c "scripts/fabric -n $fab exec r0 -- trib tree show |
		grep running >/dev/null" || diag "$(<"$scratch/long")"
	matches now__waits_for_nobody "$(apply "$scratch/next" --now 2>&1)" \
		'3 hosts: [0-9]+ changes$'
	is now__old_trees_are_gone \
		"$(on r0 -j tree show | grep -o '"held":' | wc -l)" 1
	ok now__workers_are_told wait_for 20 sh -c "! kill -0 $pid"
	wait "$pid"
	diag "$(tail -3 "$scratch/long")"
	ok now__sums sums
}

bare star r0 w0 w1 || { fail star__comes_up; done_testing; }
make_plan star:2 1 "$scratch/plan"
ok ssh__is_the_default by_ssh "$scratch/plan"
ok ssh__sums sums
change "$scratch/next" '
h["r0"]["trees"][0]["children"].reverse()
for w in "w0", "w1":
    t = h[w]["trees"][0]
    t["index"] = t["local"][0]["index"] = 1 - t["index"]'

trouble refuse '"switch"'
fails switch__refused_is_undone 'w1: broken' "$scratch/next"
ok switch__refused_sums sums
trouble hang '"switch"'
fails switch__silence_is_undone 'w1: no answer within 2 seconds' \
	"$scratch/next"
trouble mute '"switch"' once
fails switch__done_in_silence_is_undone \
	'nothing was changed.*|w1: no answer within 2 seconds$' "$scratch/next"
ok switch__done_in_silence_sums sums
trouble hang '"held"'
fails load__silence_is_undone 'w1: no answer within 2 seconds' "$scratch/next"
trouble hang '"look"'
fails look__silence_changes_nothing 'w1: no answer within 2 seconds' \
	"$scratch/next"
trouble refuse '"none"'
ok afterwards__it_applies apply "$scratch/plan"
now
fabric down >/dev/null
done_testing
