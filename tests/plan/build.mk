# SPDX-License-Identifier: BSD-2-Clause
# Tests of the planner. milp.t needs glpk-utils.
CHECK_TESTS += $(addprefix tests/plan/,plan.t rows.t errors.t milp.t wiring.t)
