# SPDX-License-Identifier: BSD-2-Clause
# trib-ps. Joining is tribd's machine, which knows neither sockets nor maps.
PS_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/ps/*.c userspace/ps/*/*.c))
# The unit tests link the pure parts, and those for files.
PS_CORE := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/ps/sum/*.c)) $(SUM_OBJS) $(BASE_LIB)
PS_CFLAGS := $(shell pkg-config --cflags jansson 2>/dev/null)

$(PS_OBJ): CPPFLAGS_ALL += $(PS_CFLAGS)
$(B)/trib-ps: $(PS_OBJ) $(LIB_NDN_OBJS) $(LIB_OBJS) $(NDN_APP_LIB) $(NDN_LIB) \
		$(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -ljansson $(NDN_LIBS) -lpthread -lm

ALL += $(B)/trib-ps

# Man page, where there is something to make it with.
RST2MAN ?= $(shell command -v rst2man)
PS_MAN := $(if $(RST2MAN),$(B)/man/trib-ps.8)

$(B)/man/trib-ps.8: userspace/ps/trib-ps.8.rst
	@mkdir -p $(@D)
	$(RST2MAN) --strict $< $@

ALL += $(PS_MAN)

.PHONY: install-ps
install-ps: $(B)/trib-ps $(PS_MAN)
	install -D -m 755 $(B)/trib-ps $(DESTDIR)$(PREFIX)/sbin/trib-ps
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|@PREFIX@|$(PREFIX)|' userspace/ps/trib-ps.service \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/trib-ps.service
	install -D -m 644 userspace/ps/trib-ps.bash-completion \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/trib-ps
	$(if $(PS_MAN),install -D -m 644 $(B)/man/trib-ps.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/trib-ps.8)

INSTALL += install-ps

PS_UNITS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/ps/*.c))

$(PS_UNITS): %: %.o $(PS_CORE)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -ljansson

CHECK_TESTS += $(PS_UNITS) tests/ndn/ps.t

# libtrib's side, with trib-ps in the place of the relay of an imagined network.
$(B)/tests/unit/lib/shared: $(B)/tests/unit/lib/shared.o \
		$(addprefix $(B)/tests/lib/,relay_model_ps.o engine_world.o engine_script.o) \
		$(B)/tests/model/cells.o \
		$(LIB_OBJS) $(PS_CORE)
	$(CC) $(LDFLAGS_ALL) -Wl,--wrap=clock_gettime -o $@ $^ -ljansson \
		-lpthread -lm

CHECK_TESTS += $(B)/tests/unit/lib/shared
