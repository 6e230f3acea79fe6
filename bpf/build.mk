# SPDX-License-Identifier: BSD-2-Clause
# The BPF objects: the relay, one for each number of values that a slot holds,
# and the NDN forwarder.
BPF_OBJS := $(B)/bpf/trib-352.bpf.o $(B)/bpf/trib-832.bpf.o
# Store order is the architecture's own, so objects are for one.
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))
BPF_HEADERS := $(wildcard bpf/*/*.h kmod/uapi/*.h)
# v3: 32-bit jumps, atomics with results; 6.1 and newer have them.
BPF_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -O2 -g \
	-mcpu=v3 --target=bpf -D__TARGET_ARCH_$(BPF_ARCH) -Ikmod -Ibpf -I. \
	-I$(ARCH_INCLUDE)

$(B)/bpf/trib-%.bpf.o: bpf/trib.bpf.c $(BPF_HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -DTRIB_NVAL=$* -c -o $@.tmp $<
	$(LLVM_STRIP) -g $@.tmp
	mv $@.tmp $@

$(B)/bpf/ndn.bpf.o: bpf/ndn.bpf.c $(BPF_HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@.tmp $<
	$(LLVM_STRIP) -g $@.tmp
	mv $@.tmp $@

BPF_OBJS += $(B)/bpf/ndn.bpf.o

ALL += $(BPF_OBJS)
CHECK_BINS += $(BPF_OBJS)
