# SPDX-License-Identifier: BSD-2-Clause
"""The rules of the shared-pool protocol, by name.

Every rule is a switch that the model checks where the rule acts. RULES holds
the text of each rule, the scenario that needs it, and the failure of a protocol
without it there: verdicts, or a cost that grows by a factor over COST_SEEDS
runs.
"""

from functools import partial

from harness import Cost, Rule, Switches
from rules import RULES as DEDICATED

# Costs: packets = GRADs at the PS per chunk; resends = resends by workers per
# chunk; time = mean time at which a worker is done.
COST_SEEDS = 40

RULES = {
    # --- identity, frozen copies, shape
    "identity_has_job": Rule(
        "a slot belongs to one job", "busy", "wrong differ hang"),
    "identity_has_tree": Rule(
        "a slot belongs to one tree of the job", "busy", "wrong differ hang"),
    "identity_has_epoch": Rule(
        "a slot belongs to one epoch", "anew", "wrong differ hang"),
    "identity_has_chunk": Rule(
        "a slot belongs to one chunk, not to all that hash there", "busy",
        "wrong"),
    "grad_is_frozen": Rule(
        "every copy of GRAD c carries the bits of the first one",
        "storm", "differ wrong"),
    "data_waits_for_exp": Rule(
        "data is scaled by the RESULT of its EXP chunk, not by a guess",
        "storm", "hang wrong"),
    "shape_is_compared": Rule(
        "a relay adds only contributions with the slot's scale, op and format",
        "liar", "wrong"),
    "mask_is_checked": Rule(
        "a relay drops a contribution whose mask has a wrong number of bits in "
        "a group, before a slot is touched", "masks", "wrong differ"),
    "ps_checks_mask": Rule(
        "the PS drops such a contribution, too: relays pass it on", "masks",
        "wrong differ"),
    "ps_compares_shape": Rule(
        "the PS adds only contributions with the shape of the place",
        "liar", "wrong"),
    # --- what a relay does with a GRAD
    "other_number_is_forwarded": Rule(
        "a relay adds only packets with its number, for workers of its row",
        "quiet", "stall"),
    "subset_is_dropped": Rule(
        "a GRAD with only workers that the slot has is not added again",
        "storm", "wrong differ"),
    "overlap_is_not_merged": Rule(
        "a GRAD with some workers that the slot has is not added",
        "wipes", "wrong differ"),
    "grow_rechecks_slot": Rule(
        "the clsact program compares the identity again",
        "busy", "wrong differ hang"),
    # --- passing up
    "passing_renumbers": Rule(
        "a GRAD that is passed on gets the number of the next relay", "quiet",
        "stall"),
    # --- resends
    "grad_is_resent": Rule(
        "a chunk without RESULT is sent again, with RESEND", "storm", "hang"),
    "resend_never_allocates": Rule(
        "a resend takes no slot: the chunk may be finished elsewhere",
        "wipes", Cost("resends", 1.05)),
    "known_resend_is_absorbed": Rule(
        "the first resend of a value in a slot that waits for others is "
        "dropped", "busy", Cost("packets", 1.03)),
    "resend_goes_up_when_sent": Rule(
        "the first resend at a full slot sends its sum up again",
        "busy", Cost("resends", 1.1)),
    "second_resend_is_for_ps": Rule(
        "later resends go to the PS: no relay keeps them",
        "storm", "hang"),
    "later_resends_ask": Rule(
        "later resends have no values: the PS sends NEED if it lacks them",
        "straggler", Cost("packets", 1.25)),
    # --- the PS
    "ps_merges_disjoint_only": Rule(
        "the PS counts each worker once", "storm", "wrong differ hang"),
    "superset_replaces": Rule(
        "a sum with a superset of the PS's workers replaces the PS's sum",
        "litter", Cost("resends", 1.02)),
    "ps_keeps_result": Rule(
        "a finished chunk is kept and not started again",
        "busy", Cost("time", 1.3)),
    "ps_keeps_two_windows": Rule(
        "the PS has 2W places: GRAD c+2W frees the place of c",
        "storm", "hang wrong"),
    "ps_drops_stale": Rule(
        "a chunk older than the one in its place is dropped",
        "echoes", Cost("resends", 1.5)),
    "finished_resend_is_answered": Rule(
        "a resend of a finished chunk is answered to its sender",
        "storm", "hang"),
    "ps_keeps_newest_epoch": Rule(
        "the PS drops packets of epochs before the newest one",
        "ghosts", Cost("resends", 1.2)),
    # --- RESULT on its way down
    "ack_clears": Rule(
        "the RESULT frees the slot on its way down",
        "busy", Cost("packets", 1.1)),
    "ack_clears_by_identity": Rule(
        "the RESULT frees only the slot of its identity", "quiet", "stall"),
    "ack_goes_by_membership": Rule(
        "the RESULT goes to the members of the row, not to a slot's "
        "contributors",
        "quiet", "stall"),
    # --- old slots, old packets
    "old_slot_is_taken_over": Rule(
        "another chunk takes a slot without contributions for two time-outs",
        "litter", Cost("packets", 1.05)),
    "stale_grad_is_dropped": Rule(
        "a GRAD older than the mark in its place is dropped",
        "echoes", Cost("packets", 1.1)),
    "acked_chunk_stays_closed": Rule(
        "a first GRAD of a chunk with RESULT is dropped",
        "echoes", Cost("packets", 1.1)),
    "marks_span_two_windows": Rule(
        "a row has 2W marks", "busy", Cost("resends", 1.03)),
    # --- the rest of a chunk
    "rest_follows_what_passed": Rule(
        "after a GRAD of a chunk was passed up, its other GRADs follow",
        "quiet", "stall"),
    "every_chunk_has_a_mark": Rule(
        "a relay remembers that for each chunk, not for the last one of each "
        "slot", "quiet", "stall"),
    # --- NEED
    "ps_asks": Rule(
        "a resend without news makes the PS ask a worker that it lacks",
        "storm", "hang"),
    "need_reaches_ever_more": Rule(
        "the PS asks twice as many workers each time", "deaf", "unfetched"),
    "ps_takes_results": Rule(
        "the PS takes a RESULT from a worker", "storm", "hang"),
    "need_answered_with_result": Rule(
        "on NEED c a worker that has RESULT c sends it up", "storm", "hang"),
    "need_answered_with_grad": Rule(
        "on NEED c a worker that has sent GRAD c sends it", "eager",
        "unfetched"),
    "need_answered_after_return": Rule(
        "NEED is answered between calls too", "idle", "unfetched"),
    "result_is_retained": Rule(
        "a worker keeps RESULT c until RESULT c+2W", "storm", "hang"),
    "send_waits_for_window": Rule(
        "a worker sends c only when it holds RESULT c-W", "storm",
        "hang wrong"),
    # --- secrets
    "up_secret_differs": Rule(
        "the secret of what goes up is another than that of RESULTs, and each "
        "rank has its own; relays share one", "forged", "wrong differ"),
    "worker_brings_own_values": Rule(
        "a GRAD with the secret of a rank names that rank alone: relays and PS "
        "drop it otherwise, also if they would pass it on",
        "traitor", "wrong differ"),
    "control_is_authentic": Rule(
        "NEED, PROBE and its answer carry an authenticator over all of the "
        "packet", "pretended", "hang"),
    "probe_answer_is_new": Rule(
        "an answer has the number of its PROBE, and counts if it is newer than "
        "those before", "revived", "hang"),
    # --- dead relays, caps, the end
    "dead_relay_is_bypassed": Rule(
        "if a relay answers no probe, GRADs go to the next relay that does, "
        "with all relays above it", "dead", "hang"),
    "lease_is_served": Rule(
        "a worker that bypasses a relay tells the PS, and gets RESULTs from it",
        "bypass", Cost("resends", 1.3)),
    "cap_bounds_keys": Rule(
        "a job with a cap of k has k different hash keys", "capped",
        "overdrawn"),
    "detach_is_a_barrier": Rule(
        "detach waits until all ranks have issued it", "parting", "hang"),
    "barrier_waits_for_results": Rule(
        "detach issues its barrier only when it holds all results",
        "parting", "hang"),
}

Rules = partial(Switches, RULES, also=DEDICATED)
