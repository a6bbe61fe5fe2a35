#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files without a build-id, between recording and report: names of another file are never shown
# silently, and the recorded file's always are.
. "$top_srcdir/tests/tap.sh"
need_sampling

# build FUNCTION: a program that spends its time there.
build() {
	cat >"$tmp/busy.c" <<-END_OF_C
		volatile unsigned long sum;
		__attribute__((noinline)) void $1(void)
		{
			for (unsigned long i = 0; i < 300000000; i++)
				sum += i;
		}
		int main(void) { $1(); return 0; }
	END_OF_C
	$CC -O1 -Wl,--build-id=none -o "$tmp/built" "$tmp/busy.c" || exit 99
}

# shows NAME FUNCTION DATA [OPTION]...: the report has that function.
shows() {
	shows_name=$1 shows_function=$2
	shift 2
	"$SPROF" report -i "$@" --no-children -g none >"$tmp/report" 2>"$tmp/err"
	check "$shows_name" grep -q "$shows_function" "$tmp/report"
}

# finds NAME TEXT: what limits that report has the text.
finds() {
	cat "$tmp/report" "$tmp/err" | tr '\n' ' ' | tr -s ' ' >"$tmp/found"
	check "$1" grep -q "$2" "$tmp/found"
}

# hides NAME: no function of either program is in it.
hides() {
	check "$1" sh -c "! grep -q 'recorded_work\|another_work' '$tmp/report'"
}

# mark DATA SCRIPT: a copy of DATA, $tmp/marked, with texts of its header changed.
mark() {
	LC_ALL=C sed "$2" "$1" >"$tmp/marked"
}

# record: $tmp/data by sprof, $tmp/perf by perf, which keeps no more of the file than its inode.
record() {
	"$SPROF" record -q --no-names -e cpu-clock -o "$tmp/data" -- "$tmp/prog" || exit 99
	rm -f "$tmp/perf"
	command -v perf >/dev/null && perf record -q -e cpu-clock --no-buildid -o "$tmp/perf" -- \
		"$tmp/prog" >"$tmp/out" 2>&1
}

build recorded_work
cp -p "$tmp/built" "$tmp/prog"
record
host=$(uname -n)
elsewhere="s/$host\\x00/_$(echo "$host" | cut -c2-)\\x00/g"

shows "the recorded file has names" recorded_work "$tmp/data"
check "and they are not doubted" sh -c "! grep -q 'may be wrong' '$tmp/report' '$tmp/err'"
cp "$tmp/prog" "$tmp/copy" && mv "$tmp/copy" "$tmp/prog"
shows "so has a copy in its place" recorded_work "$tmp/data"
mark "$tmp/data" "$elsewhere"
shows "also on another host" recorded_work "$tmp/marked"
record

# A machine that runs none of this one's programs; the name is padded by zeros.
case $(uname -m) in
x86_64) mark "$tmp/data" 's/x86_64\x00\x00/aarch64\x00/g' ;;
aarch64) mark "$tmp/data" 's/aarch64\x00/x86_64\x00\x00/g' ;;
*) : >"$tmp/marked" ;;
esac
if [ -s "$tmp/marked" ]; then
	shows "of another architecture there are none" '0x' "$tmp/marked"
	hides "nor names"
	finds "and the finding says so" 'is not the recorded file: ELF machine'
	shows "--symfs / insists" recorded_work "$tmp/marked" --symfs /
fi

# Over the same inode, with the old mtime.
touch -r "$tmp/prog" "$tmp/mtime"
build another_work
cat "$tmp/built" >"$tmp/prog"
touch -r "$tmp/mtime" "$tmp/prog"
"$SPROF" report -i "$tmp/data" --no-children -g none >"$tmp/report" 2>"$tmp/err"
hides "a file overwritten in place with its old mtime is not used"
finds "and the finding has the remedy" '\(content differs\|size [0-9]*, recorded\).*--symfs'
shows "--symfs / uses it all the same" another_work "$tmp/data" --symfs /

if [ -s "$tmp/perf" ]; then
	# Only the ctime says that it is another: names are shown, but not silently.
	shows "of a recording by inode, a changed ctime keeps names" another_work "$tmp/perf"
	finds "with a finding" 'may have wrong names: .* was changed (ctime)'
	check "as script has it" sh -c '"$1" script -i "$2" 2>&1 >"$2.text" |
		grep -q "symbols may be wrong: .*ctime"' - "$SPROF" "$tmp/perf"
	record
	mark "$tmp/perf" "$elsewhere"
	shows "so does another host, as of a container" another_work "$tmp/marked"
	"$SPROF" info --findings -i "$tmp/marked" 2>"$tmp/err" >"$tmp/report"
	finds "with a finding, too" 'may have wrong names: .* was recorded on another host'
	cp "$tmp/built" "$tmp/copy"
	mv "$tmp/copy" "$tmp/prog"
	mark "$tmp/perf" "$elsewhere; s/$(uname -r)\\x00/_$(uname -r | cut -c2-)\\x00/g"
	"$SPROF" report -i "$tmp/marked" --no-children -g none >"$tmp/report" 2>"$tmp/err"
	hides "another inode on another host with another kernel is another file"
	finds "and the finding says so" 'is not the recorded file: inode'
else
	skip "a recording of perf" "there is no perf"
fi

# Stacks that are unwound afterwards need the file, too: compiling it anew is no help.
"$SPROF" record -q --no-names -e cpu-clock --call-graph dwarf --unwind later -o "$tmp/data" -- "$tmp/prog" ||
	exit 99
rm -f "$tmp/prog"
"$SPROF" report -i "$tmp/data" --children >"$tmp/report" 2>"$tmp/err"
finds "of a file that is gone, the remedy is its place" 'use --symfs DIR'
finds "its stacks end there" 'of stacks are incomplete (no unwind information): prog'
check "and nothing is to be compiled" sh -c "! grep -q 'compile it' '$tmp/report' '$tmp/err'"

finish
