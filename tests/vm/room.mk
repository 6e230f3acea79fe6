# SPDX-License-Identifier: BSD-2-Clause
# Tests that boot Debian's 6.1 kernel.
CHECK_TESTS += tests/vm/bpf-6.1.t tests/vm/netns-6.1.t tests/vm/deliver-6.1.t
