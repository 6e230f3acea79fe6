# SPDX-License-Identifier: BSD-2-Clause
# The codecs: objects that libtrib and others link, and their test.

KERNELS_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard kernels/codec*.c))

# Products must round where the code says so.
$(KERNELS_OBJS): CFLAGS_ALL += -ffp-contract=off -O3

$(B)/tests/unit/unit_codec: $(B)/tests/unit/unit_codec.o $(KERNELS_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(B)/tests/unit/unit_codec
