# SPDX-License-Identifier: BSD-2-Clause
# The two ends of the names protocol: a static library; who links it links
# libndn.a after it, too. (ndn/room.mk is read later: hence its file's name.)
NAMES_LIB := $(B)/userspace/names/libnames.a
NAMES_NDN := $(B)/userspace/ndn/libndn.a

$(NAMES_LIB): $(patsubst %.c,$(B)/%.o,$(wildcard userspace/names/*.c))
	@rm -f $@
	$(AR) rcs $@ $^

# Vectors.
$(B)/userspace/names/ps_update.o: CFLAGS += -O3

ALL += $(NAMES_LIB)

NAMES_UNITS := $(addprefix $(B)/tests/unit/unit_names_,content link names ps)

$(NAMES_UNITS): %: %.o $(NAMES_LIB) $(NAMES_NDN)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

# The PS among scripted workers on an imagined network.
$(B)/tests/unit/unit_names_ps_net: %: %.o $(B)/tests/unit/names_world.o \
		$(NAMES_LIB) $(NAMES_NDN)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

NAMES_UNITS += $(B)/tests/unit/unit_names_ps_net

CHECK_TESTS += $(NAMES_UNITS)

# Workers and the PS, with each other on an imagined network; and a worker with
# whoever says he was the PS.
$(addprefix $(B)/tests/unit/unit_names_,train worker): %: %.o \
		$(B)/tests/unit/worker_world.o $(NAMES_LIB) $(NAMES_NDN)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

CHECK_TESTS += $(addprefix $(B)/tests/unit/unit_names_,train worker)

$(B)/tests/unit/unit_names_endpoint: $(B)/tests/unit/unit_names_endpoint.o \
		$(NAMES_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(B)/tests/unit/unit_names_endpoint

# With sockets and threads; and the same under ThreadSanitizer.
$(B)/tests/unit/unit_names_api: $(B)/tests/unit/unit_names_api.o $(NAMES_LIB) \
		$(NAMES_NDN) $(LIB_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium -ljansson -lpthread -lm

$(B)/tests/unit/unit_names_api_tsan: tests/unit/unit_names_api.c \
		$(wildcard userspace/names/*.[ch] userspace/ndn/*.[ch]) \
		$(wildcard userspace/lib/*.[ch] kmod/engine/*.h kernels/codec*.c) $(ENGINE_SRC)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread $(CPPFLAGS_ALL) -o $@ \
		$(filter %.c,$^) -lsodium -ljansson -lpthread -lm

CHECK_TESTS += $(B)/tests/unit/unit_names_api
ifneq ($(SAN),1)
CHECK_TESTS += $(B)/tests/unit/unit_names_api_tsan
endif
