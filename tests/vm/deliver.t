#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Attaching and delivery into mapped memory on the VM's kernel. Linux 6.1 accepts
# fewer kinds of maps in maps than later kernels.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

exec tests/vm/guest-tap tests/netns/tree/deliver.t
