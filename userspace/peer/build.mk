# SPDX-License-Identifier: BSD-2-Clause
# libtrib-peer.so: peer exchange over libfabric, which libtrib loads where a job wants it.
PEER_SRC := $(wildcard userspace/peer/*.c userspace/peer/*/*.c)
PEER_OBJS := $(PEER_SRC:%.c=$(B)/%.o)

include $(sort $(wildcard userspace/peer/*/build.mk))

PEER_GPU_OBJ := $(B)/kernels/gpu/load.o

PEER_LIBS = -ldl -lfabric $(PEER_TOPO_LIBS) -lpthread -lm

# One symbol: struct trib_peer_ops.
$(B)/libtrib-peer.so.0: $(PEER_OBJS) $(PEER_GPU_OBJ) $(REDUCE_OBJS) $(KERNELS_OBJS) $(BASE_LIBTRIB_OBJ) \
		userspace/peer/libtrib-peer.map
	$(CC) $(LDFLAGS_ALL) -shared -Wl,-soname,libtrib-peer.so.0 \
		-Wl,--version-script=userspace/peer/libtrib-peer.map -Wl,-z,defs -o $@ \
		$(sort $(filter %.o,$^)) $(PEER_LIBS)

ALL += $(B)/libtrib-peer.so.0

PEER_MAN := $(if $(shell command -v rst2man),$(B)/man/libtrib-peer.7)

$(B)/man/libtrib-peer.7: userspace/peer/libtrib-peer.7.rst
	@mkdir -p $(@D)
	rst2man --strict $< $@

ALL += $(PEER_MAN)

.PHONY: install-peer
install-peer: $(B)/libtrib-peer.so.0 $(PEER_MAN)
	install -D -m 755 $(B)/libtrib-peer.so.0 $(DESTDIR)$(PREFIX)/lib/libtrib-peer.so.0
	$(if $(PEER_MAN),install -D -m 644 $(PEER_MAN) \
		$(DESTDIR)$(PREFIX)/share/man/man7/libtrib-peer.7)
INSTALL += install-peer

# All of it, over libfabric's TCP on the loopback device; and under ThreadSanitizer.
PEER_WHOLE_TESTS := $(addprefix $(B)/tests/unit/peer/,engine whole/death whole/payload)

$(PEER_WHOLE_TESTS): %: %.o $(PEER_OBJS) $(PEER_GPU_OBJ) $(REDUCE_OBJS) \
		$(KERNELS_OBJS) $(BASE_LIBTRIB_OBJ)
	$(CC) $(LDFLAGS_ALL) -o $@ $(sort $^) $(PEER_LIBS)

# With values in the memory of GPUs that are doubles.
$(B)/tests/unit/peer/gpu: $(B)/tests/unit/peer/gpu.o $(PEER_OBJS) $(GPU_DOUBLE_OBJS) $(NM_OBJS) \
		$(KERNELS_OBJS) $(BASE_LIBTRIB_OBJ) | $(B)/tests/gpu/double/libnccl.so.2
	$(CC) $(LDFLAGS_ALL) -rdynamic -Wl,--wrap=stat -Wl,--wrap=trib_gpu_load -o $@ $(sort $^) $(PEER_LIBS)

CHECK_TESTS += $(B)/tests/unit/peer/gpu

PEER_TSAN_SOURCES := $(PEER_SRC) kernels/gpu/load.c $(REDUCE_SRC) kernels/cpu.c $(KERNELS_SRC) $(BASE_LIBTRIB_SRC)

$(B)/tests/unit/peer/engine_tsan: tests/unit/peer/engine.c $(PEER_TSAN_SOURCES) \
		$(wildcard userspace/peer/*.h userspace/peer/*/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread -ffp-contract=off $(CPPFLAGS_ALL) \
		-o $@ $< $(sort $(PEER_TSAN_SOURCES)) $(PEER_LIBS)

$(B)/tests/unit/peer/gpu_tsan: tests/unit/peer/gpu.c $(PEER_TSAN_SOURCES) $(GPU_DOUBLE_SOURCES) \
		$(NM_SRC) $(wildcard userspace/peer/*.h userspace/peer/*/*.h tests/lib/gpu/*.h) \
		| $(B)/tests/gpu/double/libnccl.so.2
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread -ffp-contract=off $(CPPFLAGS_ALL) \
		-rdynamic -Wl,--wrap=stat -Wl,--wrap=trib_gpu_load -o $@ $< $(sort $(PEER_TSAN_SOURCES) \
		$(GPU_DOUBLE_SOURCES) $(NM_SRC)) $(PEER_LIBS)

CHECK_TESTS += $(PEER_WHOLE_TESTS)
ifneq ($(SAN),1)
CHECK_TESTS += $(B)/tests/unit/peer/engine_tsan $(B)/tests/unit/peer/gpu_tsan
endif
