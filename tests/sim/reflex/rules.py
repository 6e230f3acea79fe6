# SPDX-License-Identifier: BSD-2-Clause
"""The rules of workers whose XDP program sends for them, by name.

As in ../rules.py. The rules of dedicated pools hold, too; those that a worker's own
loop had are kept by cells here.
"""

from functools import partial

from harness import Cost, Rule, Switches
from pool.rules import RULES as POOL
from rules import RULES as DEDICATED

# Costs: time to finish; resends a chunk; "false" are those of ranks that had lost
# nothing; "socket" are GRADs that left by socket.
COST_SEEDS = 1

RULES = {
    # --- who sends GRAD p
    "cell_is_won": Rule(
        "XDP and rank send GRAD p only if they move its cell from READY to SENT by "
        "compare-and-swap", "steps", "twice"),
    "result_is_exchanged": Rule(
        "XDP stores RESULT by an exchange, before it looks at cell c+D and at the "
        "rank's alarm", "steps", "stall"),
    "late_is_taken": Rule(
        "a rank that fills a cell after RESULT p-D has come takes it and sends by "
        "socket", "quiet", "stall"),
    "fill_then_look": Rule(
        "between READY words and the look for RESULTs that let them go, a rank orders its "
        "stores, as XDP does the reverse", "steps", "stall"),
    "window_is_checked": Rule(
        "a GRAD leaves only if RESULT p-W is in its cell, whatever D is, and was",
        "shrinks", "early wrong differ hang"),
    "second_look": Rule(
        "if D < W, XDP looks at c+W, too, which may have waited for RESULT c: it sends "
        "that, or rings if the frame is used", "quiet", "stall"),
    "orphans_are_swept": Rule(
        "before it sleeps, a rank takes READY cells whose RESULTs have come: after a "
        "change of D nobody else sends them", "shrinks", "stall hang"),
    "long_chunk_is_left": Rule(
        "XDP leaves a chunk that is longer than its frame, and rings: the rank sends "
        "it", "hostile", "escape"),
    # --- cells
    "delivery_is_claimed": Rule(
        "XDP moves a cell from SENT to WRITING by compare-and-swap before it writes, "
        "so two CPUs do not deliver two copies", "torn", "differ wrong twice"),
    "result_fits": Rule(
        "a cell takes only a RESULT with the op, format and scale of its GRAD: a member "
        "may send another, and relays no longer have the right one", "liar",
        "wrong differ hang"),
    "copy_is_checked": Rule(
        "a copy for a resend counts only if the cell is still SENT afterwards: else "
        "it may be half a RESULT", "torn", "differ wrong"),
    "frame_is_checked": Rule(
        "XDP, too, looks at the state again after it has copied the values: if the CPU "
        "was taken from it for long, the rank has resent, and RESULT has come", "stolen",
        "differ wrong"),
    "first_copy_is_first": Rule(
        "a cell that the rank has won is not sent in answer to NEED before its first "
        "copy has gone: RESULT could come under the first copy", "torn",
        "differ wrong"),
    "cell_keeps_result": Rule(
        "cell c is filled with c+N only when RESULT c+W is read: until then somebody "
        "may lack RESULT c", "storm", "hang"),
    "cells_are_reset": Rule(
        "at START a rank takes each cell by compare-and-swap, and waits for one that "
        "XDP is writing", "overlap", "wrong differ hang"),
    "old_results_are_refused": Rule(
        "XDP compares the epoch of a RESULT with the row's, and reads the row's once",
        "overlap", "wrong differ hang early twice"),
    # --- sleeping
    "arm_then_look": Rule(
        "a rank sets its alarm by an exchange, looks for results, and only then "
        "sleeps", "steps", "stall"),
    "batch_can_come": Rule(
        "the alarm counts no more results than can still come: the rank reads the count, "
        "then looks what has come", "quiet", "stall"),
    # --- exponents
    "exponents_run_ahead": Rule(
        "EXP chunks go so far ahead of their data that a rank can fill all its cells: N "
        "chunks, or all first", "exponents", Cost("socket", 1.5)),
    # --- what a rank may do
    "fields_are_bounded": Rule(
        "scale, op, format and count come from the cell, within bounds; all else in "
        "the header is of tribd's row and of the RESULT", "hostile", "escape"),
    "field_is_read_once": Rule(
        "XDP reads each word of a cell once: the rank may change it between check "
        "and use", "hostile", "escape"),
    "distance_is_bounded": Rule(
        "XDP reads D once, and takes 0 to W of it", "hostile", "escape"),
    "xdp_never_waits": Rule(
        "XDP waits for no word that a rank can write", "hostile", "escape"),
    "bypass_goes_by_socket": Rule(
        "while a rank goes around a dead relay, its D is 0: XDP sends nothing, and rings",
        "pool_bypass", Cost("resends", 1.2)),
    # --- several ranks on a host
    "host_adds_ready_cells": Rule(
        "on RESULT c the host adds its ranks' READY cells c+D to its slot, as if they had "
        "sent them", "hosts", Cost("socket", 2)),
    "frame_carries_one_sum": Rule(
        "the frame of a RESULT carries one sum: if another slot could be full, the cell "
        "stays READY and its rank is rung", "several", "escape"),
    "fillers_go_last": Rule(
        "the host first adds contributions whose slots wait for others, too, then one that "
        "fills a slot: ranks have different D, and the frame is used then", "uneven",
        Cost("socket", 2)),
    # --- late ranks
    "late_sends_last": Rule(
        "a late rank drains all results and fills all cells, and only then sends what it "
        "holds", "lossy", Cost("socket", 2)),
    # --- loss
    "age_shows_loss": Rule(
        "a chunk is lost if RESULTs of one and a half rounds came since the rank saw it "
        "sent, or some in two round trips", "lossy", Cost("time", 1.5)),
    "lossy_rank_looks_often": Rule(
        "after a loss a rank wakes every half round, not every 64 RESULTs", "worse",
        Cost("time", 1.1)),
    "time_out_is_measured": Rule(
        "XDP stamps some chunks: time-outs are a few round trips", "worse",
        Cost("time", 1.1)),
    "resent_chunks_count": Rule(
        "round trips of resent chunks count, too, from their first copy; one sample "
        "changes the estimate by a quarter at most", "bursts", Cost("false", 2)),
    "ranks_take_turns": Rule(
        "ranks that miss the same chunk resend it one after the other, another one "
        "first each time", "wired", Cost("false", 1.1)),
    "known_waits": Rule(
        "a rank that NEED names as seen waits once more", "wired",
        Cost("false", 1.1)),
}

Rules = partial(Switches, RULES, also=DEDICATED | POOL)
