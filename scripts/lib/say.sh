# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Shared by all scripts: messages with the script's name, and the repository's
# folder. Sourced.

me=${0##*/}
# Used by the scripts that source this.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s: %s\n' "$me" "$*"; }

# die [-CODE] TEXT...: prints a line and exits with CODE (default 1; 2: usage).
die()
{
	local code=1

	[[ ${1-} =~ ^-[0-9]+$ ]] && { code=${1#-}; shift; }
	printf '%s: %s\n' "$me" "$*" >&2
	exit "$code"
}

# usage_of FILE: prints the comment below the SPDX line.
usage_of() { awk 'NR > 2 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }
