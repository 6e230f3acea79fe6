# SPDX-License-Identifier: BSD-2-Clause
# libtrib: shared with a versioned symbol map, static, header, pkg-config.
LIB_SRC := $(filter-out userspace/lib/ndn/%,$(wildcard userspace/lib/*.c \
	userspace/lib/*/*.c))
LIB_OBJS := $(LIB_SRC:%.c=$(B)/%.o) \
	$(BASE_LIBTRIB_OBJ) $(ENGINE_OBJS) $(PEER_BOOT_OBJS) \
	$(sort $(KERNELS_OBJS) $(NM_OBJS) $(SUM_OBJS))
# The API to parameter servers is a worker of the NDN protocol.
LIB_NDN_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/lib/ndn/*.c))
LIB_PS_OBJS := $(LIB_NDN_OBJS) $(patsubst %.c,$(B)/%.o,$(wildcard \
	userspace/ndn/app/*.c userspace/ndn/app/worker/*.c \
	userspace/ndn/packet/*.c))
LIB_PS_LIBS := -lsodium
comma := ,
LIB_MAP := userspace/lib/libtrib.map

$(B)/libtrib.so.0: $(LIB_OBJS) $(LIB_PS_OBJS) $(LIB_MAP)
	$(CC) $(LDFLAGS_ALL) -shared -Wl,-soname,libtrib.so.0 \
		-Wl,--version-script=$(LIB_MAP) -Wl,-z,defs -o $@ \
		$(LIB_OBJS) $(LIB_PS_OBJS) $(LIB_PS_LIBS) -lpthread -lm -ldl \
		-Wl,-rpath,'$$ORIGIN'

$(B)/libtrib.so: $(B)/libtrib.so.0
	ln -sf libtrib.so.0 $@

$(B)/libtrib.a: $(LIB_OBJS) $(LIB_PS_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

ALL += $(B)/libtrib.so.0 $(B)/libtrib.so $(B)/libtrib.a

LIB_MAN := $(if $(shell command -v rst2man),$(B)/man/trib-socket.7)

$(B)/man/trib-socket.7: userspace/lib/trib-socket.7.rst
	@mkdir -p $(@D)
	rst2man --strict $< $@

ALL += $(LIB_MAN)

# Headers for programs that use collective sockets without libtrib.
SOCK_HEADERS := $(addprefix kmod/uapi/,trib.h trib_attach.h trib_sock.h \
	trib_wire.h)

.PHONY: install-lib
install-lib: $(B)/libtrib.so.0 $(B)/libtrib.a $(LIB_MAN)
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig \
		$(DESTDIR)$(PREFIX)/include
	install -m 755 $(B)/libtrib.so.0 $(DESTDIR)$(PREFIX)/lib/
	ln -sf libtrib.so.0 $(DESTDIR)$(PREFIX)/lib/libtrib.so
	# Compression on the GPU, where `make gpu` has built it.
	[ ! -e build/libtrib-gpu.so ] || \
		install -m 755 build/libtrib-gpu.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(B)/libtrib.a $(DESTDIR)$(PREFIX)/lib/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
		userspace/lib/trib.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/trib.pc
	install -m 644 userspace/lib/trib.h userspace/lib/trib_compress.h \
		$(DESTDIR)$(PREFIX)/include/
	install -d $(DESTDIR)$(PREFIX)/include/tributary
	install -m 644 $(SOCK_HEADERS) $(DESTDIR)$(PREFIX)/include/tributary/
	$(if $(LIB_MAN),install -D -m 644 $(LIB_MAN) \
		$(DESTDIR)$(PREFIX)/share/man/man7/trib-socket.7)
	# Tells the loader about the library. Packages do this by themselves.
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || /sbin/ldconfig
INSTALL += install-lib

# Tests. Those on an imagined network live on an imagined clock, too.
RELAY_MODEL := $(addprefix tests/,lib/relay_model.c model/node.c model/values.c model/cells.c)
RELAY_MODEL_OBJS := $(RELAY_MODEL:%.c=$(B)/%.o)
LIB_SIM_OBJS := $(addprefix $(B)/tests/lib/,engine_world.o engine_script.o) \
	$(RELAY_MODEL_OBJS) $(LIB_OBJS)
LIB_SIM_TESTS := $(addprefix $(B)/tests/unit/lib/,held hostile need result silence \
	stream window)

$(LIB_SIM_TESTS): %: %.o $(LIB_SIM_OBJS)
	$(CC) $(LDFLAGS_ALL) -Wl,--wrap=clock_gettime -o $@ $^ -lpthread -lm

# The same tests with ranks that share cells with an XDP program: it sends for all of them,
# for every other one, or for none.
SIM_REFLEX_reflex := 0xffff
SIM_REFLEX_mixed := 0x5555
SIM_REFLEX_cells := 0
LIB_CELLS_WORLDS := $(addprefix $(B)/tests/lib/engine_world_,$(addsuffix .o,reflex mixed cells))
$(LIB_CELLS_WORLDS): $(B)/tests/lib/engine_world_%.o: tests/lib/engine_world.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DSIM_REFLEX=$(SIM_REFLEX_$*) -c -o $@ $<

define lib_cells_tests
LIB_CELLS_TESTS += $(addprefix $(B)/tests/unit/lib/$(1)_,held need result silence stream)
$(addprefix $(B)/tests/unit/lib/$(1)_,held need result silence stream window): \
		$(B)/tests/unit/lib/$(1)_%: $(B)/tests/unit/lib/%.o \
		$(B)/tests/lib/engine_world_$(1).o $(B)/tests/lib/engine_script.o \
		$(RELAY_MODEL_OBJS) $(LIB_OBJS)
	$$(CC) $$(LDFLAGS_ALL) -Wl,--wrap=clock_gettime -o $$@ $$^ -lpthread -lm
endef
$(foreach w,reflex mixed cells,$(eval $(call lib_cells_tests,$(w))))
CHECK_TESTS += $(LIB_CELLS_TESTS) $(B)/tests/unit/lib/reflex_window

LIB_COMPRESS_TESTS := $(addprefix $(B)/tests/unit/lib/compress,_device _device_fail \
	_fail _state) $(B)/tests/unit/lib/compress
# The same tests in memory of a GPU, which is a double.
LIB_COMPRESS_GPU_TESTS := $(addprefix $(B)/tests/unit/lib/compress_on_gpu,_fail _state) \
	$(B)/tests/unit/lib/compress_on_gpu
LIB_COMPRESS_OBJS := $(B)/tests/lib/compress_world.o $(GPU_DOUBLE_OBJS) $(LIB_SIM_OBJS)

$(LIB_COMPRESS_TESTS): %: %.o $(LIB_COMPRESS_OBJS)
$(filter-out %_on_gpu,$(LIB_COMPRESS_GPU_TESTS)): $(B)/tests/unit/lib/compress_on_gpu%: \
		$(B)/tests/unit/lib/compress%.o $(B)/tests/lib/gpu/compress_world.o \
		$(LIB_COMPRESS_OBJS)
$(B)/tests/unit/lib/compress_on_gpu: $(B)/tests/unit/lib/compress.o \
		$(B)/tests/lib/gpu/compress_world.o $(LIB_COMPRESS_OBJS)

$(LIB_COMPRESS_TESTS) $(LIB_COMPRESS_GPU_TESTS):
	$(CC) $(LDFLAGS_ALL) -Wl,--wrap=clock_gettime -Wl,--wrap=trib_gpu_load \
		$(if $(filter %compress_fail %on_gpu_fail,$@),-Wl$(comma)--wrap=calloc) \
		-o $@ $^ -lpthread -lm

CHECK_TESTS += $(LIB_COMPRESS_GPU_TESTS)
CHECK_TESTS += $(LIB_COMPRESS_TESTS)

LIB_PLAIN_TESTS := $(addprefix $(B)/tests/unit/lib/,auth nonce spin ticket)

$(LIB_PLAIN_TESTS): %: %.o $(LIB_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread -lm

CHECK_TESTS += $(LIB_SIM_TESTS) $(LIB_PLAIN_TESTS)

# With real sockets and threads, on the loopback device.
LIB_UDP_OBJS := $(addprefix $(B)/tests/lib/,relay_thread.o rank_threads.o) \
	$(RELAY_MODEL_OBJS) $(LIB_OBJS)
LIB_UDP_TESTS := $(addprefix $(B)/tests/unit/,lib/attach lib/compress_threads detour/mesh \
	detour/owner detour/ranks lib/udp)

$(LIB_UDP_TESTS): %: %.o $(LIB_UDP_OBJS)
	$(CC) $(LDFLAGS_ALL) $(if $(findstring lib/udp,$@),-Wl$(comma)--wrap=sendmsg) \
		-o $@ $^ -lpthread -lm

CHECK_TESTS += $(LIB_UDP_TESTS)

# The same by peers, and compared with relays.
LIB_PEER_TESTS := $(addprefix $(B)/tests/unit/lib/,compress_by_peers compress_by_peers_on_gpu \
	compress_peer)

$(B)/tests/unit/lib/compress_by_peers.o: TEST_FLAGS := -DBY_PEERS
$(B)/tests/unit/lib/compress_by_peers_on_gpu.o: TEST_FLAGS := -DBY_PEERS -DON_GPU -DON_DOUBLE

$(addprefix $(B)/tests/unit/lib/compress_by_peers,.o _on_gpu.o): tests/unit/lib/compress_threads.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(TEST_FLAGS) -c -o $@ $<

$(B)/tests/unit/lib/compress_by_peers_on_gpu: $(GPU_DOUBLE_OBJS)

$(LIB_PEER_TESTS): %: %.o $(LIB_UDP_OBJS) | $(B)/libtrib-peer.so.0
	$(CC) $(LDFLAGS_ALL) $(if $(findstring on_gpu,$@),-Wl$(comma)--wrap=trib_gpu_load) \
		-o $@ $(sort $^) -lpthread -lm -ldl

CHECK_TESTS += $(LIB_PEER_TESTS)

# By collective sockets of a kernel that is a double.
comma_wrap = -Wl$(comma)--wrap=$(1)
KSOCK_WRAPS := $(foreach f,socket close bind shutdown setsockopt getsockopt \
	sendmsg recvmsg,$(call comma_wrap,$(f)))

$(B)/tests/unit/lib/ksock: $(B)/tests/unit/lib/ksock.o $(addprefix \
		$(B)/tests/lib/,ksock_double.o relay_thread.o rank_threads.o) \
		$(RELAY_MODEL_OBJS) $(LIB_OBJS)
	$(CC) $(LDFLAGS_ALL) $(KSOCK_WRAPS) -o $@ $^ -lpthread -lm

CHECK_TESTS += $(B)/tests/unit/lib/ksock

# The same under ThreadSanitizer, which goes with neither of the other two.
LIB_TSAN_SOURCES := $(addprefix tests/lib/,relay_thread.c rank_threads.c) \
	$(RELAY_MODEL) $(ENGINE_SRC) $(BASE_LIBTRIB_SRC) \
	$(LIB_SRC) $(PEER_BOOT_SRC) $(sort $(KERNELS_SRC) $(NM_SRC)) kernels/sum/words.c
# Each level of sums has flags of its own; they are not instrumented.
LIB_TSAN_OBJS := $(filter $(B)/kernels/sum/sum%.o,$(SUM_OBJS))

$(B)/tests/unit/lib/udp_tsan: tests/unit/lib/udp.c $(LIB_TSAN_SOURCES) \
		$(wildcard userspace/lib/*.h userspace/lib/*/*.h kmod/engine/*.h) \
		$(LIB_TSAN_OBJS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread $(CPPFLAGS_ALL) \
		-Wl,--wrap=sendmsg -o $@ $< $(LIB_TSAN_SOURCES) $(LIB_TSAN_OBJS) -lpthread -lm

$(B)/tests/unit/detour/ranks_tsan: tests/unit/detour/ranks.c $(LIB_TSAN_SOURCES) \
		$(wildcard userspace/lib/*.h userspace/lib/*/*.h userspace/peer/boot/*.h \
		kmod/engine/*.h) $(LIB_TSAN_OBJS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread $(CPPFLAGS_ALL) \
		-o $@ $< $(LIB_TSAN_SOURCES) $(LIB_TSAN_OBJS) -lpthread -lm

$(B)/tests/unit/lib/compress_tsan: tests/unit/lib/compress_threads.c \
		$(LIB_TSAN_SOURCES) $(wildcard userspace/lib/*.h userspace/lib/*/*.h \
		kmod/engine/*.h kernels/nm/*.h) $(LIB_TSAN_OBJS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread -ffp-contract=off \
		$(CPPFLAGS_ALL) -o $@ $< $(LIB_TSAN_SOURCES) $(LIB_TSAN_OBJS) -lpthread -lm

# On the double of a GPU, with its threads.

$(B)/tests/unit/lib/compress_on_gpu_tsan: tests/unit/lib/compress_threads.c \
		$(LIB_TSAN_SOURCES) $(GPU_DOUBLE_SOURCES) $(wildcard tests/lib/gpu/*.h \
		userspace/lib/*.h userspace/lib/*/*.h kmod/engine/*.h kernels/nm/*.h) \
		$(LIB_TSAN_OBJS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread -ffp-contract=off -DON_GPU -DON_DOUBLE \
		$(CPPFLAGS_ALL) -Wl,--wrap=trib_gpu_load -o $@ $< $(LIB_TSAN_SOURCES) \
		$(GPU_DOUBLE_SOURCES) $(LIB_TSAN_OBJS) -lpthread -lm

ifneq ($(SAN),1)
CHECK_TESTS += $(addprefix $(B)/tests/unit/lib/,compress_on_gpu_tsan compress_tsan udp_tsan) \
	$(B)/tests/unit/detour/ranks_tsan
endif

# The API to parameter servers, with sockets and threads; and the same under
# ThreadSanitizer.
$(B)/tests/unit/lib/ps_api: $(B)/tests/unit/lib/ps_api.o $(LIB_NDN_OBJS) \
		$(LIB_OBJS) $(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium -ljansson -lpthread -lm

LIB_PS_TSAN_SOURCES := $(LIB_SRC) $(PEER_BOOT_SRC) kernels/sum/words.c $(ENGINE_SRC) \
	$(BASE_SRC) $(wildcard \
	userspace/lib/ndn/*.c userspace/ndn/app/*.c userspace/ndn/app/*/*.c \
	userspace/ndn/packet/*.c) $(sort $(KERNELS_SRC) $(NM_SRC))

$(B)/tests/unit/lib/ps_api_tsan: tests/unit/lib/ps_api.c \
		$(LIB_TSAN_OBJS) $(LIB_PS_TSAN_SOURCES) $(wildcard userspace/lib/*.h \
		userspace/lib/*/*.h userspace/ndn/*/*.h userspace/ndn/*/*/*.h \
		kmod/engine/*.h) $(LIB_TSAN_OBJS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread $(CPPFLAGS_ALL) -o $@ \
		$(filter %.c %.o,$^) -lsodium -ljansson -lpthread -lm

$(B)/tests/unit/lib/rounds: $(B)/tests/unit/lib/rounds.o $(B)/userspace/lib/ndn/rounds.o
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(B)/tests/unit/lib/ps_api $(B)/tests/unit/lib/rounds
ifneq ($(SAN),1)
CHECK_TESTS += $(B)/tests/unit/lib/ps_api_tsan
endif
