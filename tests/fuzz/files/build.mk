# SPDX-License-Identifier: BSD-2-Clause
# Fuzzers of what programs read from files.
# One source for three readers, numbered in its table.
FUZZ_PLAN_SRC := tests/fuzz/files/mutate.c $(wildcard userspace/plan/*/*.c) $(BASE_SRC)

$(FUZZ_OBJ)/fuzz-reads-%.o: tests/fuzz/files/fuzz_plan.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_SAN_CFLAGS) -DFUZZ_READS=$* -MMD -MP -c -o $@ $<

$(call fuzz-program,topology,$(FUZZ_PLAN_SRC),$(FUZZ_OBJ)/fuzz-reads-0.o $(PLAN_LIBS))
$(call fuzz-program,jobs,$(FUZZ_PLAN_SRC) tests/fuzz/files/early_fork.c,$(FUZZ_OBJ)/fuzz-reads-1.o \
	$(PLAN_LIBS) $(addprefix -Wl$(comma)--wrap=,fork socketpair waitpid))
$(call fuzz-program,plan,$(FUZZ_PLAN_SRC),$(FUZZ_OBJ)/fuzz-reads-2.o $(PLAN_LIBS))

FUZZ_APPLY := tests/fuzz/files/fuzz_apply.c tests/fuzz/files/mutate.c \
	$(filter-out %_local.c %/fanout.c,$(wildcard userspace/cli/apply/apply*.c)) \
	userspace/cli/core/cli.c userspace/cli/out/out.c userspace/cli/parse/parse_text.c \
	userspace/plan/output/plan_read.c userspace/plan/doc/doc.c $(BASE_SRC)

$(call fuzz-program,apply,$(FUZZ_APPLY),-ljansson -lm)

FUZZ_LOCAL := tests/fuzz/files/fuzz_local.c tests/fuzz/files/mutate.c \
	userspace/cli/core/cli.c userspace/cli/out/out.c $(BASE_SRC)

$(call fuzz-program,local,$(FUZZ_LOCAL),-Wl$(comma)--wrap=ps_jobs_dir$(comma)--wrap=nanosleep -ljansson)

FUZZ_STATE := tests/fuzz/files/fuzz_state.c tests/fuzz/files/mutate.c \
	$(filter-out tests/fuzz/fuzz_netlink.c userspace/daemon/netlink/%,$(FUZZ_NETLINK)) \
	userspace/daemon/state/state_load.c userspace/daemon/ndn/ndnd_state.c \
	$(filter-out $(BASE_LIBTRIB_SRC) userspace/base/name.c,$(BASE_SRC))

$(call fuzz-program,state,$(FUZZ_STATE),-lnl-3 -lnl-genl-3 -lsodium -ljansson)

FUZZ_PS_FILE := tests/fuzz/files/fuzz_ps_file.c tests/fuzz/files/mutate.c \
	$(wildcard userspace/ps/sum/*.c) $(BASE_SRC)

$(call fuzz-program,ps-file,$(FUZZ_PS_FILE),$(SUM_OBJS) -Wl$(comma)--wrap=json_write -ljansson)

FUZZ_NDN_FILE := tests/fuzz/files/fuzz_ndn_file.c tests/fuzz/files/mutate.c \
	$(filter-out %/link.c,$(wildcard userspace/ndn/app/*.c userspace/ndn/app/ps/*.c)) \
	$(wildcard userspace/ndn/packet/*.c) $(BASE_SRC)

$(call fuzz-program,ndn-file,$(FUZZ_NDN_FILE),-Wl$(comma)--wrap=ndn_key_read -ljansson -lsodium -lm)

FUZZ_CODEC := tests/fuzz/files/fuzz_codec.c \
	$(addprefix userspace/cli/codec/nm_,block.c file.c stats.c)

$(call fuzz-program,codec,$(FUZZ_CODEC),$(sort $(KERNELS_OBJS) $(NM_OBJS)) -ljansson -lm)

FUZZ_SAVED := $(addprefix tests/,fuzz/files/fuzz_saved.c lib/compress_world.c \
	lib/relay_model.c lib/engine_world.c lib/engine_script.c model/node.c model/values.c model/cells.c) \
	$(addprefix tests/lib/gpu/,double.c kernels.c memory.c) \
	$(LIB_SRC) $(PEER_BOOT_SRC) $(ENGINE_SRC) $(BASE_LIBTRIB_SRC)

$(call fuzz-program,saved,$(FUZZ_SAVED),$(sort $(KERNELS_OBJS) $(NM_OBJS) $(SUM_OBJS) $(REDUCE_OBJS)) \
	-Wl$(comma)--wrap=clock_gettime$(comma)--wrap=trib_gpu_load -lpthread -lm)

CHECK_BINS += $(addprefix build/fuzz-,codec saved topology jobs plan apply local state ps-file ndn-file)
