# SPDX-License-Identifier: BSD-2-Clause
# The emulated wire that scripts/fabric puts between hosts, and the tests that
# run on such networks.
$(B)/tests/netns/wire.bpf.o: tests/netns/wire.bpf.c tests/netns/wire.h
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -Wall -Wextra -Werror -O2 -g -mcpu=v3 --target=bpf \
		-I$(ARCH_INCLUDE) -c -o $@ $<

$(B)/tests/netns/wire.skel.h: $(B)/tests/netns/wire.bpf.o
	$(BPFTOOL) gen skeleton $< name wire_bpf >$@.tmp
	mv $@.tmp $@

$(B)/tests/netns/wire.o: $(B)/tests/netns/wire.skel.h

$(B)/tests/netns/wire: $(B)/tests/netns/wire.o
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

ALL += $(B)/tests/netns/wire
CHECK_TESTS += tests/netns/fabric.t tests/netns/allreduce.t \
	tests/unit/lint.t
SAN_TESTS += tests/netns/san.t
SAN_BINS += $(B)/tribd $(B)/trib $(B)/trib-perf $(B)/tests/netns/wire
CHECK_TESTS += tests/netns/bcube.t tests/netns/shared.t
CHECK_TESTS += tests/netns/session.t tests/netns/deliver.t tests/netns/recovery.t \
	tests/netns/apply.t
