# SPDX-License-Identifier: BSD-2-Clause
# Tests of userspace/peer/run, over a network in memory: without libfabric.
PEER_RUN_TESTS := $(addprefix $(B)/tests/unit/peer/,walk)
PEER_RUN_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/peer/run/*.c userspace/peer/sched/*.c)) \
	$(B)/tests/lib/peer/mem.o $(REDUCE_OBJS) $(KERNELS_OBJS) \
	$(B)/userspace/peer/error.o $(BASE_LIBTRIB_OBJ)

$(PEER_RUN_TESTS): %: %.o $(PEER_RUN_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread -lm

CHECK_TESTS += $(PEER_RUN_TESTS)
