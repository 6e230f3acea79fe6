#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The module's functions for XDP: each by itself, and in slots of floats.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

load_module
exec tests/vm/guest-tap build/tests/vm/kfunc/{kfunc,floats}
