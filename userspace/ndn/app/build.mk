# SPDX-License-Identifier: BSD-2-Clause
# Both ends of the protocol over NDN: a static library. Programs link it before
# NDN_LIB.
NDN_APP_LIB := $(B)/userspace/ndn/app/libndn_app.a

$(NDN_APP_LIB): $(patsubst %.c,$(B)/%.o,$(wildcard userspace/ndn/app/*.c userspace/ndn/app/*/*.c))
	@rm -f $@
	$(AR) rcs $@ $^

# Vectors.
$(B)/userspace/ndn/app/ps/ps_update.o: CFLAGS += -O3

ALL += $(NDN_APP_LIB)

NDN_APP_UNITS := $(addprefix $(B)/tests/unit/ndn/app_,content link names \
	ps_answers ps_gradients)

$(NDN_APP_UNITS): %: %.o $(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

# The PS among scripted workers on a simulated network.
$(B)/tests/unit/ndn/app_ps_net: %: %.o \
		$(addprefix $(B)/tests/lib/ndn/ps_world,.o _worker.o) \
		$(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

NDN_APP_UNITS += $(B)/tests/unit/ndn/app_ps_net

CHECK_TESTS += $(NDN_APP_UNITS)

# Workers and the PS on a simulated network; and a worker, packet by packet.
$(addprefix $(B)/tests/unit/ndn/app_,train worker_models \
	worker_gradients): %: %.o \
		$(B)/tests/lib/ndn/worker_world.o $(NDN_APP_LIB) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lsodium

CHECK_TESTS += $(addprefix $(B)/tests/unit/ndn/app_,train worker_models \
	worker_gradients)

$(B)/tests/unit/ndn/app_endpoint: $(B)/tests/unit/ndn/app_endpoint.o \
		$(NDN_APP_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(B)/tests/unit/ndn/app_endpoint
