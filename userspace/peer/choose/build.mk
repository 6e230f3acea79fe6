# SPDX-License-Identifier: BSD-2-Clause
# Tests of userspace/peer/choose, and the curve of scale.
PEER_CHOOSE_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/peer/choose/*.c \
	userspace/peer/sched/*.c) userspace/peer/run/path.c)
PEER_CHOOSE_TESTS := $(addprefix $(B)/tests/unit/peer/,choose cost)

$(PEER_CHOOSE_TESTS): %: %.o $(PEER_CHOOSE_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(PEER_CHOOSE_TESTS)

$(B)/bench-peer-scale: $(B)/tests/bench/peer/scale.o $(PEER_CHOOSE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

BENCH_BINS += $(B)/bench-peer-scale
