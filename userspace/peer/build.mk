# SPDX-License-Identifier: BSD-2-Clause
# libtrib-peer.so: peer exchange over libfabric, which libtrib loads where a job wants it.
PEER_SRC := $(wildcard userspace/peer/*.c userspace/peer/*/*.c)
PEER_OBJS := $(PEER_SRC:%.c=$(B)/%.o)

include $(sort $(wildcard userspace/peer/*/build.mk))
