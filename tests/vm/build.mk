# SPDX-License-Identifier: BSD-2-Clause
# Tests that boot Debian's 6.1 kernel.
CHECK_TESTS += tests/vm/bpf-6.1.t tests/vm/netns-6.1.t tests/vm/deliver-6.1.t

# Programs that run there beside the module.
VM_BINS := $(addprefix $(B)/tests/vm/,kfunc family nlfuzz cycles sockfuzz \
	sockcycles)

$(B)/tests/vm/%.o: CPPFLAGS_ALL += -DTEST_VM_DIR='"$(B)/tests/vm"'

$(B)/tests/vm/kfunc.bpf.o: tests/vm/kfunc.bpf.c tests/vm/kfunc.h \
		kmod/uapi/trib_kfunc.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -I. -c -o $@ $<

$(B)/tests/vm/kfunc: $(B)/tests/vm/kfunc.o $(B)/tests/vm/kfunc.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $< -lbpf

GENL_OBJS := $(addprefix $(B)/tests/vm/,family.o genl.o sock_who.o)
$(GENL_OBJS): CPPFLAGS_ALL += $(CLI_CFLAGS)

$(B)/tests/vm/family: $(addprefix $(B)/tests/vm/,family.o genl.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lnl-genl-3 -lnl-3

# Slots, in the world of the BPF tests.
VM_BINS += $(B)/tests/vm/floats

$(B)/tests/vm/floats.o: CPPFLAGS_ALL += -DTRIB_NVAL=832

$(B)/tests/vm/floats: $(B)/tests/vm/floats.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf -lm

$(B)/tests/vm/cycles: $(addprefix $(B)/tests/vm/,cycles.o nlsock.o sockrig.o stress.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

$(B)/tests/vm/nlfuzz: $(addprefix $(B)/tests/vm/,nlfuzz.o nlgen.o nlsock.o nlspec.o \
		sockrig.o stress.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

$(B)/tests/vm/sockfuzz: $(addprefix $(B)/tests/vm/,sockfuzz.o sockops.o \
		sockmsg.o sockspoil.o sockcrowd.o sockevil.o sockhonest.o \
		sockrig.o nlsock.o nlspec.o stress.o) \
		$(addprefix $(B)/tests/lib/,lib_relay.o relay_model.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread

$(B)/tests/vm/sockcycles: $(addprefix $(B)/tests/vm/,sockcycles.o sockrig.o \
		stress.o) $(addprefix $(B)/tests/lib/,lib_relay.o relay_model.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread

SOCK_BINS := $(addprefix $(B)/tests/vm/sock_,sum life mem who mix hold)
VM_BINS += $(SOCK_BINS)

$(SOCK_BINS): %: %.o $(B)/tests/vm/sock_world.o $(B)/libtrib.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(SOCK_LIBS) -lpthread -lm

$(B)/tests/vm/sock_who: $(B)/tests/vm/genl.o
$(B)/tests/vm/sock_who: SOCK_LIBS := -lnl-genl-3 -lnl-3

CHECK_BINS += $(VM_BINS)
CHECK_TESTS += tests/vm/module-build.t tests/vm/module-6.1.t tests/vm/float-6.1.t
CHECK_TESTS += tests/vm/sock-6.1.t tests/vm/libtrib-sock-6.1.t
CHECK_TESTS += tests/vm/stress-6.1.t

# The same on a kernel that looks harder; made once, by scripts/mkkasan.
.PHONY: check-kasan check-long
check-kasan: check-build
	tests/vm/module-kasan.t

# Tests of the VM on the newest kernel that Debian 12 has, not in `make check`.
.PHONY: check-vm-612
check-vm-612:
	TRIB_KERNEL=6.12 TRIB_CHECK_SAN=0 scripts/check tests/vm

# An hour.
check-long: check-build
	tests/vm/module-kasan.t long
