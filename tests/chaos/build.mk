# SPDX-License-Identifier: BSD-2-Clause
# Chaos: a rank that joins again after every error.
$(B)/tests/chaos/rank: $(B)/tests/chaos/rank.o $(B)/userspace/perf/oracle.o $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $< $(B)/userspace/perf/oracle.o -L$(B) -ltrib -lm \
		-Wl,-rpath,'$$ORIGIN/../..'

CHECK_BINS += $(B)/tests/chaos/rank
CHECK_TESTS += tests/chaos/chaos.t

# make chaos [SEED=n] [MINUTES=m] [FAULT=kind,...] [WITHOUT=kind,...] [RECORD=1]
.PHONY: chaos
chaos: all $(B)/tests/chaos/rank
	tests/chaos/chaos $(if $(SEED),--seed $(SEED)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(FAULT),--fault $(FAULT)) \
		$(if $(WITHOUT),--without $(WITHOUT)) $(if $(RECORD),--record)
