# SPDX-License-Identifier: BSD-2-Clause
# Per-packet tests of the BPF objects: each program is a topic, and links the
# world that all of them share.
BPF_TESTS := admission deliver drops floats need relay slot
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

# The names forwarder: a world of its own.
NAMES_WORLD := $(addprefix $(B)/tests/bpf/names_,frame.o world.o) \
	$(B)/userspace/ndn/libndn.a

$(B)/tests/bpf/names_drive.bpf.o: tests/bpf/names_drive.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/tests/bench/names.o: CPPFLAGS_ALL += -DTRIB_DRIVE_DIR='"$(B)/tests/bpf"'

$(B)/bench-names: $(B)/tests/bench/names.o $(NAMES_WORLD) \
		$(B)/tests/bpf/names_drive.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.bpf.o,$^) -lbpf $(NDN_LIBS)

BENCH_BINS += $(B)/bench-names

NAMES_TESTS := $(addprefix $(B)/tests/bpf/,names names_ask names_live names_pit \
	names_threads)

$(NAMES_TESTS): %: %.o $(NAMES_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf $(NDN_LIBS) -lpthread

CHECK_TESTS += $(NAMES_TESTS)

$(B)/tests/bpf/names_tail: $(B)/tests/bpf/names_tail.o $(BPF_WORLD) $(NAMES_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf $(NDN_LIBS)

CHECK_TESTS += $(B)/tests/bpf/names_tail
