# SPDX-License-Identifier: BSD-2-Clause
"""The rules of the dedicated-pool protocol, by name.

Every rule is a switch that the model checks where the rule acts. RULES holds
the text of each rule, the scenario that needs it, and the verdicts of a
protocol without it there (see VERDICTS in world.py).
"""

from functools import partial

from harness import Rule, Switches

RULES = {
    # --- workers
    "send_waits_for_window": Rule(
        "a worker sends c only when it holds RESULT c-W",
        "storm", "hang wrong"),
    "grad_is_frozen": Rule(
        "every copy of GRAD c carries the bits of the first one",
        "storm", "differ wrong"),
    "data_waits_for_exp": Rule(
        "data is scaled by the RESULT of its EXP chunk, not by a guess",
        "storm", "hang wrong"),
    "grad_is_resent": Rule(
        "a chunk without RESULT is sent again, with RESEND", "storm", "hang"),
    "result_is_retained": Rule(
        "a worker keeps RESULT c until RESULT c+2W", "storm", "hang"),
    "need_answered_with_result": Rule(
        "on NEED c a worker that has RESULT c sends it up", "storm", "hang"),
    "need_answered_with_grad": Rule(
        "on NEED c a worker that has sent GRAD c sends it", "eager",
        "unfetched"),
    "need_answered_after_return": Rule(
        "NEED is answered between calls too", "idle", "unfetched"),
    "detach_is_a_barrier": Rule(
        "detach waits until all ranks have issued it", "parting",
        "hang false-alarm"),
    "barrier_waits_for_results": Rule(
        "detach issues its barrier only when it holds all results",
        "parting", "hang false-alarm"),
    "detach_listens": Rule(
        "detach gives up one time-out after the last NEED or ALIVE of a rank "
        "that lacks a RESULT of this one, not after its barrier",
        "parting", "false-alarm hang"),
    # --- nodes
    "pool_is_two_windows": Rule(
        "a pool has 2W slots", "storm", "hang wrong"),
    "old_chunk_is_dropped": Rule(
        "a chunk older than its slot's is dropped", "copies", "stall"),
    "chunks_compare_serially": Rule(
        "chunk numbers compare modulo 2^32", "storm", "hang wrong"),
    "duplicate_is_ignored": Rule(
        "a child contributes to a chunk once", "storm", "wrong differ hang"),
    "shape_is_compared": Rule(
        "a contribution whose scale, op or format differs is dropped",
        "liar", "wrong"),
    "empty_is_compared": Rule(
        "an EMPTY contribution is compared by op and format too: a rank that "
        "detaches early must not count as a rank that added nothing",
        "quitter", "wrong"),
    "empty_only_marks": Rule(
        "an EMPTY contribution marks its child and leaves the values alone",
        "storm", "wrong differ"),
    "empty_partial_is_empty": Rule(
        "a partial sum of nothing but EMPTY is EMPTY", "storm", "wrong differ"),
    "partial_is_kept": Rule(
        "an inner node keeps its values after it sent the partial sum",
        "storm", "hang wrong"),
    "result_is_kept": Rule(
        "a node keeps a RESULT and answers children that lack it", "deaf",
        "unfetched"),
    "resend_goes_up_when_sent": Rule(
        "RESEND to a node in Sent: the partial sum goes up again",
        "storm", "hang"),
    "resend_asks_when_collecting": Rule(
        "RESEND of a known contribution: NEED to all", "storm", "hang"),
    "ask_reaches_parent": Rule(
        "NEED goes to the parent too, as ASK", "deaf", "unfetched"),
    "ask_is_answered": Rule(
        "ASK at a node in Result: RESULT to that child", "deaf", "unfetched"),
    "ask_names_asker": Rule(
        "a NEED caused by ASK names the asker as seen", "storm", "echo"),
    "need_names_seen": Rule(
        "NEED names the children seen; they do not answer", "storm", "noise"),
    "need_is_passed_down": Rule(
        "NEED at a node that cannot answer goes to its children",
        "storm", "hang"),
    "need_answered_when_sent": Rule(
        "NEED at a node in Sent: the partial sum goes up",
        "eager", "unfetched"),
    "result_goes_up": Rule(
        "a RESULT that a parent lacks is sent up", "storm", "hang"),
    "result_is_passed_once": Rule(
        "a RESULT that the node has is dropped", "storm", "echo"),
    "grow_rechecks_slot": Rule(
        "the clsact program compares epoch, chunk and state again",
        "storm", "wrong differ hang"),
    "mask_is_checked": Rule(
        "a contribution whose mask has a wrong number of bits in a group is "
        "dropped before a slot is touched", "masks", "wrong differ"),
    "masks_may_differ": Rule(
        "a slot does not compare masks: each rank has its own, or none",
        "masks", "hang"),
    "wiped_node_waits": Rule(
        "a node that lost its slots takes no floats for two lives of a packet: "
        "a sender that is heard then still lacks the RESULT, if there was one",
        "floats", "differ"),
    # --- epochs
    "epoch_is_compared": Rule(
        "a node drops packets of another epoch", "rejoin", "wrong differ hang"),
    "slot_is_free_in_new_epoch": Rule(
        "a slot of another epoch is free", "rejoin", "wrong differ hang"),
    "epochs_are_not_reused": Rule(
        "the newest epoch survives a restart of the root's tribd",
        "again", "wrong differ hang"),
    "epoch_is_saved_before_start": Rule(
        "no START(RUN) leaves a node before the epoch is in its state file; "
        "while the disk refuses, children wait", "full", "wrong differ hang"),
    "restart_exceeds_all_traces": Rule(
        "after a restart of tribd the next epoch is larger than those in the "
        "row and in the slots, too: the state file may be an older one",
        "stale", "wrong differ hang"),
    "rejoin_aborts_the_others": Rule(
        "a JOIN with a new nonce ends the epoch with ABORT(REJOIN)",
        "rejoin", "slow hang"),
    "start_names_nonce": Rule(
        "a START answers only the JOIN with the same nonce",
        "restless", "false-alarm"),
    "nonces_are_retired": Rule(
        "a late copy of a JOIN that its child has replaced is ignored",
        "restless", "false-alarm"),
    "nonces_are_ordered": Rule(
        "of two nonces of one process or tribd the smaller one is late",
        "restless", "false-alarm"),
    "retirement_ends": Rule(
        "a nonce is retired only for the life of a packet: JOINs may overtake "
        "each other, and then the living nonce is retired",
        "overtaken", "hang"),
    # --- signs of life
    "dead_is_declared": Rule(
        "a rank without a sign of life for the time-out is declared DEAD",
        "die", "hang unnamed"),
    "abort_is_broadcast": Rule(
        "a root broadcasts an ABORT that comes up",
        "gone", "slow hang unnamed"),
    "stuck_worker_is_heard": Rule(
        "a worker that waits for a RESULT sends ALIVE, so that ranks of other "
        "subtrees know which rank is missing", "die", "unnamed hang"),
    "waiters_compare": Rule(
        "if all ranks report for the time-out that they wait for the same "
        "chunk, their contributions differ in shape: an error", "liar", "hang"),
    "late_worker_answers": Rule(
        "a worker asked for a chunk that it has not reached sends ALIVE until "
        "it reaches that chunk", "late", "false-alarm"),
    "echo_proves_the_tree": Rule(
        "only a rank whose own ALIVE comes back may call another dead; a rank "
        "without an echo for the time-out blames the relay", "dark", "unnamed"),
    "leave_names_rank": Rule(
        "a relay that leaves its parent names the rank that left",
        "quitter", "unnamed"),
    "alive_is_broadcast": Rule(
        "a root turns ALIVE round, to everybody", "late", "false-alarm"),
    # --- secrets
    "up_secret_differs": Rule(
        "the secret of what goes up is another than that of RESULTs, and each "
        "child has its own", "forged", "wrong differ false-alarm"),
    "control_is_authentic": Rule(
        "NEED, ALIVE and ABORT carry an authenticator over all of the packet",
        "forged", "false-alarm"),
    "control_is_counted": Rule(
        "a control packet has a number, and each is taken once", "haunted",
        "hang unnamed"),
    "control_names_sender": Rule(
        "the control packets of each node have a key of their own: one of "
        "another node would shift the numbers that are awaited",
        "misled", "hang"),
    "join_echoes_token": Rule(
        "a JOIN has an effect only with the token of the newest START: random, "
        "another one after each start of tribd and in each epoch",
        "recorded", "false-alarm"),
    # --- cells and rings
    "send_waits_for_consumption": Rule(
        "GRAD c is sent only when cell c-W was consumed, not only written",
        "mapped", "overwritten"),
    "cell_takes_only_newer": Rule(
        "a RESULT older than the cell's is not written",
        "mapped", "overwritten hang"),
    "cell_names_epoch": Rule(
        "a cell's id contains the epoch", "rejoin", "wrong differ hang"),
    "leaf_passes_every_need": Rule(
        "a LEAF row passes every NEED to its ranks, whatever its bitmap: two "
        "ranks of a host are two children, but one row",
        "eager", "unfetched"),
    "push_fits_window": Rule(
        "PUSH is set at least once a window, so that a sleeping reader wakes",
        "quiet", "stall"),
    "gap_rings": Rule(
        "a chunk out of order rings", "quiet", "stall"),
}

Rules = partial(Switches, RULES)
