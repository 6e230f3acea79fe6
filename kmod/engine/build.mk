# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The engine in user space, for libtrib; its build.mk has tests with networks.

include kmod/engine/Kbuild.engine

ENGINE_OBJS := $(addprefix $(B)/kmod/engine/,$(TRIB_ENGINE_OBJS))
ENGINE_SRC := $(ENGINE_OBJS:$(B)/%.o=%.c)

# These link without libtrib and can fail every allocation.
ENGINE_TESTS := $(addprefix $(B)/tests/unit/,detour/engine engine/engine engine/memory)

$(ENGINE_TESTS): %: %.o $(B)/tests/lib/engine_double.o $(ENGINE_OBJS) \
		$(KERNELS_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -Wl,--wrap=calloc -o $@ $^ -lpthread

CHECK_TESTS += $(ENGINE_TESTS)
