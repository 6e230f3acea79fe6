# SPDX-License-Identifier: BSD-2-Clause
# The planner: objects that trib and tests link. Only lp_child.c knows CLP.
PLAN_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/plan/*/*.c))
PLAN_LIBS := -lClp -lCoinUtils -ljansson -lm

PLAN_UNITS := $(addprefix $(B)/tests/plan/,unit_lp unit_wiring)

$(PLAN_UNITS): %: %.o $(PLAN_OBJ) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(PLAN_LIBS)

CHECK_TESTS += $(PLAN_UNITS)
SAN_TESTS += $(PLAN_UNITS)
