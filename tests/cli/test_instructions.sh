#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The lengths of all instructions of libraries that are here, as objdump has them.
. "$top_srcdir/tests/tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "needs code of x86-64"
command -v objdump >/dev/null || skip_all "needs objdump (binutils)"

# objdump marks bytes that are no instruction (data, or newer than it is), and skips one byte; the
# next ones are no instructions either, until it is in step again. It also separates prefixes, and
# joins fwait with the next instruction.
code() {
	objdump -d --insn-width=16 "$1" | awk -F '\t' '
		/\(bad\)|\.byte/ { skip = 8 }
		skip > 0 { skip--; next }
		NF >= 3 && $2 !~ /^9b / && $3 !~ /^(rex|data16|addr32|cs|ds|es|ss|fs|gs|lock|repz?|repnz)( |$|\.)/ {
			print $2 }'
}

compared=0
for file in /lib/x86_64-linux-gnu/libm.so.6 /usr/lib64/libm.so.6 \
	/lib/x86_64-linux-gnu/libzstd.so.1 /usr/lib64/libzstd.so.1; do
	[ -e "$file" ] || continue
	code "$file" >"$tmp/code"
	"$top_builddir/tests/cli/instructions" <"$tmp/code" >"$tmp/differ" 2>"$tmp/count"
	: >"$tmp/none"
	same "$file: $(cat "$tmp/count") instructions" "$tmp/none" "$tmp/differ"
	check "there are some" test "$(cat "$tmp/count")" -gt 10000
	compared=1
done
[ $compared = 1 ] || skip "lengths" "no library to compare"
finish
