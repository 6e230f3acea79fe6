# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which a tree goes on without its relay and comes back, by name; as ../rules.py."""

from functools import partial

from harness import Cost, Rule, Switches

RULES = {
    # --- from the relay to the ranks
    "silence_is_judged": Rule(
        "a rank that gets no result for the time-out, although it sends chunks again, leaves the "
        "relay and tells all ranks", "dies", "hang"),
    "one_leaves_all_leave": Rule(
        "a rank that is told leaves, too, even if its own results come", "half", "hang wrong"),
    "state_is_final": Rule(
        "once a rank has told which results it has, it takes no more from the relay: each takes "
        "the place of the values that a new sum would need", "pauses", "wrong hang"),
    "all_states_are_known": Rule(
        "nothing is given or summed before the states of all ranks are known", "half",
        "wrong hang"),
    "held_is_given": Rule(
        "a result that any rank has is given to those that lack it, and not summed again: "
        "its holder has lost its own values", "dies", "wrong hang"),
    "results_are_kept": Rule(
        "a rank keeps RESULT c until it sends c + 2W: another may lack it", "dies", "hang wrong"),
    # --- and back
    # Ranks that disagree miss the relay again, and only lose time.
    "return_is_joined_by_all": Rule(
        "no rank holds its chunks before all have joined the same epoch", "returns",
        Cost("held", 1.2)),
    "return_is_agreed": Rule(
        "all go back at one chunk: the largest that any rank would send next", "returns",
        Cost("changes", 1.2)),
    "return_holds_chunks": Rule(
        "a rank that has said which chunk it would send next sends none from there on until all "
        "have", "returns", Cost("changes", 1.2)),
    "return_waits_for_results": Rule(
        "a rank goes back when it has all results of before: if it left again earlier, an owner "
        "would add its values twice", "again", "wrong"),
}

Rules = partial(Switches, RULES)
