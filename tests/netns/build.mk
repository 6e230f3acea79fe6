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

# Tells when sums were completed.
$(B)/tests/netns/pulse: $(B)/tests/netns/pulse.o $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $< -L$(B) -ltrib \
		-Wl,-rpath,'$$ORIGIN/../..'

ALL += $(B)/tests/netns/wire
CHECK_BINS += $(B)/tests/netns/pulse
BENCH_BINS += $(B)/tests/netns/pulse
CHECK_TESTS += tests/netns/fabric.t tests/netns/fabric_ndn.t tests/netns/allreduce.t \
	tests/unit/lint.t
SAN_TESTS += tests/netns/san.t
SAN_BINS += $(B)/tribd $(B)/trib $(B)/trib-perf $(B)/tests/netns/wire
CHECK_TESTS += tests/netns/bcube.t tests/netns/shared.t \
	tests/netns/shared_faults.t tests/netns/attach_shared.t
CHECK_TESTS += tests/netns/session.t tests/netns/deliver.t tests/netns/recovery.t \
	tests/netns/apply.t tests/netns/apply_undo.t \
	tests/netns/apply_shared.t tests/netns/planned.t tests/netns/ndn_train.t \
	tests/netns/ndn_tree.t
# python-ndn, and faults, over tribd's routers
CHECK_TESTS += tests/netns/ndn_stock.t tests/netns/ndn_faults.t
