# SPDX-License-Identifier: BSD-2-Clause
# Per-packet tests of the BPF objects: each program is a topic, and links the
# world that all of them share.
BPF_TESTS := admission deliver need relay slot
BPF_TEST_BINS := $(BPF_TESTS:%=$(B)/tests/bpf/%)
BPF_WORLD := frame trees world

$(B)/tests/bpf/%.o: CPPFLAGS_ALL += -DTRIB_NVAL=832 \
	-DTRIB_BPF_DIR='"build/bpf"'

$(BPF_TEST_BINS): $(B)/tests/bpf/%: $(B)/tests/bpf/%.o \
		$(BPF_WORLD:%=$(B)/tests/bpf/%.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf

CHECK_TESTS += $(BPF_TEST_BINS)
