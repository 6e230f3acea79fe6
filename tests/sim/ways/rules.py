# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which BCube servers find ways round dead links, by name; as ../rules.py."""

from functools import partial

from harness import Cost, Rule, Switches

RULES = {
    # --- links
    "several_probes": Rule(
        "a neighbour is dead when it echoed none of several probes, not one: packets are lost",
        "calm", "flap"),
    "echoes_are_fresh": Rule(
        "an echo repeats the number of a probe of just now, each once, or somebody could repeat "
        "those of before for a dead link", "adversary", "lost"),
    "return_is_proved": Rule(
        "a dead neighbour is alive again when it has echoed many more probes than it has "
        "missed", "flapping", Cost("reports", 1.5)),
    # --- news
    "news_is_sealed": Rule(
        "news without the servers' seal is not heard", "adversary", "lie"),
    "newest_number": Rule(
        "of a server's reports the one with the highest number counts: news comes late, and twice",
        "links", "stale lost lie"),
    "numbers_begin_high": Rule(
        "a server that starts numbers its reports from its own clock on, so that older ones "
        "cannot be repeated as new", "adversary", "lie"),
    "own_news_is_outbid": Rule(
        "a server that hears a report of its own that it does not know, with a number not below "
        "its next one, goes on above that: its clock went back", "clock", "stale lost"),
    "news_is_passed_on": Rule(
        "a server tells what it heard of others: not all are its neighbours", "links", "stale lost"),
    "differences_are_told": Rule(
        "probes say what the sender knows, and who knows something else tells it all: news is "
        "lost, and servers start anew", "links", "stale lost"),
}

Rules = partial(Switches, RULES)
