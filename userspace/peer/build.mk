# SPDX-License-Identifier: BSD-2-Clause
# libtrib-peer.so: peer exchange over libfabric, which libtrib loads where a job wants it.
PEER_SRC := $(wildcard userspace/peer/*.c userspace/peer/*/*.c)
PEER_OBJS := $(PEER_SRC:%.c=$(B)/%.o)

include $(sort $(wildcard userspace/peer/*/build.mk))

PEER_LIBS := -lfabric -lpthread -lm

# One symbol: struct trib_peer_ops.
$(B)/libtrib-peer.so.0: $(PEER_OBJS) $(REDUCE_OBJS) $(BASE_LIBTRIB_OBJ) userspace/peer/libtrib-peer.map
	$(CC) $(LDFLAGS_ALL) -shared -Wl,-soname,libtrib-peer.so.0 \
		-Wl,--version-script=userspace/peer/libtrib-peer.map -Wl,-z,defs -o $@ \
		$(filter %.o,$^) $(PEER_LIBS)

ALL += $(B)/libtrib-peer.so.0
