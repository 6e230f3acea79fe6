# SPDX-License-Identifier: BSD-2-Clause
# Kernels in user space: codecs for libtrib, sums for tests and a benchmark.

include kernels/Kbuild.kernels

KERNELS_SRC := $(wildcard kernels/cpu.c kernels/codec/codec*.c)
KERNELS_OBJS := $(KERNELS_SRC:%.c=$(B)/%.o)
SUM_OBJS := $(addprefix $(B)/kernels/,cpu.o $(filter sum/%,$(TRIB_KERNELS_OBJS)))

# Products must round where the code says so.
$(filter-out %/cpu.o,$(KERNELS_OBJS)): CFLAGS_ALL += -ffp-contract=off -O3

$(B)/kernels/sum/sum_scalar.o: CFLAGS_ALL += -mgeneral-regs-only
$(foreach l,sse2 avx2 avx512,$(eval $(B)/kernels/sum/sum_$(l).o: \
	CFLAGS_ALL += $$(CFLAGS_kernels/sum/sum_$(l).o)))

CODEC_TESTS := $(addprefix $(B)/tests/unit/kernels/,codec codec_half)
SUM_TESTS := $(addprefix $(B)/tests/unit/kernels/sum_,add convert expand level)

$(CODEC_TESTS): %: %.o $(KERNELS_OBJS)
$(SUM_TESTS): %: %.o $(SUM_OBJS)
$(B)/bench-sum: $(B)/tests/bench/sum.o $(SUM_OBJS)

$(CODEC_TESTS) $(SUM_TESTS) $(B)/bench-sum:
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(CODEC_TESTS) $(SUM_TESTS)
BENCH_BINS += $(B)/bench-sum
