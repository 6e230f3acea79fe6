#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run of chaos, always the same faults in close order.
exec "$(dirname "$0")/chaos" --tap --seed 23594 --minutes 0.3 --gap 0.7
