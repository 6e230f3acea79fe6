# SPDX-License-Identifier: BSD-2-Clause
# Per-packet tests of the BPF objects: each program is a topic, and links the
# world that all of them share.
BPF_TESTS := admission deliver drops need relay slot
BPF_LIVE_TESTS := egress grow large pool
BPF_TEST_BINS := $(BPF_TESTS:%=$(B)/tests/bpf/%)
BPF_LIVE_BINS := $(BPF_LIVE_TESTS:%=$(B)/tests/bpf/%)
BPF_WORLD := $(addprefix $(B)/tests/bpf/,frame.o trees.o world.o)

$(B)/tests/bpf/%.o: CPPFLAGS_ALL += -DTRIB_NVAL=832 \
	-DTRIB_BPF_DIR='"build/bpf"' -DTRIB_DRIVE_DIR='"$(B)/tests/bpf"'

$(BPF_TEST_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

$(BPF_LIVE_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o \
		$(B)/tests/bpf/live.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

$(B)/tests/bpf/drive.bpf.o: tests/bpf/drive.bpf.c $(wildcard kmod/uapi/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/tests/bpf/threads: $(addprefix $(B)/tests/bpf/,threads.o drive.o) \
		$(BPF_WORLD) $(B)/tests/bpf/drive.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.bpf.o,$^) -lbpf -lpthread

CHECK_TESTS += $(B)/tests/bpf/threads
CHECK_TESTS += $(BPF_TEST_BINS) $(BPF_LIVE_BINS)

# Beside the tests, because it drives the same world.
$(B)/tests/bench/relay.o: CPPFLAGS_ALL += -DTRIB_NVAL=832

$(B)/bench-relay: $(B)/tests/bench/relay.o $(B)/tests/bpf/drive.o \
		$(BPF_WORLD) $(B)/tests/bpf/drive.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.bpf.o,$^) -lbpf -lpthread

BENCH_BINS += $(B)/bench-relay
