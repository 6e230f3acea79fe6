#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/lint has nothing to say about the sources.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

# Unpacked without git there is no list of the sources.
[[ -e .git ]] || { echo "1..0 # SKIP no git"; exit 4; }
text=$(scripts/lint 2>&1)
rc=$?
[[ ! $text ]] || echo "# ${text//$'\n'/$'\n'# }"
if ((rc)); then
	echo "not ok 1 - lint__is_content"
else
	echo "ok 1 - lint__is_content"
fi
echo 1..1
exit $((rc != 0))
