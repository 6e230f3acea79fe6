# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which a job changes from trees to peers and back, by name; as ../rules.py."""

from functools import partial

from harness import Rule, Switches

RULES = {
    # --- from trees to peers
    "silence_is_judged": Rule(
        "a rank that gets no result of a tree for the time-out, although it sends chunks again, "
        "leaves the trees and tells all ranks", "dies", "hang"),
    "one_leaves_all_leave": Rule(
        "a rank that is told leaves, too, even if its own results come", "half", "hang wrong"),
    "state_is_final": Rule(
        "once a rank has told which results it has, it takes no more from trees: in place, "
        "each overwrites the values that a new sum would need", "pauses", "wrong hang"),
    "all_states_are_known": Rule(
        "nothing is given or summed before the states of all ranks are known", "half",
        "wrong hang"),
    "held_is_given": Rule(
        "a result that any rank has is given to those that lack it, and not summed again: "
        "its holder may have lost its own values", "dies", "wrong hang"),
    "results_are_kept": Rule(
        "a rank keeps the results of the last W chunks of each tree: another may lack them, "
        "and buffers belong to the application when a call has returned", "dies", "hang"),
    "rest_is_common": Rule(
        "peers sum those chunks that no rank has: what a rank itself lacks may be another set",
        "dies", "wrong hang"),
    "calls_keep_their_order": Rule(
        "peers sum the rests of calls in the order in which the calls were issued",
        "deep", "wrong hang"),
    # --- and back
    "return_is_agreed": Rule(
        "all go back at one call: the largest that any rank would issue next", "returns",
        "hang wrong"),
    "return_holds_calls": Rule(
        "a rank that has said which call it would issue next issues none until all have",
        "returns", "hang wrong"),
    "return_has_a_new_epoch": Rule(
        "the trees that all go back to have a new epoch: packets and slots of the old one mean "
        "other chunks", "returns", "wrong hang"),
    "return_bounds_calls": Rule(
        "calls before the agreed one stay with the peers as they were, also on a rank that "
        "issues them when others have gone back and left again", "again", "hang wrong"),
    "return_is_known_to_leave": Rule(
        "a rank that hears of a new change before it knows at which call all go back waits for "
        "that", "again", "hang wrong"),
}

Rules = partial(Switches, RULES)
