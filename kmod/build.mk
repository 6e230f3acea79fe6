# SPDX-License-Identifier: GPL-2.0
# trib.ko, built in a copy of the sources, because the kernel's build writes beside
# them.
#
#	make module		build/module/trib.ko, for build/kdir (Debian's 6.1)
#	make module KDIR=/lib/modules/VERSION/build
#	make module TRIB_KERNEL=6.12	for another series of Debian's kernels,
#				fetched by scripts/mkkdir; build/module-6.12
#	make module-check	the same with W=1 and sparse, and no output allowed
#	sudo make module-install KDIR=...
MODULE_SERIES := $(addprefix -,$(TRIB_KERNEL))
MODULE_DIR := build/module$(MODULE_SERIES)
MODULE_CHECK_DIR := build/module-check$(MODULE_SERIES)
KDIR ?= build/kdir$(MODULE_SERIES)

MODULE_SRC := Kbuild $(wildcard kmod/*.[ch] kmod/*/*.[ch] kmod/*/*/*.[ch] kmod/*/Kbuild.* \
	kernels/*.[ch] kernels/*/*.[ch] kernels/Kbuild.*)

$(addprefix $(MODULE_DIR)/,$(MODULE_SRC)): $(MODULE_DIR)/%: %
	@install -D -p -m 644 $< $@

$(addprefix $(MODULE_CHECK_DIR)/,$(MODULE_SRC)): $(MODULE_CHECK_DIR)/%: %
	@install -D -p -m 644 $< $@

# Our make's flags and variables must not reach the kernel's build.
KBUILD_MAKE = MAKEFLAGS= MFLAGS= $(MAKE) --no-print-directory -j2 -C $(KDIR) \
	TRIB_VERSION=$(VERSION)

.PHONY: module module-check module-install module-kdir
# Fetch the kernel that the tests boot, if that is the one to build for.
module-kdir:
	@case "$(KDIR)" in \
	build/kdir) scripts/mkkdir ;; \
	build/kdir-*) scripts/mkkdir --headers --series $(KDIR:build/kdir-%=%) ;; \
	esac

module: $(MODULE_DIR)/trib.ko

$(MODULE_DIR)/trib.ko: $(addprefix $(MODULE_DIR)/,$(MODULE_SRC)) FORCE | module-kdir
	$(KBUILD_MAKE) -s M=$(CURDIR)/$(MODULE_DIR) modules
	@readelf -SW $@ | grep ' \.BTF ' >/dev/null || { \
		echo "$@ has no BTF: kfuncs would not register" >&2; \
		rm -f $@; exit 1; }

# Any output of the compiler or sparse is an error.
module-check: $(addprefix $(MODULE_CHECK_DIR)/,$(MODULE_SRC)) | module-kdir
	@command -v sparse >/dev/null || { \
		echo "no sparse; run: sudo scripts/setup" >&2; exit 1; }
	@find $(MODULE_CHECK_DIR) -name '*.o' -delete
	@$(KBUILD_MAKE) -s W=1 C=1 CHECK=$(CURDIR)/scripts/lib/module-sparse \
		M=$(CURDIR)/$(MODULE_CHECK_DIR) modules \
		>$(MODULE_CHECK_DIR)/log 2>&1 || { \
		cat $(MODULE_CHECK_DIR)/log >&2; exit 1; }
	@if grep . $(MODULE_CHECK_DIR)/log >&2; then exit 1; fi

module-install: module
	$(KBUILD_MAKE) M=$(CURDIR)/$(MODULE_DIR) \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(abspath $(DESTDIR))) \
		modules_install
