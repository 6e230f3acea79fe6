# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The engine in user space: libtrib's, whose build.mk has the tests with wires.

include kmod/engine/Kbuild.engine

ENGINE_OBJS := $(addprefix $(B)/kmod/engine/,$(TRIB_ENGINE_OBJS))
ENGINE_SRC := $(ENGINE_OBJS:$(B)/%.o=%.c)

# Without libtrib; every allocation can fail.
ENGINE_TESTS := $(addprefix $(B)/tests/unit/engine/,engine memory)

$(ENGINE_TESTS): %: %.o $(B)/tests/lib/lib_engine.o $(ENGINE_OBJS) \
		$(KERNELS_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -Wl,--wrap=calloc -o $@ $^

CHECK_TESTS += $(ENGINE_TESTS)
