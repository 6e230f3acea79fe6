# SPDX-License-Identifier: BSD-2-Clause
# Unit tests of single files of tribd: each links what it names.

$(B)/tests/unit/unit_session $(B)/tests/unit/unit_session_tree: \
		$(B)/tests/unit/%: $(B)/tests/unit/%.o \
		$(B)/userspace/daemon/session.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

$(B)/tests/unit/unit_join: $(B)/tests/unit/unit_join.o \
		$(addprefix $(B)/userspace/daemon/,join.o join_out.o session.o)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(addprefix $(B)/tests/unit/,unit_session unit_session_tree \
	unit_join)

# The module's: everything of kmod/ that is not the kernel's.
$(B)/tests/unit/unit_module_call: $(B)/tests/unit/unit_module_call.o \
		$(B)/kmod/call.o $(SUM_OBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(B)/tests/unit/unit_module_call

$(B)/tests/unit/unit_sock_%: $(B)/tests/unit/unit_sock_%.o $(B)/kmod/sock/%.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^

CHECK_TESTS += $(addprefix $(B)/tests/unit/unit_sock_,place want)
