# SPDX-License-Identifier: BSD-2-Clause
# Kernels in user space: codecs for libtrib, sums for tests and a benchmark.

include kernels/Kbuild.kernels

KERNELS_SRC := $(wildcard kernels/cpu.c kernels/codec/codec*.c)
KERNELS_OBJS := $(KERNELS_SRC:%.c=$(B)/%.o)
SUM_OBJS := $(addprefix $(B)/kernels/,cpu.o sum/words.o \
	$(filter sum/%,$(TRIB_KERNELS_OBJS)))

# Products must round where the code says so.
$(filter-out %/cpu.o,$(KERNELS_OBJS)): CFLAGS_ALL += -ffp-contract=off -O3

# Vectors.
$(B)/kernels/sum/words.o: CFLAGS_ALL += -O3
$(B)/kernels/sum/sum_scalar.o: CFLAGS_ALL += -mgeneral-regs-only
$(foreach l,sse2 avx2 avx512,$(eval $(B)/kernels/sum/sum_$(l).o: \
	CFLAGS_ALL += $$(CFLAGS_kernels/sum/sum_$(l).o)))

CODEC_TESTS := $(addprefix $(B)/tests/unit/kernels/,codec codec_half)
SUM_TESTS := $(addprefix $(B)/tests/unit/kernels/sum_,add convert expand level)

$(CODEC_TESTS): %: %.o $(KERNELS_OBJS)
$(SUM_TESTS): %: %.o $(SUM_OBJS)
$(B)/bench-sum: $(B)/tests/bench/codec/sum.o $(SUM_OBJS)

$(CODEC_TESTS) $(SUM_TESTS) $(B)/bench-sum:
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(CODEC_TESTS) $(SUM_TESTS)
BENCH_BINS += $(B)/bench-sum

# Compression. A level's file chooses its instruction set by pragma; the scalar one
# has the flags of ordinary code.
NM_SRC := $(wildcard kernels/nm/*.c) kernels/gpu/load.c
NM_OBJS := $(NM_SRC:%.c=$(B)/%.o) $(B)/kernels/cpu.o

$(filter $(B)/kernels/nm/%,$(NM_OBJS)): CFLAGS_ALL += -ffp-contract=off
$(addprefix $(B)/kernels/nm/nm_,avx2.o avx512.o): CFLAGS_ALL += -O3

NM_TESTS := $(addprefix $(B)/tests/unit/kernels/nm/nm_,expand lanes rand select spec)

$(NM_TESTS): %: %.o $(NM_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(NM_TESTS)

# Reductions of whole arrays, for peers: user space only.
REDUCE_SRC := $(wildcard kernels/reduce/*.c)
REDUCE_OBJS := $(REDUCE_SRC:%.c=$(B)/%.o) $(B)/kernels/cpu.o

$(filter $(B)/kernels/reduce/%,$(REDUCE_OBJS)): CFLAGS_ALL += -ffp-contract=off -O3

$(B)/tests/unit/kernels/reduce: %: %.o $(REDUCE_OBJS)
$(B)/bench-reduce: $(B)/tests/bench/codec/reduce.o $(REDUCE_OBJS)

$(B)/tests/unit/kernels/reduce $(B)/bench-reduce:
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(B)/tests/unit/kernels/reduce
BENCH_BINS += $(B)/bench-reduce

# The peers, too, may use all that this machine has.
$(B)/tests/bench/codec/peers.o: CFLAGS_ALL += -O3 -march=native

$(B)/bench-codec: $(addprefix $(B)/tests/bench/codec/,speed.o peers.o table.o) \
		$(sort $(NM_OBJS) $(KERNELS_OBJS))
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

BENCH_BINS += $(B)/bench-codec
