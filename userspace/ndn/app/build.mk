# SPDX-License-Identifier: BSD-2-Clause
# The two ends of the protocol over NDN: a static library; programs link it
# before NDN_LIB.
NDN_APP_LIB := $(B)/userspace/ndn/app/libndn_app.a

$(NDN_APP_LIB): $(patsubst %.c,$(B)/%.o,$(wildcard userspace/ndn/app/*.c userspace/ndn/app/*/*.c))
	@rm -f $@
	$(AR) rcs $@ $^

# Vectors.
$(B)/userspace/ndn/app/ps/ps_update.o: CFLAGS += -O3

ALL += $(NDN_APP_LIB)

NDN_APP_UNITS := $(addprefix $(B)/tests/unit/ndn/app_,content link names ps)

$(NDN_APP_UNITS): %: %.o $(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

# The PS among scripted workers on an imagined network.
$(B)/tests/unit/ndn/app_ps_net: %: %.o $(B)/tests/lib/ps_world.o \
		$(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

NDN_APP_UNITS += $(B)/tests/unit/ndn/app_ps_net

CHECK_TESTS += $(NDN_APP_UNITS)

# Workers and the PS, with each other on an imagined network; and a worker with
# whoever says he was the PS.
$(addprefix $(B)/tests/unit/ndn/app_,train worker): %: %.o \
		$(B)/tests/lib/worker_world.o $(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

CHECK_TESTS += $(addprefix $(B)/tests/unit/ndn/app_,train worker)

$(B)/tests/unit/ndn/app_endpoint: $(B)/tests/unit/ndn/app_endpoint.o \
		$(NDN_APP_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(B)/tests/unit/ndn/app_endpoint
