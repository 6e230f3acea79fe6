# SPDX-License-Identifier: BSD-2-Clause
# Tests of userspace/peer/boot.
PEER_BOOT_SRC := $(wildcard userspace/peer/boot/*.c) userspace/peer/error.c
PEER_BOOT_OBJS := $(PEER_BOOT_SRC:%.c=$(B)/%.o)
PEER_BOOT_TESTS := $(addprefix $(B)/tests/unit/peer/,boot boot_death boot_hostile)

$(PEER_BOOT_TESTS): %: %.o $(B)/tests/unit/peer/boot_rig.o $(PEER_BOOT_OBJS) $(BASE_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lpthread

CHECK_TESTS += $(PEER_BOOT_TESTS)

# The same under ThreadSanitizer.
PEER_BOOT_TSAN := $(PEER_BOOT_SRC) $(addprefix userspace/base/,addr.c text.c) \
	tests/unit/peer/boot_rig.c

$(B)/tests/unit/peer/boot_tsan: tests/unit/peer/boot.c $(PEER_BOOT_TSAN) \
		$(wildcard userspace/peer/boot/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread $(CPPFLAGS_ALL) -o $@ $< \
		$(PEER_BOOT_TSAN) -lpthread

ifneq ($(SAN),1)
CHECK_TESTS += $(B)/tests/unit/peer/boot_tsan
endif
