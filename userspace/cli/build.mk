# SPDX-License-Identifier: BSD-2-Clause
# trib, its unit tests, man pages and completion.
CLI_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/cli/*.c userspace/cli/*/*.c))
# The unit tests link everything but main().
CLI_PARTS := $(filter-out $(B)/userspace/cli/main.o,$(CLI_OBJ))
CLI_PARTS += $(PLAN_OBJ) $(NDN_LIB) $(BASE_LIB) $(sort $(NM_OBJS) $(KERNELS_OBJS)) \
	$(PEER_TOPO_OBJS)
CLI_CFLAGS := $(shell pkg-config --cflags libnl-3.0 jansson 2>/dev/null || \
	echo -I/usr/include/libnl3)
CLI_LIBS := -lnl-genl-3 -lnl-3 -ljansson $(NDN_LIBS) $(PLAN_LIBS) $(PEER_TOPO_LIBS)

$(CLI_OBJ): CPPFLAGS_ALL += $(CLI_CFLAGS)

$(B)/userspace/cli/netlink/schema.o: $(B)/gen/schema_tables.h

CLI_HINTS := userspace/cli/netlink/schema_hints.yaml
$(B)/gen/schema_tables.h: kmod/trib.yaml $(CLI_HINTS) scripts/mkspec
	@mkdir -p $(@D)
	scripts/mkspec cli $(CLI_HINTS) >$@.tmp
	mv $@.tmp $@

$(B)/trib: $(B)/userspace/cli/main.o $(CLI_PARTS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

ALL += $(B)/trib

CLI_UNITS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/cli/*.c))

$(CLI_UNITS:%=%.o): CPPFLAGS_ALL += $(CLI_CFLAGS)

$(CLI_UNITS): %: %.o $(CLI_PARTS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS) -lpthread

CHECK_TESTS += $(CLI_UNITS) tests/unit/cli/codec_run tests/unit/cli/topo_run

# Man pages, if rst2man is installed.
RST2MAN ?= $(shell command -v rst2man)
CLI_MAN := $(if $(RST2MAN),$(patsubst userspace/cli/man/%.rst,$(B)/man/%,\
	$(wildcard userspace/cli/man/*.8.rst)))

$(CLI_MAN): $(B)/man/%: userspace/cli/man/%.rst
	@mkdir -p $(@D)
	$(RST2MAN) --strict $< $@

ALL += $(CLI_MAN)

.PHONY: install-cli
install-cli: $(B)/trib $(CLI_MAN)
	install -D -m 755 $(B)/trib $(DESTDIR)$(PREFIX)/sbin/trib
	install -D -m 644 userspace/cli/man/trib.bash-completion \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/trib
	$(if $(CLI_MAN),install -d $(DESTDIR)$(PREFIX)/share/man/man8)
	$(if $(CLI_MAN),install -m 644 $(CLI_MAN) \
		$(DESTDIR)$(PREFIX)/share/man/man8)

INSTALL += install-cli
