# SPDX-License-Identifier: BSD-2-Clause
# The GPU's tests and bench. `make check` runs the kernels on an emulated GPU, and
# the search for the library; gpu-check and gpu-bench need a GPU.
EMULATED := $(addprefix $(B)/tests/gpu/emulated/,nm.o lanes.o energy.o reduce.o emulator.o)
EMULATED_FLAGS := -DTRIB_GPU_EMULATED -ffp-contract=off -Wno-unknown-pragmas \
	-fsanitize=alignment,bounds,shift -fsanitize-undefined-trap-on-error

# Sanitizers of addresses do not know fibers: its memory traps by itself.
$(B)/tests/gpu/emulated/%.o: SANFLAGS :=

$(B)/tests/gpu/emulated/%.o: kernels/gpu/%.cu
	@mkdir -p $(@D)
	$(CXX) -x c++ -std=c++17 $(WARN) $(CFLAGS) $(CPPFLAGS_ALL) $(EMULATED_FLAGS) -MMD -MP \
		-c -o $@ $<

$(B)/tests/gpu/emulated/%.o: tests/gpu/%.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(WARN) $(CFLAGS) $(CPPFLAGS_ALL) $(EMULATED_FLAGS) -MMD -MP -c -o $@ $<

EMULATED_TESTS := $(addprefix build/tests/gpu/emulated/,vectors reduce)

# The kernel's file and the test have one name.
build/tests/gpu/emulated/%_test.o: tests/gpu/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DTRIB_GPU_EMULATED -c -o $@ $<

$(EMULATED_TESTS): %: %_test.o $(EMULATED) $(NM_OBJS) $(REDUCE_OBJS)
	$(CXX) $(LDFLAGS) -o $@ $(sort $^) -lm

CHECK_TESTS += $(EMULATED_TESTS)

$(B)/tests/gpu/load: $(B)/tests/gpu/load.o $(B)/kernels/gpu/load.o
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -ldl

CHECK_TESTS += $(B)/tests/gpu/load

# A double of a GPU, in place of the library.
$(B)/tests/gpu/double/libtrib-gpu.so: $(GPU_DOUBLE_OBJS) $(B)/tests/lib/gpu/library.o \
		$(NM_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -lpthread -lm

# NCCL's double takes the GPU's double from the program.
$(B)/tests/gpu/double/libnccl.so.2: $(B)/tests/lib/gpu/nccl.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -shared -o $@ $^ -lpthread

CHECK_BINS += $(B)/tests/gpu/double/libnccl.so.2
CHECK_BINS += $(B)/tests/gpu/double/libtrib-gpu.so build/tests/gpu/reduce

# With a GPU.
GPU_TESTS := $(addprefix build/tests/gpu/,vectors reduce bulk ipc)
GPU_PROGRAMS := $(GPU_TESTS) build/tests/gpu/collective build/bench-codec-gpu

$(GPU_TESTS): %: %.o build/kernels/gpu/load.o $(NM_OBJS) $(REDUCE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $(sort $^) -ldl -lm

# Ranks are threads, the relay is a model.
build/tests/gpu/collective.o: tests/unit/lib/compress_threads.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DON_GPU -c -o $@ $<

build/tests/gpu/collective: build/tests/gpu/collective.o $(LIB_UDP_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -ldl -lpthread -lm

build/bench-codec-gpu: build/tests/gpu/bench.o build/kernels/gpu/load.o $(REDUCE_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -ldl -lm

gpu: $(GPU_PROGRAMS)

.PHONY: gpu-check gpu-bench
GPU_FABRIC := build/trib build/tribd build/trib-perf build/libtrib-peer.so.0

gpu-check: gpu $(GPU_FABRIC)
	tests/gpu/gpu.t

gpu-bench: gpu $(GPU_FABRIC)
	tests/gpu/bench
	tests/gpu/bench-collective
	tests/gpu/bench-peers
