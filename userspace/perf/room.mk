# SPDX-License-Identifier: BSD-2-Clause
# trib-perf, trib-train and their tests. -O3 where loops are to be vectors.
PERF_SHARED := $(addprefix $(B)/userspace/perf/,oracle.o opts.o measure.o \
	report.o)
PERF_OBJS := $(PERF_SHARED) $(B)/userspace/perf/perf.o

$(B)/userspace/perf/oracle.o: CFLAGS += -O3

$(B)/trib-perf: $(PERF_OBJS) $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $(PERF_OBJS) -L$(B) -ltrib -lm \
		-Wl,-rpath,'$$ORIGIN'

# The same programs on a test double of libtrib: never shipped.
$(B)/tests/unit/trib-perf-double: $(PERF_OBJS) $(B)/tests/unit/trib_double.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm -lpthread

$(B)/tests/unit/unit_perf_oracle: $(B)/tests/unit/unit_perf_oracle.o \
		$(B)/userspace/perf/oracle.o
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm

$(B)/tests/unit/unit_perf_oracle.o: CPPFLAGS_ALL += -Iuserspace/perf

CHECK_TESTS += $(B)/tests/unit/unit_perf_oracle tests/unit/perf_run
CHECK_BINS += $(B)/tests/unit/trib-perf-double
