# SPDX-License-Identifier: BSD-2-Clause
"""The rules of the NDN protocol, by name.

Every rule is a switch that the model looks at where the rule acts. RULES says
for each one what it demands, which scenario needs it, and how a protocol
without it fails there: by one of the verdicts of world.py, or by a cost that
grows to so many times its size.
"""

from harness import Cost, Rule

RULES = {
    # --- routers, subscriptions
    "subscription_is_permitted": Rule(
        "a face subscribes only to prefixes that it may", "intrusion",
        "leak"),
    "new_route_is_asked": Rule(
        "an insert that goes another way than the entry's turns the entry "
        "there: PENDING", "moved", "hole"),
    "pending_passes_repeats": Rule(
        "a PENDING entry passes every insert up, not only the first",
        "drizzle", "hang"),
    "only_confirmed_answers": Rule(
        "only a CONFIRMED entry answers an insert by itself",
        "drizzle", "unfounded"),
    "renewal_goes_up": Rule(
        "... and only while what upstream acknowledged is younger than a "
        "third of the lease", "quiet", "hole"),
    "routers_are_passed": Rule(
        "... and only to hosts: another router's insert always goes up",
        "chain", "unfounded hole"),
    "only_acks_confirm": Rule(
        "... acknowledged, not merely sent", "drizzle",
        "unfounded"),
    "ack_is_for_asker": Rule(
        "an acknowledgement confirms an entry that has an insert unanswered, "
        "and goes to the faces that wait for it", "quiet", "hole"),
    "leases_end": Rule(
        "a face without a renewal for a lease gets nothing", "dead", "leak"),
    "sweep_frees": Rule(
        "tribd frees entries whose leases are over", "dead", "litter"),
    "delete_removes_face": Rule(
        "a delete removes its face at once", "ebb", Cost("unwanted", 5)),
    "empty_entry_is_deleted": Rule(
        "the delete of the last face goes upstream", "ebb",
        Cost("stray", 1.5)),
    "insert_waits_for_delete": Rule(
        "no insert goes up while a delete is unanswered there",
        "turn", "unfounded hole"),
    "delete_is_forgotten": Rule(
        "... or as long as it may be under way", "unheard", "hang"),
    "insert_from_below": Rule(
        "an insert from the face that its way leads back to is dropped",
        "ring", "echo"),
    # --- routers, distribution
    "data_from_upstream": Rule(
        "distribution is accepted from the entry's upstream face only",
        "intrusion", "injected"),
    "never_back": Rule(
        "no Data goes out of the face that it came in by", "ring", "echo"),
    "window_is_kept": Rule(
        "each (version, segment) goes through an entry once, and nothing "
        "older", "ring", "circles endless"),
    "window_ages": Rule(
        "a window that took nothing for a third of the lease starts anew",
        "intrusion", "hole"),
    "data_is_permitted": Rule(
        "a face sends only Data of prefixes that it may", "intrusion",
        "injected"),
    # --- routers, ordinary Interests
    "hop_limit_counts": Rule(
        "HopLimit counts down, and ends an Interest", "forgetful",
        "endless"),
    "nonce_is_remembered": Rule(
        "an Interest whose name and nonce were seen is dropped", "ring",
        "circles endless"),
    "waiting_interest_stays": Rule(
        "an Interest for /distribute/... with CanBePrefix, by which a stock "
        "client waits, ends at the first router", "quiet", Cost("ps", 1.1)),
    "longest_prefix_wins": Rule(
        "the longest prefix of the FIB routes", "pair", "hang"),
    "interests_are_aggregated": Rule(
        "an Interest of another face for what is pending is not passed on",
        "crowd", Cost("ps", 1.1)),
    "repeat_is_forwarded": Rule(
        "... but a repeat of the same face is", "dead", Cost("time", 1.1)),
    "lifetime_ends": Rule(
        "a face whose Interest's lifetime is over gets nothing",
        "drizzle", "leak"),
    "answer_from_upstream": Rule(
        "only the face that an Interest went out by answers it",
        "intrusion", "injected"),
    "cache_answers": Rule(
        "a segment in the cache answers an Interest", "crowd",
        Cost("ps", 1.1)),
    "cache_takes_accepted": Rule(
        "only Data that was asked or subscribed for is cached", "intrusion",
        "injected"),
    "fresh_passes_cache": Rule(
        "MustBeFresh passes the cache by", "intrusion", "hang hole"),
    # --- PS
    "signature_is_checked": Rule(
        "PS and workers check signatures", "intrusion", "forged"),
    "incarnation_is_durable": Rule(
        "a PS starts with a new incarnation, on disk before it is used",
        "revive", "reissued"),
    "offer_is_repeated": Rule(
        "who does not answer, or is busy, gets the offer again", "drizzle",
        "unused"),
    "accept_is_repeated": Rule(
        "a worker that has the job accepts it again", "slow", "excluded"),
    "offer_is_sign_of_life": Rule(
        "so do members: their answer is a sign of life", "slow",
        "excluded"),
    "silence_takes_a_lease": Rule(
        "a member is dead after a lease of silence, not sooner",
        "slow", "excluded"),
    "dead_is_excluded": Rule(
        "... and then it is", "dead", "hang"),
    "waits_for_all": Rule(
        "a synchronous version has the gradients of all members", "slow",
        "missing"),
    "collect_is_timed": Rule(
        "a collect Interest is sent when the gradient should be ready",
        "quiet", Cost("collects", 1.1)),
    "collect_is_repeated": Rule(
        "... and again, until answered", "drizzle", "hang"),
    "applied_once": Rule(
        "of each (worker, version) one gradient counts", "storm", "twice"),
    "segments_are_of_one": Rule(
        "segments of a gradient name the gradient, and are not mixed",
        "shaken", "mixed"),
    "distribution_is_paced": Rule(
        "segments are paced", "narrow", Cost("fetches", 1.5)),
    # --- workers
    "lease_is_renewed": Rule(
        "a subscriber sends its insert again within a quarter of the lease",
        "quiet", "hole"),
    "joiner_fetches": Rule(
        "who joins fetches the newest version", "quiet", Cost("idle", 1.5)),
    "only_newer": Rule(
        "a worker takes only versions newer than its own", "storm", "back"),
    "incarnations_are_apart": Rule(
        "a gradient is not for another incarnation than its model's",
        "revive", "orphan"),
    "bound_to_known": Rule(
        "asynchronous: a gradient is no answer to a version of which the "
        "worker has not heard from the PS", "intrusion", "hang hole leak"),
    "answer_is_held": Rule(
        "a collect Interest that comes early is answered when the gradient "
        "is ready", "quiet", Cost("time", 1.05)),
    "answer_is_kept": Rule(
        "an answer is kept until the next version is asked for", "drizzle",
        "hang"),
    "collect_makes_fetch": Rule(
        "a collect for a version that an idle worker lacks makes it fetch",
        "revive", Cost("time", 1.05)),
    "silence_is_probed": Rule(
        "a worker that waits for a version for too long asks", "drizzle",
        "hang"),
    "probe_learns": Rule(
        "... for longer than it usually takes", "slow", Cost("probes", 1.15)),
    "fetched_is_no_sample": Rule(
        "a version that had to be fetched does not count for that",
        "revive", Cost("time", 1.03)),
    "probe_backs_off": Rule(
        "... and each time later", "slow", Cost("probes", 1.2)),
    "newest_is_asked_again": Rule(
        "who cannot complete a version asks for the newest in between",
        "stranded", "hang"),
    "doubt_passes_cache": Rule(
        "every second repeat asks past the caches", "intrusion",
        "hang hole"),
    "stock_client_waits": Rule(
        "a stock client expresses /distribute/... before it subscribes",
        "quiet", "hang"),
}


class Rules:
    """One attribute per rule: whether it is in force."""

    def __init__(self, without=None):
        if without is not None and without not in RULES:
            raise ValueError(f"no rule is called {without!r}")
        for name in RULES:
            setattr(self, name, name != without)
