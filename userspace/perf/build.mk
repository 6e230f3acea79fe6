# SPDX-License-Identifier: BSD-2-Clause
# trib-perf, trib-train and their tests. -O3 where loops are to be vectors.
PERF_ORACLE := $(addprefix $(B)/userspace/perf/,oracle.o oracle_types.o)
PERF_SHARED := $(PERF_ORACLE) $(addprefix $(B)/userspace/perf/,opts.o measure.o report.o)
PERF_OBJS := $(PERF_SHARED) $(addprefix $(B)/userspace/perf/,perf.o perf_compress.o \
	perf_device.o perf_ps.o) $(B)/kernels/gpu/load.o

TRAIN_OBJS := $(PERF_ORACLE) $(B)/userspace/perf/opts.o $(patsubst %.c,$(B)/%.o,$(wildcard userspace/perf/train/*.c))
ifeq ($(shell uname -m),x86_64)
TRAIN_OBJS += $(B)/userspace/perf/train/gemm_v3.o
endif

$(B)/userspace/perf/oracle.o: CFLAGS += -O3
# mlp.h says why no sums may be fused.
$(B)/userspace/perf/train/mlp.o: CFLAGS += -O3 -ffp-contract=off
# Vectors wider than the base CPU's are split; nothing passes them along.
$(B)/userspace/perf/train/gemm.o: CFLAGS += -O3 -Wno-psabi -DGEMM=gemm_base

$(B)/userspace/perf/train/gemm_v3.o: userspace/perf/train/gemm.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -O3 -march=x86-64-v3 -DGEMM=gemm_v3 -DGEMM_V3 \
		-fPIC -c -o $@ $<


$(B)/trib-perf: $(PERF_OBJS) $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $(PERF_OBJS) -L$(B) -ltrib -lm -ldl \
		-Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'

$(B)/trib-train: $(TRAIN_OBJS) $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $(TRAIN_OBJS) -L$(B) -ltrib -lm \
		-Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'

ALL += $(B)/trib-perf $(B)/trib-train

# Man pages, where there is something to make them with.
RST2MAN ?= $(shell command -v rst2man)
PERF_MAN := $(if $(RST2MAN),$(B)/man/trib-perf.1 $(B)/man/trib-train.1)

$(PERF_MAN): $(B)/man/%: userspace/perf/%.rst
	@mkdir -p $(@D)
	$(RST2MAN) --strict $< $@

ALL += $(PERF_MAN)

.PHONY: install-perf
install-perf: $(B)/trib-perf $(B)/trib-train $(PERF_MAN)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(B)/trib-perf $(B)/trib-train $(DESTDIR)$(PREFIX)/bin
	$(if $(PERF_MAN),install -d $(DESTDIR)$(PREFIX)/share/man/man1)
	$(if $(PERF_MAN),install -m 644 $(PERF_MAN) \
		$(DESTDIR)$(PREFIX)/share/man/man1)

INSTALL += install-perf

# The same programs on a test double of libtrib: never shipped.
$(B)/tests/unit/perf/trib-perf-double: $(PERF_OBJS) $(B)/tests/lib/libtrib_double.o \
		$(LIB_PS_OBJS) $(BASE_LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIB_PS_LIBS) -lm -lpthread

$(B)/tests/unit/perf/trib-train-double: $(TRAIN_OBJS) \
		$(B)/tests/lib/libtrib_double.o $(LIB_PS_OBJS) $(BASE_LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIB_PS_LIBS) -lm -lpthread

PERF_ORACLE_TESTS := $(addprefix $(B)/tests/unit/perf/,oracle oracle_types)

$(B)/tests/unit/perf/oracle_types: $(REDUCE_OBJS) $(B)/kernels/cpu.o

$(PERF_ORACLE_TESTS): %: %.o $(PERF_ORACLE)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

$(B)/tests/unit/perf/train: $(B)/tests/unit/perf/train.o \
		$(filter %/mlp.o %/gemm.o %/gemm_v3.o %/task.o %/task_loud.o %/task_spirals.o,$(TRAIN_OBJS))
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

$(B)/tests/unit/perf/%.o: CPPFLAGS_ALL += -Iuserspace/perf

CHECK_TESTS += $(PERF_ORACLE_TESTS) \
	$(B)/tests/unit/perf/train tests/unit/perf/perf_run tests/unit/perf/train_run
CHECK_BINS += $(B)/tests/unit/perf/trib-perf-double \
	$(B)/tests/unit/perf/trib-train-double
