# SPDX-License-Identifier: BSD-2-Clause
# tribd: the BPF objects are inside the binary.
DAEMON_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/daemon/*.c))
# What unit tests link: everything but main() and the BPF objects.
DAEMON_PARTS := $(filter-out $(B)/userspace/daemon/main.o,$(DAEMON_OBJ))
DAEMON_CFLAGS := $(shell pkg-config --cflags libnl-3.0 jansson libbpf \
	2>/dev/null || echo -I/usr/include/libnl3)
DAEMON_LIBS := -lbpf -lnl-3 -ljansson

$(DAEMON_OBJ): CPPFLAGS_ALL += $(DAEMON_CFLAGS)

$(B)/userspace/daemon/objects.o: userspace/daemon/objects.S \
		$(B)/bpf/trib-352.bpf.o $(B)/bpf/trib-832.bpf.o \
		$(B)/bpf/names.bpf.o
	@mkdir -p $(@D)
	$(CC) -I$(B) -Wa,-I$(B) -c -o $@ $<

$(B)/tribd: $(DAEMON_OBJ) $(B)/userspace/daemon/objects.o \
		$(B)/userspace/ndn/libndn.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

ALL += $(B)/tribd
CHECK_BINS += $(B)/tribd

DAEMON_UNITS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,\
	$(wildcard tests/unit/unit_daemon_*.c))

$(DAEMON_UNITS:%=%.o): CPPFLAGS_ALL += $(DAEMON_CFLAGS)

$(DAEMON_UNITS): %: %.o $(DAEMON_PARTS) $(B)/userspace/daemon/objects.o \
		$(B)/userspace/ndn/libndn.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

CHECK_TESTS += $(DAEMON_UNITS) tests/unit/unit_daemon_spec.py tests/netns/pool.t \
	tests/netns/daemon.t tests/netns/daemon_restart.t \
	tests/netns/daemon_netlink.t tests/netns/names.t \
	tests/netns/names_ports.t tests/vm/daemon-6.1.t

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
	$(if $(DAEMON_MAN),install -D -m 644 $(B)/man/tribd.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/tribd.8)

INSTALL += install-daemon
