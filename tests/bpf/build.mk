# SPDX-License-Identifier: BSD-2-Clause
# Per-packet tests of the BPF objects: each program is a topic, and links the
# world that all of them share.
BPF_TESTS := admission deliver drops floats need relay slot socket
BPF_LIVE_TESTS := egress grow large mask pool_live pool_mask spread
BPF_POOL_TESTS := auth pool_admit pool_grad pool_pass
BPF_TEST_BINS := $(BPF_TESTS:%=$(B)/tests/bpf/%)
BPF_LIVE_BINS := $(BPF_LIVE_TESTS:%=$(B)/tests/bpf/%)
BPF_POOL_BINS := $(BPF_POOL_TESTS:%=$(B)/tests/bpf/%)
BPF_REFLEX_BINS := $(addprefix $(B)/tests/bpf/,host reflex reflex_race)
BPF_WORLD := $(addprefix $(B)/tests/bpf/world/,frame.o trees.o world.o)

$(B)/tests/bpf/%.o: CPPFLAGS_ALL += -DTRIB_NVAL=832 \
	-DTRIB_BPF_DIR='"build/bpf"' -DTRIB_DRIVE_DIR='"$(B)/tests/bpf/world"'

$(BPF_TEST_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

$(BPF_LIVE_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o \
		$(B)/tests/bpf/world/live.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

$(BPF_POOL_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

$(BPF_POOL_BINS) $(B)/tests/bpf/pool_live $(B)/tests/bpf/pool_mask: $(B)/tests/bpf/world/pool_world.o

$(BPF_REFLEX_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o \
		$(B)/tests/bpf/world/reflex_world.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf -lpthread

$(B)/tests/bpf/world/drive.bpf.o: tests/bpf/world/drive.bpf.c $(wildcard kmod/uapi/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/tests/bpf/threads: $(B)/tests/bpf/threads.o $(B)/tests/bpf/world/drive.o \
		$(BPF_WORLD) $(B)/tests/bpf/world/drive.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.bpf.o,$^) -lbpf -lpthread

CHECK_TESTS += $(B)/tests/bpf/threads
CHECK_TESTS += $(BPF_TEST_BINS) $(BPF_LIVE_BINS) $(BPF_POOL_BINS) $(BPF_REFLEX_BINS)

# The bench is built with the tests, because it drives the same world.
$(B)/tests/bench/relay/relay.o: CPPFLAGS_ALL += -DTRIB_NVAL=832

$(B)/bench-relay: $(B)/tests/bench/relay/relay.o $(B)/tests/bpf/world/drive.o \
		$(BPF_WORLD) $(B)/tests/bpf/world/drive.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.bpf.o,$^) -lbpf -lpthread

BENCH_BINS += $(B)/bench-relay

# The NDN forwarder: a world of its own.
NDN_WORLD := $(addprefix $(B)/tests/bpf/ndn/ndn_,frame.o world.o) \
	$(NDN_LIB)

$(B)/tests/bpf/ndn/ndn_drive.bpf.o: tests/bpf/ndn/ndn_drive.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/tests/bench/ndn/pit.o: CPPFLAGS_ALL += -DTRIB_DRIVE_DIR='"$(B)/tests/bpf/ndn"'

$(B)/bench-pit: $(B)/tests/bench/ndn/pit.o $(NDN_WORLD) \
		$(B)/tests/bpf/ndn/ndn_drive.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.bpf.o,$^) -lbpf $(NDN_LIBS)

BENCH_BINS += $(B)/bench-pit

NDN_BPF_TESTS := $(addprefix $(B)/tests/bpf/ndn/,ndn ndn_ask ndn_live ndn_pit ndn_quota \
	ndn_threads)

$(NDN_BPF_TESTS): %: %.o $(NDN_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf $(NDN_LIBS) -lpthread

CHECK_TESTS += $(NDN_BPF_TESTS)

$(B)/tests/bpf/ndn/ndn_tail: $(B)/tests/bpf/ndn/ndn_tail.o $(BPF_WORLD) $(NDN_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf $(NDN_LIBS)

CHECK_TESTS += $(B)/tests/bpf/ndn/ndn_tail
