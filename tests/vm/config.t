#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# tribd's configuration on the VM's kernel. The short run tests VLANs, for which
# many hosts have no devices.
set -uo pipefail
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"

word=vlan
((scale == 1)) || word=
exec tests/vm/guest-tap "tests/netns/daemon/config.t $word"
