# SPDX-License-Identifier: BSD-2-Clause
# Chaos: a rank that joins again after every error.
$(B)/tests/chaos/rank: $(B)/tests/chaos/rank.o $(PERF_ORACLE) $(B)/libtrib.so
	$(CC) $(LDFLAGS_ALL) -o $@ $< $(PERF_ORACLE) -L$(B) -ltrib -lm \
		-Wl,-rpath,'$$ORIGIN/../..'

# A clock that can be stepped.
$(B)/tests/chaos/clock.so: $(B)/tests/chaos/clock.o
	$(CC) $(LDFLAGS_ALL) -shared -o $@ $<

CHECK_BINS += $(B)/tests/chaos/clock.so $(B)/tests/chaos/rank
CHECK_TESTS += tests/chaos/chaos.t

# make chaos [SEED=n] [MINUTES=m] [FAULT=kind,...] [WITHOUT=kind,...]
# make chaos SEEDS=1-50 [RECORD=1] ...: one after the other
.PHONY: chaos
chaos: all $(B)/tests/chaos/rank $(B)/tests/chaos/clock.so
	tests/chaos/$(if $(SEEDS),series --seeds $(SEEDS) $(if $(RECORD),--record),chaos) \
		$(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)) \
		$(if $(FAULT),--fault $(FAULT)) $(if $(WITHOUT),--without $(WITHOUT))
