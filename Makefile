# SPDX-License-Identifier: BSD-2-Clause
# Builds everything into build/. Each folder's build.mk adds its own targets;
# this file owns the tool chain, the flags and the commands.
#
#	make			build
#	sudo make demo		train on an emulated cluster
#	sudo make test		the tests of a minute
#	sudo make check		run the tests, 15 minutes
#	sudo make check-all	the long ones, too: hours
#	sudo make bench		measure; BENCH="relay link" selects
#	make gpu		compression on the GPU; make gpu-check, gpu-bench
#	sudo make chaos		train while faults come: tests/chaos
#	sudo make fuzz		random input to every parser: tests/fuzz
#	make SAN=1		user space with ASan and UBSan, into build/san
#	sudo make install	into PREFIX (/usr/local), DESTDIR is honoured

ifeq ($(SAN),1)
B := build/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
else
B := build
endif

VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= gcc
CXX ?= g++
CLANG ?= $(or $(shell command -v clang-19),$(shell command -v clang),clang-19)
LLVM_STRIP ?= $(or $(shell command -v llvm-strip-19),$(shell command -v llvm-strip),llvm-strip-19)
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)

# This machine's <asm/...>, for the BPF compiler.
ARCH_INCLUDE := /usr/include/$(shell $(CC) -dumpmachine 2>/dev/null)

WARN := -Wall -Wextra -Werror
CPPFLAGS_ALL := -Ikmod -Iuserspace -Iuserspace/lib -I. -I$(B) -D_GNU_SOURCE \
	-DTRIB_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g
CFLAGS_ALL = -std=gnu11 $(WARN) $(CFLAGS) $(SANFLAGS) $(CPPFLAGS_ALL) -MMD -MP
LDFLAGS_ALL = $(LDFLAGS) $(SANFLAGS)

# Built-in rules would try to link a .d file that is older than its source.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

# Rooms append to these.
ALL :=			# what plain `make` builds
CHECK_TESTS :=		# TAP programs and scripts, run by `make check`
CHECK_BINS :=		# what they need built
BENCH_BINS :=		# what benches need built
SAN_TESTS :=		# more of them, to be run when SAN=1 is built
SAN_BINS :=		# what these need built
INSTALL :=		# install targets

.PHONY: all test check check-all bench demo setup clean install lint \
	check-build check-list check-san bench-build FORCE
all:

# Fragments that others build on come first.
include bpf/build.mk kernels/build.mk kernels/gpu/build.mk kmod/build.mk \
	kmod/engine/build.mk
include $(addprefix userspace/,base/build.mk ndn/packet/build.mk \
	ndn/app/build.mk peer/build.mk lib/build.mk plan/build.mk daemon/build.mk \
	ps/build.mk cli/build.mk perf/build.mk)
include scripts/wire/build.mk $(sort $(wildcard tests/*/build.mk))

all: $(ALL)

# Stops before anything is compiled if a package is missing. The goals that are
# left out install it first, or compile nothing.
ifneq ($(filter-out test check check-all demo bench setup clean lint fuzz,$(or \
	$(MAKECMDGOALS),all)),)
MISSING := $(shell CC="$(CC)" CXX="$(CXX)" CLANG="$(CLANG)" \
	BPFTOOL="$(BPFTOOL)" scripts/setup --check-build 2>&1)
$(if $(MISSING),$(error $(MISSING)))
endif

setup:
	scripts/setup

test:
	scripts/check --quick

check:
	scripts/check

check-all:
	scripts/check --all

# For scripts/check: what its tests need, and their names in a file. With SAN=1
# these are the unit tests, and those that want such a build.
check-build: all $(CHECK_BINS) $(filter $(B)/%,$(CHECK_TESTS)) check-list

SAN_TESTS += $(filter $(B)/tests/unit/%,$(CHECK_TESTS))
check-san: CHECK_TESTS := $(SAN_TESTS)
check-san: $(SAN_BINS) $(filter $(B)/%,$(SAN_TESTS)) check-list

check-list: $(B)/check-list

$(B)/check-list: FORCE
	@mkdir -p $(@D)
	@for t in $(CHECK_TESTS); do echo $$t; done >$@

bench:
	scripts/bench $(BENCH)

# For scripts/bench.
bench-build: all $(BENCH_BINS)

demo:
	scripts/demo

lint:
	scripts/lint

install: all $(INSTALL)

clean:
	rm -rf build

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -fPIC -c -o $@ $<

$(B)/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(WARN) $(CFLAGS) $(SANFLAGS) $(CPPFLAGS_ALL) -MMD -MP -c -o $@ $<

# build/kasan* hold kernels, build/pypi foreign programs: their .d files are not for make.
-include $(shell find $(B) \( -path '$(B)/kasan*' -o -path '$(B)/pypi' \) -prune -o -name '*.d' -print 2>/dev/null)
