# SPDX-License-Identifier: BSD-2-Clause
# Tests that run in the VM, and their programs. VM_RIG is these programs' shared
# piece.
VM := $(B)/tests/vm
VM_RIG := $(addprefix $(VM)/rig/,sockrig.o stress.o)
VM_RELAY := $(B)/tests/lib/relay_thread.o $(RELAY_MODEL_OBJS)
VM_SOCK := $(addprefix $(VM)/sock/sock_,sum life mem user access mix hold share cells)
VM_BINS := $(addprefix $(VM)/,kfunc/kfunc kfunc/floats netlink/family \
	netlink/nlfuzz life/cycles sock/sockcycles sockfuzz/sockfuzz) $(VM_SOCK)

$(VM)/kfunc/kfunc.bpf.o: tests/vm/kfunc/kfunc.bpf.c tests/vm/kfunc/kfunc.h \
		kmod/uapi/trib_kfunc.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -I. -c -o $@ $<

$(VM)/kfunc/kfunc.o: CPPFLAGS_ALL += -DTEST_VM_DIR='"$(VM)"'

$(VM)/kfunc/kfunc: $(VM)/kfunc/kfunc.o $(VM)/kfunc/kfunc.bpf.o
	$(CC) $(LDFLAGS_ALL) -o $@ $< -lbpf

# Uses the world of the BPF tests.
$(VM)/kfunc/floats.o: CPPFLAGS_ALL += -DTRIB_NVAL=832

$(VM)/kfunc/floats: $(VM)/kfunc/floats.o $(BPF_WORLD)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lbpf -lm

$(addprefix $(VM)/,netlink/family.o netlink/genl.o sock/sock_access.o): \
	CPPFLAGS_ALL += $(CLI_CFLAGS)

$(VM)/netlink/family: $(addprefix $(VM)/netlink/,family.o genl.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lnl-genl-3 -lnl-3

$(VM)/netlink/nlfuzz: $(addprefix $(VM)/netlink/,nlfuzz.o nlgen.o nlsock.o \
		nlspec.o) $(VM_RIG)
$(VM)/life/cycles: $(VM)/life/cycles.o $(VM)/netlink/nlsock.o $(VM_RIG)
$(VM)/sock/sockcycles: $(VM)/sock/sockcycles.o $(VM_RIG) $(VM_RELAY)
$(VM)/sockfuzz/sockfuzz: $(addprefix $(VM)/sockfuzz/sock,fuzz.o ops.o msg.o \
		spoil.o crowd.o cells.o evil.o honest.o) \
		$(addprefix $(VM)/netlink/,nlsock.o nlspec.o) $(VM_RIG) $(VM_RELAY)

$(addprefix $(VM)/,netlink/nlfuzz life/cycles sock/sockcycles sockfuzz/sockfuzz):
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread

$(VM_SOCK): %: %.o $(VM)/sock/sock_star.o $(B)/libtrib.a
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(SOCK_LIBS) -lpthread -lm

$(VM)/sock/old_module.so: $(VM)/sock/old_module.o
	$(CC) $(LDFLAGS_ALL) -shared -o $@ $<

$(VM)/sock/sock_share: $(VM_RIG)
$(VM)/sock/sock_access: $(VM)/netlink/genl.o
$(VM)/sock/sock_access: SOCK_LIBS := -lnl-genl-3 -lnl-3

CHECK_BINS += $(VM_BINS) $(VM)/sock/old_module.so
CHECK_TESTS += $(sort $(wildcard tests/vm/*.t))
