# SPDX-License-Identifier: BSD-2-Clause
# Fuzzers of what programs read from files.
FUZZ_JSON := $(shell pkg-config --cflags jansson 2>/dev/null)

# One source for three readers, numbered in its table.
FUZZ_PLAN_SRC := tests/fuzz/files/fuzz_plan.c tests/fuzz/files/mutate.c $(wildcard userspace/plan/*/*.c) $(BASE_SRC)
FUZZ_READS_topology := 0
FUZZ_READS_jobs := 1
FUZZ_READS_plan := 2

$(addprefix build/fuzz-,topology jobs plan): build/fuzz-%: $(FUZZ_PLAN_SRC) \
		$(wildcard userspace/plan/*.h userspace/plan/*/*.h userspace/base/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) $(FUZZ_JSON) -DFUZZ_READS=$(FUZZ_READS_$*) -o $@ \
		$(FUZZ_PLAN_SRC) $(PLAN_LIBS)

FUZZ_APPLY := tests/fuzz/files/fuzz_apply.c tests/fuzz/files/mutate.c \
	$(filter-out %_local.c %/fanout.c,$(wildcard userspace/cli/apply/apply*.c)) \
	userspace/cli/core/cli.c userspace/cli/out/out.c userspace/cli/parse/parse_text.c \
	userspace/plan/output/plan_read.c userspace/plan/doc/doc.c $(BASE_SRC)

build/fuzz-apply: $(FUZZ_APPLY) $(wildcard userspace/cli/*/*.h userspace/plan/*.h userspace/base/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) $(CLI_CFLAGS) -o $@ $(FUZZ_APPLY) -ljansson -lm

FUZZ_LOCAL := tests/fuzz/files/fuzz_local.c tests/fuzz/files/mutate.c \
	userspace/cli/core/cli.c userspace/cli/out/out.c $(BASE_SRC)

build/fuzz-local: $(FUZZ_LOCAL) $(wildcard userspace/cli/apply/*local.c userspace/cli/*/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) $(CLI_CFLAGS) -Wl,--wrap=ps_jobs_dir,--wrap=nanosleep -o $@ \
		$(FUZZ_LOCAL) -ljansson

FUZZ_STATE := tests/fuzz/files/fuzz_state.c tests/fuzz/files/mutate.c \
	$(filter-out tests/fuzz/fuzz_netlink.c userspace/daemon/netlink/%,$(FUZZ_NETLINK)) \
	userspace/daemon/state/state_load.c userspace/daemon/ndn/ndnd_state.c \
	$(filter-out $(BASE_LIBTRIB_SRC) userspace/base/name.c,$(BASE_SRC))

build/fuzz-state: $(FUZZ_STATE) userspace/daemon/state/state.c \
		$(wildcard userspace/daemon/*.h userspace/daemon/*/*.h userspace/base/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) -I/usr/include/libnl3 -o $@ \
		$(FUZZ_STATE) -lnl-3 -lnl-genl-3 -lsodium -ljansson

FUZZ_PS_FILE := tests/fuzz/files/fuzz_ps_file.c tests/fuzz/files/mutate.c \
	$(wildcard userspace/ps/sum/*.c) $(BASE_SRC)

build/fuzz-ps-file: $(FUZZ_PS_FILE) $(wildcard userspace/ps/sum/*.h userspace/base/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) $(FUZZ_JSON) -Wl,--wrap=json_write -o $@ $(FUZZ_PS_FILE) -ljansson

FUZZ_NDN_FILE := tests/fuzz/files/fuzz_ndn_file.c tests/fuzz/files/mutate.c \
	$(filter-out %/link.c,$(wildcard userspace/ndn/app/*.c userspace/ndn/app/ps/*.c)) \
	$(wildcard userspace/ndn/packet/*.c) $(BASE_SRC)

build/fuzz-ndn-file: $(FUZZ_NDN_FILE) $(wildcard userspace/ndn/*/*.h userspace/ndn/*/*/*.h userspace/base/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) $(FUZZ_JSON) -Wl,--wrap=ndn_key_read -o $@ $(FUZZ_NDN_FILE) \
		-ljansson -lsodium -lm

CHECK_BINS += $(addprefix build/fuzz-,topology jobs plan apply local state ps-file ndn-file)
