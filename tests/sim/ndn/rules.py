# SPDX-License-Identifier: BSD-2-Clause
"""The rules of the NDN protocol, by name.

Every rule is a switch in the model. RULES has for each one its text, the
scenario that needs it, and the failure without it: a verdict of world.py, or a
cost that grows by a factor.
"""

from functools import partial

from harness import Cost, Rule, Switches

RULES = {
    # --- routers, subscriptions
    "subscription_is_permitted": Rule(
        "A face may subscribe only below prefixes for which it has the "
        "right.",
        "intrusion", "leak"),
    "new_route_is_asked": Rule(
        "If the route of an insert differs from the entry's upstream face, "
        "the entry takes the new face and becomes PENDING.",
        "moved", "hole"),
    "pending_passes_repeats": Rule(
        "A PENDING entry forwards every insert, not only the first.",
        "drizzle", "hang"),
    "only_confirmed_answers": Rule(
        "Only a CONFIRMED entry answers an insert itself.",
        "drizzle", "unfounded"),
    "renewal_goes_up": Rule(
        "An entry is CONFIRMED only for a third of the lease after the "
        "insert that upstream acknowledged.",
        "quiet", "hole"),
    "routers_are_passed": Rule(
        "A CONFIRMED entry answers only hosts; inserts of routers always go "
        "upstream.",
        "chain", "unfounded hole"),
    "only_acks_confirm": Rule(
        "An acknowledgement makes an entry CONFIRMED; sending an insert "
        "does not.",
        "drizzle", "unfounded"),
    "ack_is_for_asker": Rule(
        "An acknowledgement confirms only an entry with an unanswered "
        "insert, and goes only to the faces that wait for it.",
        "quiet", "hole"),
    "leases_end": Rule(
        "A face that does not renew for a lease receives nothing more.",
        "dead", "leak"),
    "sweep_frees": Rule(
        "tribd frees entries whose leases have all expired.",
        "dead", "litter"),
    "delete_removes_face": Rule(
        "A delete removes its face at once.",
        "ebb", Cost("unwanted", 5)),
    "empty_entry_is_deleted": Rule(
        "The delete of the last face goes upstream.",
        "ebb", Cost("stray", 1.5)),
    "insert_waits_for_delete": Rule(
        "While a delete is unanswered, no insert goes upstream.",
        "turn", "unfounded hole"),
    "insert_waits_for_repeats": Rule(
        "Inserts also wait for the answers to repeats of the delete, as long "
        "as these may come.",
        "late", "unfounded hole"),
    "old_acks_do_not_count": Rule(
        "An acknowledgement of an insert that left before the last delete "
        "does not count.",
        "late", "unfounded"),
    "delete_is_forgotten": Rule(
        "A delete that is unanswered for T no longer blocks inserts.",
        "unheard", "hang"),
    "insert_from_below": Rule(
        "An insert whose route leads back to the incoming face is dropped.",
        "ring", "echo"),
    # --- routers, distribution
    "data_from_upstream": Rule(
        "An entry accepts distributions only from its upstream face.",
        "intrusion", "injected"),
    "never_back": Rule(
        "Data never leaves by the face that it came in by.",
        "ring", "echo"),
    "window_is_kept": Rule(
        "Each (version, segment) passes an entry once, and older ones "
        "never.",
        "ring", "circles endless"),
    "window_ages": Rule(
        "A window that accepted nothing for a third of the lease starts "
        "anew.",
        "intrusion", "hole"),
    "data_is_permitted": Rule(
        "A face may send Data only below prefixes for which it has the "
        "right.",
        "intrusion", "injected"),
    # --- routers, ordinary Interests
    "hop_limit_counts": Rule(
        "Each router decrements HopLimit and drops an Interest at 0.",
        "forgetful", "endless"),
    "nonce_is_remembered": Rule(
        "An Interest whose name and nonce were seen before is dropped.",
        "ring", "circles endless"),
    "waiting_interest_stays": Rule(
        "An Interest for /distribute/... with CanBePrefix, which only a "
        "stock client sends, ends at the first router.",
        "quiet", Cost("ps", 1.1)),
    "longest_prefix_wins": Rule(
        "The route with the longest matching prefix is used.",
        "pair", "hang"),
    "interests_are_aggregated": Rule(
        "An Interest of another face for a pending name is not forwarded.",
        "crowd", Cost("ps", 1.1)),
    "repeat_is_forwarded": Rule(
        "An Interest repeated by the same face is forwarded.",
        "dead", Cost("time", 1.1)),
    "lifetime_ends": Rule(
        "A face whose Interest has expired receives nothing.",
        "drizzle", "leak"),
    "answer_from_upstream": Rule(
        "Only the face that an Interest was forwarded to may answer it.",
        "intrusion", "injected"),
    "seats_are_own": Rule(
        "A pending Interest needs a seat. Each face has seats that no other "
        "face can take; faces with a right share further ones.",
        "flood", "crowded"),
    "own_oldest_gives_way": Rule(
        "A face that finds no free seat gives up its own oldest Interest.",
        "flood", "crowded"),
    "most_gives_way": Rule(
        "If no shared seat is free, a face that holds more than the asking "
        "one gives up its oldest.",
        "flood", "crowded"),
    "hosts_hold_a_part": Rule(
        "A host holds at most a quarter of the shared seats.",
        "flood", "crowded"),
    "hosts_are_slowed": Rule(
        "An Interest of a host keeps its seat for a while before another of "
        "the same host takes it.",
        "flood", "crowded"),
    "joined_goes_on": Rule(
        "An Interest whose owner gives it up goes on for another face that "
        "sent it, too.",
        "flood", "crowded"),
    "entries_are_own": Rule(
        "Each face has entries of the persistent PIT that no other face can "
        "take; all share further ones.",
        "squat", "crowded"),
    "hosts_have_a_part": Rule(
        "A host has at most a quarter of the shared entries, since the next "
        "router counts those of all hosts behind this one for one face.",
        "squat", "crowded"),
    "cache_answers": Rule(
        "A cached segment answers an Interest.",
        "crowd", Cost("ps", 1.1)),
    "cache_takes_accepted": Rule(
        "Only Data that was asked for or subscribed to is cached.",
        "intrusion", "injected"),
    "fresh_passes_cache": Rule(
        "An Interest with MustBeFresh is not answered from a cache.",
        "intrusion", "hang hole mute"),
    # --- PS
    "signature_is_checked": Rule(
        "PS and workers verify signatures.",
        "intrusion", "forged"),
    "incarnation_is_durable": Rule(
        "A PS starts with a new incarnation, which is on disk before it is "
        "used.",
        "revive", "reissued"),
    "offer_is_repeated": Rule(
        "A worker that does not answer, or is busy, gets the offer again.",
        "drizzle", "unused"),
    "accept_is_repeated": Rule(
        "A worker accepts the offer of its own job again.",
        "slow", "excluded"),
    "offer_is_sign_of_life": Rule(
        "Members get offers, too: their answer is a keep-alive.",
        "slow", "excluded"),
    "silence_takes_a_lease": Rule(
        "A member is excluded only after a lease of silence.",
        "slow", "excluded"),
    "dead_is_excluded": Rule(
        "A member that is silent for a lease is excluded.",
        "dead", "hang"),
    "waits_for_all": Rule(
        "A synchronous version contains the gradients of all members.",
        "slow", "missing"),
    "collect_is_timed": Rule(
        "A collect Interest is sent when the gradient should be ready.",
        "quiet", Cost("collects", 1.1)),
    "collect_is_repeated": Rule(
        "A collect Interest is repeated until it is answered.",
        "drizzle", "hang"),
    "collect_moves_on": Rule(
        "Asynchronous: a collect that brings nothing for a lease goes on with "
        "the newest version.",
        "intrusion", "mute"),
    "applied_once": Rule(
        "One gradient is applied for each (worker, version).",
        "storm", "twice"),
    "segments_are_of_one": Rule(
        "Segments carry the id of their gradient and are not mixed.",
        "shaken", "mixed"),
    "distribution_is_paced": Rule(
        "Segments are paced.",
        "narrow", Cost("fetches", 1.5)),
    # --- workers
    "lease_is_renewed": Rule(
        "A subscriber repeats its insert within a quarter of the lease.",
        "quiet", "hole"),
    "joiner_fetches": Rule(
        "A worker that joins fetches the newest version.",
        "quiet", Cost("idle", 1.5)),
    "only_newer": Rule(
        "A worker accepts only versions newer than its own.",
        "storm", "back"),
    "incarnations_are_apart": Rule(
        "A gradient is valid only in the incarnation of its model.",
        "revive", "orphan"),
    "bound_to_known": Rule(
        "Asynchronous: a gradient answers only a version that the PS has "
        "announced, or an older one.",
        "intrusion", "mute"),
    "answer_is_held": Rule(
        "A collect Interest that comes early is answered when the gradient "
        "is ready.",
        "quiet", Cost("time", 1.05)),
    "answer_is_kept": Rule(
        "A worker keeps its answer until the next version is asked for.",
        "drizzle", "hang"),
    "collect_makes_fetch": Rule(
        "A collect Interest for a version that an idle worker lacks makes "
        "it fetch.",
        "revive", Cost("time", 1.05)),
    "silence_is_probed": Rule(
        "A worker that waits too long for a version asks for it.",
        "drizzle", "hang"),
    "probe_learns": Rule(
        "The probe timer follows the times that versions usually take.",
        "slow", Cost("probes", 1.15)),
    "fetched_is_no_sample": Rule(
        "A fetched version is no sample for the probe timer.",
        "revive", Cost("time", 1.03)),
    "probe_backs_off": Rule(
        "Each probe doubles the time to the next.",
        "slow", Cost("probes", 1.2)),
    "newest_is_asked_again": Rule(
        "A worker that cannot complete a version asks for the newest in "
        "between.",
        "stranded", "hang"),
    "doubt_passes_cache": Rule(
        "Every second repeat has MustBeFresh and so bypasses caches.",
        "intrusion", "hang hole mute"),
    "stock_client_waits": Rule(
        "A stock client expresses /distribute/... before it subscribes.",
        "quiet", "hang"),
}

Rules = partial(Switches, RULES)
