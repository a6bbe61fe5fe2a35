#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions, inlined functions and lines of addresses in programs of many layouts are those of perf, nm,
# llvm-symbolizer, addr2line and eu-addr2line, or differ by a rule of tests/names/rules.py.
#
# NAMES_LAYOUTS: all, sample (default), or names of layouts (tests/names/layouts.py).
. "$top_srcdir/tests/tap.sh"
for tool in python3 readelf nm objcopy objdump addr2line c++filt; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
[ "$(uname -m)" = x86_64 ] || skip_all "the program has code for x86-64"
export NAMES_SYMBOLIZE="$top_builddir/bench/symbolize"
export NAMES_RECORDING="$top_builddir/tests/cli/recording"
export PYTHONDONTWRITEBYTECODE=1
unset DEBUGINFOD_URLS

# shellcheck disable=SC2086
python3 "$top_srcdir/tests/names/compare.py" "$tmp/names" ${NAMES_LAYOUTS:-sample} >"$tmp/verdicts" 2>"$tmp/err"
ended=$?
while read -r verdict rest; do
	case $verdict in
	ok) ok "$rest" ;;
	not) not_ok "${rest#ok }" ;;
	skip) skip "${rest%%: *}" "${rest#*: }" ;;
	*) echo "$verdict $rest" ;;
	esac
done <"$tmp/verdicts"
check "the comparison ended" sh -c "cat '$tmp/err'; exit $ended"
finish
