# SPDX-License-Identifier: BSD-2-Clause
# Tests of userspace/peer/sched.
PEER_SCHED_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/peer/sched/*.c))
PEER_SCHED_TESTS := $(addprefix $(B)/tests/unit/peer/,sched sched_bytes \
	sched_shape)
# All ranks' schedules, carried out in memory.
PEER_SCHED_WORLD_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/lib/peer/sched_*.c))

$(PEER_SCHED_TESTS): %: %.o $(PEER_SCHED_WORLD_OBJS) $(PEER_SCHED_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(PEER_SCHED_TESTS)
