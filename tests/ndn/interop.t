#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Our packets beside those of python-ndn: each must understand the other's, bit
# by bit. Without python-ndn this fails: it is the proof that others can take
# part. interop.py has the tests.
cd "$(dirname "$0")/../.." || exit
tests/ndn/python tests/ndn/interop.py
rc=$?
if ((rc == 3)); then
	echo "not ok 1 - interop__has_python_ndn"
	echo 1..1
fi
exit "$rc"
