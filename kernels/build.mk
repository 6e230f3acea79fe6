# SPDX-License-Identifier: BSD-2-Clause
# The codecs: objects that libtrib and others link, and their test.

KERNELS_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard kernels/codec/codec*.c))

# Products must round where the code says so.
$(KERNELS_OBJS): CFLAGS_ALL += -ffp-contract=off -O3

KERNELS_TESTS := $(addprefix $(B)/tests/unit/kernels/,codec codec_half)

$(KERNELS_TESTS): %: %.o $(KERNELS_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(KERNELS_TESTS)
