# SPDX-License-Identifier: BSD-2-Clause
# Tests on networks of namespaces. pulse tells when sums were completed.
$(B)/tests/netns/lib/pulse: $(B)/tests/netns/lib/pulse.o $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $< -L$(B) -ltrib \
		-Wl,-rpath,'$$ORIGIN/../../..'

CHECK_BINS += $(B)/tests/netns/lib/pulse
BENCH_BINS += $(B)/tests/netns/lib/pulse

CHECK_TESTS += $(filter-out tests/netns/tree/san.t, \
	$(sort $(wildcard tests/netns/*/*.t)))
SAN_TESTS += tests/netns/tree/san.t
SAN_BINS += $(B)/tribd $(B)/trib $(B)/trib-perf
