# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The engine in user space: libtrib's. Its tests are in userspace/lib/room.mk.

include kmod/engine/Kbuild.engine

ENGINE_OBJS := $(addprefix $(B)/kmod/engine/,$(TRIB_ENGINE_OBJS))
ENGINE_SRC := $(ENGINE_OBJS:$(B)/%.o=%.c)
