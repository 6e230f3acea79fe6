# SPDX-License-Identifier: BSD-2-Clause
# Tests of userspace/peer/net.
PEER_NET_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/peer/net/*.c))
PEER_PORT_RIG := $(B)/tests/unit/peer/port/port_rig.o

$(addprefix $(B)/tests/unit/peer/port/,port_ofi port_rc port_shm port_stream): %: %.o $(PEER_PORT_RIG) \
		$(PEER_NET_OBJS) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lfabric

$(B)/tests/unit/peer/flow: %: %.o $(B)/userspace/peer/net/flow.o
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(addprefix $(B)/tests/unit/peer/,flow $(addprefix port/,port_ofi port_rc port_shm port_stream))

$(B)/bench-port: $(B)/tests/bench/peer/port.o $(PEER_PORT_RIG) $(PEER_NET_OBJS) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lfabric

BENCH_BINS += $(B)/bench-port
