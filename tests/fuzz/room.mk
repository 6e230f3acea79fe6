# SPDX-License-Identifier: BSD-2-Clause
# Fuzzers. They are built by clang, whose libFuzzer drives them, whatever CC is.
FUZZ_CFLAGS := -std=gnu11 $(WARN) -O2 -g $(CPPFLAGS_ALL) -fsanitize=fuzzer \
	-fno-omit-frame-pointer

FUZZ_XDP := $(addprefix tests/fuzz/,fuzz_xdp.c gen.c rig.c model_admit.c \
	model_grow.c model_local.c model_send.c model_tree.c mutate.c)

build/fuzz-xdp: $(FUZZ_XDP) tests/fuzz/room.mk $(wildcard tests/fuzz/*.h kmod/uapi/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -DTRIB_NVAL=832 -DTRIB_BPF_DIR='"build/bpf"' \
		-o $@ $(FUZZ_XDP) -lbpf

CHECK_BINS += build/fuzz-xdp
CHECK_TESTS += tests/fuzz/xdp.t
