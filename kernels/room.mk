# SPDX-License-Identifier: BSD-2-Clause
# The codecs: objects that libtrib and others link; no target of their own.

KERNELS_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard kernels/codec*.c))

# Products must round where the code says so.
$(KERNELS_OBJS): CFLAGS_ALL += -ffp-contract=off -O3
