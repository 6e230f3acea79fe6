# SPDX-License-Identifier: BSD-2-Clause
# Tests of userspace/peer/boot.
