# SPDX-License-Identifier: BSD-2-Clause
# Parts that several programs share: an archive, which they link last.
BASE_LIB := $(B)/userspace/base/libbase.a
BASE_CFLAGS := $(shell pkg-config --cflags jansson 2>/dev/null)
BASE_SRC := $(wildcard userspace/base/*.c userspace/base/*/*.c)
BASE_OBJ := $(BASE_SRC:%.c=$(B)/%.o)
# The parts that libtrib holds: none that needs another library.
BASE_LIBTRIB := addr file text udp_batch
BASE_LIBTRIB_SRC := $(BASE_LIBTRIB:%=userspace/base/%.c)
BASE_LIBTRIB_OBJ := $(BASE_LIBTRIB:%=$(B)/userspace/base/%.o)

$(BASE_OBJ): CPPFLAGS_ALL += $(BASE_CFLAGS)

$(BASE_LIB): $(BASE_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

ALL += $(BASE_LIB)
