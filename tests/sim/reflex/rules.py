# SPDX-License-Identifier: BSD-2-Clause
"""The rules of Reflex."""

from functools import partial

from harness import Rule, Switches
from rules import RULES as DEDICATED

NAMES = """old_results_are_refused delivery_is_claimed result_is_exchanged wanted_chunk_rings distance_is_bounded second_look window_is_checked
long_chunk_is_left cell_is_won field_is_read_once fields_are_bounded late_sends_last cells_are_reset cell_keeps_result ready_is_exchanged late_is_taken
orphans_are_swept copy_is_checked batch_can_come arm_then_look row_goes_with_process age_shows_loss known_waits need_proves_result xdp_never_waits host_adds_ready_cells""".split()
RULES = {n: Rule(n, "storm", "hang wrong differ") for n in NAMES}

Rules = partial(Switches, RULES, also=DEDICATED)
