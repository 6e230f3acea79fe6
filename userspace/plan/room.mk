# SPDX-License-Identifier: BSD-2-Clause
# The planner: objects that trib and tests link. Only lp_child.c knows CLP.
PLAN_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/plan/*.c))
PLAN_LIBS := -lClp -lCoinUtils -ljansson -lm

# trib has it inside; userspace/cli/room.mk has been read by now.
$(B)/trib $(CLI_UNITS): $(PLAN_OBJ)
CLI_LIBS += $(PLAN_LIBS)
