# SPDX-License-Identifier: BSD-2-Clause
# tribd: the BPF objects are inside the binary.
DAEMON_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/daemon/*.c userspace/daemon/*/*.c))
# Unit tests link everything but main() and the BPF objects.
DAEMON_PARTS := $(filter-out $(B)/userspace/daemon/main.o,$(DAEMON_OBJ))
DAEMON_EMBED := $(B)/userspace/daemon/load/objects.o
DAEMON_CFLAGS := $(shell pkg-config --cflags libnl-3.0 jansson libbpf \
	2>/dev/null || echo -I/usr/include/libnl3)
DAEMON_LIBS := -lbpf -lnl-3 -ljansson

$(DAEMON_OBJ): CPPFLAGS_ALL += $(DAEMON_CFLAGS)

$(B)/userspace/daemon/netlink/nl_policy.o: $(B)/gen/nl_tables.h

$(B)/gen/nl_tables.h: kmod/trib.yaml scripts/mkspec
	@mkdir -p $(@D)
	scripts/mkspec daemon >$@.tmp
	mv $@.tmp $@

$(DAEMON_EMBED): userspace/daemon/load/objects.S \
		$(B)/bpf/trib-352.bpf.o $(B)/bpf/trib-832.bpf.o \
		$(B)/bpf/ndn.bpf.o
	@mkdir -p $(@D)
	$(CC) -I$(B) -Wa,-I$(B) -c -o $@ $<

$(B)/tribd: $(DAEMON_OBJ) $(DAEMON_EMBED) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

ALL += $(B)/tribd
CHECK_BINS += $(B)/tribd

# For tests of upgrades: a tribd of another version, and one whose maps differ, too.
DAEMON_NAMED := $(patsubst %.c,%.o,$(shell grep -lE 'TRIB_VERSION|TRIB_MAPS_ABI' \
	userspace/daemon/*.c userspace/daemon/*/*.c))
DAEMON_REST := $(filter-out $(DAEMON_NAMED:%=$(B)/%),$(DAEMON_OBJ))
DAEMON_NEXT := $(B)/tests/netns/daemon/tribd-next
DAEMON_LAYOUT := $(B)/tests/netns/daemon/tribd-layout
DAEMON_OTHER = $(CC) $(CFLAGS_ALL) $(DAEMON_CFLAGS) -UTRIB_VERSION \
	-DTRIB_VERSION='"9.9.9"' -fPIC -c -o $@ $<

$(DAEMON_NEXT)-obj/%.o: %.c
	@mkdir -p $(@D)
	$(DAEMON_OTHER)

$(DAEMON_LAYOUT)-obj/%.o: %.c tests/netns/daemon/layout.h
	@mkdir -p $(@D)
	$(DAEMON_OTHER) -include tests/netns/daemon/layout.h

$(DAEMON_NEXT): $(DAEMON_NAMED:%=$(DAEMON_NEXT)-obj/%)
$(DAEMON_LAYOUT): $(DAEMON_NAMED:%=$(DAEMON_LAYOUT)-obj/%)
$(DAEMON_NEXT) $(DAEMON_LAYOUT): $(DAEMON_REST) $(DAEMON_EMBED) $(NDN_LIB) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(DAEMON_LIBS)

CHECK_BINS += $(DAEMON_NEXT) $(DAEMON_LAYOUT)

DAEMON_PURE_UNITS := $(addprefix $(B)/tests/unit/daemon/,session session_inner \
	session_tree join attach)
DAEMON_UNITS := $(filter-out $(DAEMON_PURE_UNITS),\
	$(patsubst %.c,$(B)/%,$(wildcard tests/unit/daemon/*.c)))

$(DAEMON_UNITS:%=%.o): CPPFLAGS_ALL += $(DAEMON_CFLAGS)

$(DAEMON_UNITS): %: %.o $(DAEMON_PARTS) $(DAEMON_EMBED) $(NDN_LIB) $(BASE_LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

CHECK_TESTS += $(DAEMON_UNITS) tests/unit/daemon/spec.py

DAEMON_MAN := $(if $(shell command -v rst2man),$(B)/man/tribd.8)

$(B)/man/tribd.8: userspace/daemon/tribd.8.rst
	@mkdir -p $(@D)
	rst2man --strict $< $@

ALL += $(DAEMON_MAN)

.PHONY: install-daemon
install-daemon: $(B)/tribd $(DAEMON_MAN)
	install -D -m 755 $(B)/tribd $(DESTDIR)$(PREFIX)/sbin/tribd
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|@PREFIX@|$(PREFIX)|' userspace/daemon/tribd.service \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/tribd.service
	install -m 644 userspace/daemon/tribd.socket $(DESTDIR)$(PREFIX)/lib/systemd/system
	$(if $(DAEMON_MAN),install -D -m 644 $(B)/man/tribd.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/tribd.8)

INSTALL += install-daemon
