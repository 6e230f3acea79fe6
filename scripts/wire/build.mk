# SPDX-License-Identifier: BSD-2-Clause
# The emulated wire that scripts/fabric puts between hosts.
$(B)/scripts/wire/wire.bpf.o: scripts/wire/wire.bpf.c scripts/wire/wire.h
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -Wall -Wextra -Werror -O2 -g -mcpu=v3 --target=bpf \
		-I$(ARCH_INCLUDE) -c -o $@ $<

$(B)/scripts/wire/wire.skel.h: $(B)/scripts/wire/wire.bpf.o
	$(BPFTOOL) gen skeleton $< name wire_bpf >$@.tmp
	mv $@.tmp $@

$(B)/scripts/wire/wire.o: $(B)/scripts/wire/wire.skel.h

$(B)/scripts/wire/wire: $(B)/scripts/wire/wire.o
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

ALL += $(B)/scripts/wire/wire
SAN_BINS += $(B)/scripts/wire/wire
