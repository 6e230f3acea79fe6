# SPDX-License-Identifier: BSD-2-Clause
# The module's summation in user space: for its tests and its bench.

include kernels/sum/Kbuild.sum

SUM_OBJS := $(addprefix $(B)/kernels/sum/,$(TRIB_SUM_OBJS))

$(B)/kernels/sum/sum_scalar.o: CFLAGS_ALL += -mgeneral-regs-only
$(B)/kernels/sum/sum_sse2.o: CFLAGS_ALL += $(TRIB_SUM_SSE2)
$(B)/kernels/sum/sum_avx2.o: CFLAGS_ALL += $(TRIB_SUM_AVX2)
$(B)/kernels/sum/sum_avx512.o: CFLAGS_ALL += $(TRIB_SUM_AVX512)

SUM_TESTS := $(addprefix $(B)/tests/unit/kernels/sum_,add convert expand level)

$(SUM_TESTS): %: %.o $(SUM_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

CHECK_TESTS += $(SUM_TESTS)

$(B)/bench-sum: $(B)/tests/bench/sum.o $(SUM_OBJS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

BENCH_BINS += $(B)/bench-sum
