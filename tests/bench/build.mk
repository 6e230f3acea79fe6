# SPDX-License-Identifier: BSD-2-Clause
# The peer of the benches. Only they need libgloo-dev.
GLOO_OBJS := $(B)/tests/bench/rivals/gloo.o $(addprefix \
	$(B)/userspace/perf/,oracle.o oracle_types.o opts.o measure.o report.o)

$(B)/tests/bench/rivals/gloo.o: CPPFLAGS_ALL += -Iuserspace/perf

$(B)/bench-gloo: $(GLOO_OBJS)
	$(CXX) $(LDFLAGS_ALL) -o $@ $^ -lgloo -lpthread -lm

BENCH_BINS += $(B)/bench-gloo

# A stream through the NDN forwarder.
$(B)/bench-stream: $(B)/tests/bench/ndn/stream.o $(NDN_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(NDN_LIBS)

BENCH_BINS += $(B)/bench-stream

# The module's cost in the VM is measured with a program of its tests.
BENCH_BINS += $(B)/tests/vm/kfunc/kfunc.bpf.o

# Samples for trib-train's peer in PyTorch.
$(B)/bench-train-data: $(B)/tests/bench/train/train_data.o \
		$(addprefix $(B)/userspace/perf/train/,task.o task_loud.o task_spirals.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

BENCH_BINS += $(B)/bench-train-data

# XDP alone: a rank that neither quantises nor reads.
$(B)/bench-datapath: $(B)/tests/bench/reflex/datapath.o $(B)/libtrib.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread -lm

BENCH_BINS += $(B)/bench-datapath
