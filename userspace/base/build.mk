# SPDX-License-Identifier: BSD-2-Clause
# Pieces that several programs share: objects that they link.
BASE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard userspace/base/*.c))
