# SPDX-License-Identifier: BSD-2-Clause
# trib, its unit tests, man pages and completion.

CLI_SRC := $(wildcard userspace/cli/*.c)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
# What the unit tests link: everything but main().
CLI_PARTS := $(filter-out $(B)/userspace/cli/main.o,$(CLI_OBJ))
CLI_CFLAGS := $(shell pkg-config --cflags libnl-3.0 jansson 2>/dev/null)
CLI_LIBS := $(shell pkg-config --libs libnl-3.0 jansson 2>/dev/null || \
	echo -lnl-3 -ljansson)

$(CLI_OBJ): CPPFLAGS_ALL += $(CLI_CFLAGS)

$(B)/trib: $(CLI_OBJ)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

ALL += $(B)/trib

CLI_UNITS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,\
	$(wildcard tests/unit/unit_cli_*.c))

$(CLI_UNITS:%=%.o): CPPFLAGS_ALL += $(CLI_CFLAGS)

$(CLI_UNITS): %: %.o $(CLI_PARTS)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS) -lpthread

CHECK_TESTS += $(CLI_UNITS)
