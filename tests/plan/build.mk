# SPDX-License-Identifier: BSD-2-Clause
# Tests of the planner. milp.t needs glpk-utils.
CHECK_TESTS += $(addprefix tests/plan/,plan.t rows.t errors.t milp.t wiring.t)

# The fuzzer of the planner's parsers; tests/fuzz has the others.
build/fuzz-plan: tests/plan/fuzz_plan.c $(BASE_SRC) \
		$(wildcard userspace/plan/*.h userspace/plan/*/*.[ch])
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) -o $@ $(filter %.c,$^) $(PLAN_LIBS)

CHECK_BINS += build/fuzz-plan
CHECK_TESTS += tests/plan/fuzz.t
