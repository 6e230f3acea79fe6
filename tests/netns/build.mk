# SPDX-License-Identifier: BSD-2-Clause
# Tests on networks of namespaces. pulse tells when sums were completed.
$(B)/tests/netns/lib/pulse: $(B)/tests/netns/lib/pulse.o $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $< -L$(B) -ltrib \
		-Wl,-rpath,'$$ORIGIN/../../..'

CHECK_BINS += $(B)/tests/netns/lib/pulse
BENCH_BINS += $(B)/tests/netns/lib/pulse

# The VM runs two of them, the sanitizers' build one.
NETNS_SAN := tests/netns/tree/san.t
NETNS_VM := tests/netns/tree/floats.t tests/netns/tree/old-kernel.t
CHECK_TESTS += $(filter-out $(NETNS_SAN) $(NETNS_VM), \
	$(sort $(wildcard tests/netns/*/*.t)))
SAN_TESTS += $(NETNS_SAN)
SAN_BINS += $(B)/tribd $(B)/trib $(B)/trib-perf
