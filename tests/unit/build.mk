# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of single files: each links what it names.

$(addprefix $(B)/tests/unit/daemon/,session session_inner session_tree): \
		$(B)/tests/unit/daemon/%: $(B)/tests/unit/daemon/%.o $(BASE_LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

$(B)/tests/unit/daemon/join: $(B)/tests/unit/daemon/join.o \
		$(addprefix $(B)/userspace/daemon/,session/join.o session/join_out.o \
		tree/secret.o) \
		$(BASE_LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

$(B)/tests/unit/daemon/attach: $(B)/tests/unit/daemon/attach.o $(BASE_LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(DAEMON_PURE_UNITS)

CHECK_TESTS += $(addprefix tests/unit/,check.t install.t lint.t)

# The module's: everything of kmod/ that is not the kernel's.
$(B)/tests/unit/kmod/call: $(B)/tests/unit/kmod/call.o $(B)/kmod/kfunc/call.o \
		$(SUM_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(B)/tests/unit/kmod/call

$(B)/tests/unit/kmod/sock_%: $(B)/tests/unit/kmod/sock_%.o $(B)/kmod/sock/check/%.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(addprefix $(B)/tests/unit/kmod/sock_,limit place want)
