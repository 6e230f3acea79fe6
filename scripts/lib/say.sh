# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What all scripts share: messages that name the script, and where the
# repository is. Sourced, never run.

me=${0##*/}
# Used by the scripts that source this.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s: %s\n' "$me" "$*"; }

# die [-CODE] TEXT...: one line, then the exit status (1; 2 is usage).
die()
{
	local code=1

	[[ ${1-} =~ ^-[0-9]+$ ]] && { code=${1#-}; shift; }
	printf '%s: %s\n' "$me" "$*" >&2
	exit "$code"
}

# usage_of FILE: the comment block under its SPDX line is its help text.
usage_of() { awk 'NR > 2 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }
