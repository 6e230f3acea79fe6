# SPDX-License-Identifier: BSD-2-Clause
# Tests of the planner. milp.t wants glpk-utils.
CHECK_TESTS += tests/plan/plan.t tests/plan/milp.t tests/plan/wiring.t

# Fuzzed parsers; tests/fuzz has the others.
build/fuzz-plan: tests/plan/fuzz_plan.c $(wildcard userspace/plan/*.[ch] userspace/plan/*/*.[ch])
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) -o $@ $(filter %.c,$^) $(PLAN_LIBS)

CHECK_BINS += build/fuzz-plan
CHECK_TESTS += tests/plan/fuzz.t
