#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# trib apply: gives plans to all hosts of a fabric without configuration.
#
#	star: w0 w1 --- r0		tree: w0 w1 - r1 \
#						w2 w3 - r2 -- r0
# shellcheck source=tests/netns/apply/apply.sh
. "$(dirname "$0")/apply.sh"

star()
{
	local before text

	bare star r0 w0 w1 || { fail star__comes_up; return; }
	make_plan star:2 1 "$scratch/plan"

	before=$(world)
	text=$(apply "$scratch/plan" --diff 2>&1)
	matches diff__shows_faces "$text" '\+ r0 face w0 dev p0 addr 10\.'
	matches diff__shows_jobs "$text" '\+ w1 job train world 2 id 1 window 64'
	matches diff__shows_trees "$text" '\+ w0 tree 1 of train parent r0 index 0 local 0:0'
	is diff__changes_nothing "$(world)" "$before"

	# One host refuses, the others could load it.
	change "$scratch/bad" 'h["w1"]["faces"][0]["dev"] = "nodev"'
	refuses device__unknown_is_refused "$scratch/bad" \
		'w1: face r0: no device nodev'
	change "$scratch/bad" 'h["r0"]["trees"][0]["children"][1]["face"] = "w7"'
	refuses face__unknown_is_refused "$scratch/bad" \
		'r0: tree 1: child 1: no face "w7"'
	change "$scratch/bad" '
c = h["r0"]["trees"][0]["children"]
c += [{"face": "w0", "rank": 2 + i} for i in range(63)]'
	refuses workers__more_than_a_bitmap_holds "$scratch/bad" \
		'r0: tree 1: 65 children, but a bitmap holds 64'
	change "$scratch/bad" '
for x in h.values():
    x["jobs"][0]["window"] = 16384
t = h["r0"]["trees"]
t += [dict(t[0], id=t[-1]["id"] + 1 + i) for i in range(60)]'
	refuses slots__too_many_are_refused "$scratch/bad" \
		'r0: [0-9]+ slots are needed, 0 of [0-9]+ are used'
	# A mistake that only tribd finds, after others have loaded their part.
	change "$scratch/bad" 'h["w1"]["trees"][0]["local"][0]["rank"] = 5'
	refuses load__is_undone "$scratch/bad" \
		'w1: local rank 5: job train has ranks 0 to 1'
	change "$scratch/bad" 'p["hosts"].append(dict(h["w1"], host="w9"))'
	refuses host__out_of_reach_is_refused "$scratch/bad" 'w9: nsenter: .*w9'
	change "$scratch/bad" 'h["r0"]["host"] = "r0;id"'
	refuses host__name_is_no_command "$scratch/bad" \
		'hosts\[[0-9]\]\.host: "r0;id" contains .;'
	change "$scratch/bad" 'h["r0"]["jobs"][0]["name"] = "../../etc"'
	refuses job__name_is_no_path "$scratch/bad" \
		'hosts\[[0-9]\]\.jobs\[0\]\.name: "\.\./\.\./etc" contains'

	ok apply__star apply "$scratch/plan"
	is apply__one_key_for_all "$(for h in "${hosts[@]}"; do
		on "$h" -j job show train | grep -o '"key":"[^"]*"'
	done | sort -u | wc -l)" 1
	ok apply__star_sums sums
	before=$(world)
	is apply__again_shows_no_difference "$(apply "$scratch/plan" --diff 2>&1)" ''
	matches apply__again_does_nothing "$(apply "$scratch/plan" 2>&1)" \
		'3 hosts: nothing to do'
	is apply__again_changes_nothing "$(world)" "$before"
	for h in "${hosts[@]}"; do
		on "$h" tree show
	done >"$scratch/trees"
	is apply__no_tree_is_left_held "$(grep -c held "$scratch/trees")" 0
	generations
	fabric down >/dev/null
}

# Running jobs keep their old trees; new processes get the new ones.
generations()
{
	local before pid text

	scripts/fabric -n "$fab" run -- trib-perf -b 64K -e 64K -n 1000000 \
		>"$scratch/long" 2>&1 &
	pid=$!
	wait_for 20 sh -c "scripts/fabric -n $fab exec r0 -- trib tree show |
		grep running >/dev/null" || diag "$(<"$scratch/long")"
	# The same tree, its children in another order.
	change "$scratch/next" '
h["r0"]["trees"][0]["children"].reverse()
for w in "w0", "w1":
    t = h[w]["trees"][0]
    t["index"] = t["local"][0]["index"] = 1 - t["index"]'
	text=$(apply "$scratch/next" 2>&1)
	matches next__old_trees_go_on "$text" '[1-9] former trees go on'
	text=$(on r0 tree show)
	matches next__they_are_draining "$text" 'draining'
	ok next__workers_go_on kill -0 "$pid"
	is next__two_generations "$(on r0 -j tree show | grep -o '"held":' | wc -l)" 2
	is next__workers_see_no_error "$(grep -ciE 'abort|reset|attach:' \
		"$scratch/long")" 0
	kill "$pid"
	wait "$pid"
	wait_for 20 sh -c "! for h in w0 w1; do
		scripts/fabric -n $fab exec \$h -- trib -j tree show
	done | grep '\"pid\":[1-9]' >/dev/null"
	before=$(on r0 -j tree show 1 | grep -o '"samples":[0-9]*')
	ok next__new_workers_sum sums
	is next__without_the_old_trees \
		"$(on r0 -j tree show 1 | grep -o '"samples":[0-9]*')" "$before"
	matches next__then_the_old_ones_go "$(apply "$scratch/next" 2>&1)" \
		'3 hosts: [1-9] changes$'
	is next__one_generation "$(on r0 -j tree show | grep -o '"held":' | wc -l)" 1
	ok next__still_sums sums
	matches next__and_nothing_is_left "$(apply "$scratch/next" 2>&1)" \
		'nothing to do'
}

two_tiers()
{
	bare tree r0 r1 r2 w0 w1 w2 w3 || { fail two_tiers__come_up; return; }
	make_plan two-tier:2,2 3 "$scratch/plan" ',"key":"00112233445566778899aabbccdd5eed"'
	ok apply__two_tiers apply "$scratch/plan"
	ok apply__two_tiers_sum sums
	is apply__plan_of_before_again "$(apply "$scratch/plan" --diff 2>&1)" ''
	matches apply__takes_the_key_of_the_plan \
		"$(on w3 -j job show train)" '"key":"00112233445566778899aabbccdd5eed"'
	one_relay
	fabric down >/dev/null
}

# Fewer relays: now the core's children are two by two behind routers, which do
# not know any multicast group.
one_relay()
{
	make_plan two-tier:2,2 1 "$scratch/one" ',"relays":["r0"]'
	ok one_relay__takes_the_place_of_three apply "$scratch/one"
	ok one_relay__sums sums
	# Without results, all of 7,836 contributions would be sent twice. A busy
	# machine, on which ranks wait for a CPU, does so with some: 322 were seen.
	within one_relay__nobody_asks_again \
		"$(on r0 -j stats | grep -o '"name":"rx-resend","value":[0-9]*' |
			cut -d: -f3)" 0 1000
	is one_relay__routers_send_nothing_back \
		"$(on r0 -j stats | grep -o '"name":"drop-face","value":[0-9]*' |
			cut -d: -f3)" 0
}

star
two_tiers
done_testing
