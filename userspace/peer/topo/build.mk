# SPDX-License-Identifier: BSD-2-Clause
# GPUs, NICs and leaders, by hwloc; trib links it, too. Its tests.
PEER_TOPO_SRC := $(wildcard userspace/peer/topo/*.c)
PEER_TOPO_OBJS := $(PEER_TOPO_SRC:%.c=$(B)/%.o)
PEER_TOPO_LIBS := -lhwloc

PEER_TOPO_TESTS := $(addprefix $(B)/tests/unit/peer/,topo topo_file)

$(PEER_TOPO_TESTS): %: %.o $(PEER_TOPO_OBJS) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(PEER_TOPO_LIBS)

CHECK_TESTS += $(PEER_TOPO_TESTS)
