# SPDX-License-Identifier: BSD-2-Clause
# NDN packets: a static library for whoever speaks NDN, who links NDN_LIB and
# NDN_LIBS.
NDN_LIB := $(B)/userspace/ndn/packet/libndn.a
NDN_LIBS := -lsodium

$(NDN_LIB): $(patsubst %.c,$(B)/%.o,$(wildcard userspace/ndn/packet/*.c))
	@rm -f $@
	$(AR) rcs $@ $^

ALL += $(NDN_LIB)

NDN_UNITS := $(addprefix $(B)/tests/unit/ndn/,tlv name packet encode view)

$(NDN_UNITS): %: %.o $(NDN_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(NDN_LIBS)

CHECK_TESTS += $(NDN_UNITS)

# For tests/ndn, where another implementation is asked.
$(B)/tests/ndn/ndn_tool: $(B)/tests/ndn/ndn_tool.o $(NDN_LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(NDN_LIBS)

CHECK_BINS += $(B)/tests/ndn/ndn_tool
CHECK_TESTS += tests/ndn/interop.t
