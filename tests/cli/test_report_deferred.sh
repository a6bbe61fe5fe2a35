#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains with their user part in records of its own: joined by task and number, in any order;
# missing parts are reported. Compared to perf, if SPROF_PEERS is a folder with a perf that
# supports them.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/stacks.sh"

report() {
	"$SPROF" report -q "$@"
}

# Two samples of one system call, one of another task with the same number, one in the program
# itself, and one with a lost record.
deferred() {
	cat <<END
event cycles chain deferred
arch x86_64
comm 1 1 one
comm 2 2 two
mmap -1 0xffffffff80000000 0x1000000 0xffffffff80000000 [kernel.kallsyms]_text
mmap 1 0x10000 0x1000 0 /a.so
mmap 2 0x20000 0x1000 0 /b.so
$1
sample 0 1 1 0 1000 1 0xffffffff80000200 0xffffffff80000200 0xffffffff80000300 @7
sample 0 1 1 0 1010 1 0xffffffff80000200 0xffffffff80000200 @7
sample 0 2 2 0 1020 1 0xffffffff80000400 0xffffffff80000400 @7
sample 0 1 1 0 1030 1 0x10100 @8
$2
sample 0 2 2 0 1300 1 0xffffffff80000200 0xffffffff80000200 @9
END
}
chains="deferred 1 1 1100 7 0x10100 0x10200 0x10300
deferred 1 1 1200 8 0x10100 0x10400
deferred 2 2 1210 7 0x20100
deferred 2 2 1220 7 0x20200"

deferred "" "$chains" | recording "$tmp/behind"
deferred "$chains" "" | recording "$tmp/before"

prints "chains that come later" report -g -s comm,dso,symbol -i "$tmp/behind" <<'END'
  self   low-high   total  comm  dso                symbol
40.00%  11.8-76.9  40.00%  one   [kernel.kallsyms]  [k] 0xffffffff80000200
20.00%   3.6-62.4  60.00%  one   a.so               [.] 0x100
20.00%   3.6-62.4  20.00%  two   [kernel.kallsyms]  [k] 0xffffffff80000200
20.00%   3.6-62.4  20.00%  two   [kernel.kallsyms]  [k] 0xffffffff80000400
... 5 more rows without self time; --percent-limit 0 shows them

  total   low-high     self  call tree, callers first; below 0.50% hidden
 80.00%  37.6-96.4    0.00%  [truncated stacks]
 40.00%  11.8-76.9    0.00%  |- 0x300 [a.so]
                             |  0x200
                             |  0x100
 20.00%   3.6-62.4   20.00%  |  |- 0xffffffff80000200 [kernel.kallsyms]
 20.00%   3.6-62.4    0.00%  |  `- 0xffffffff80000300 [kernel.kallsyms]
                     20.00%  |     0xffffffff80000200
 20.00%   3.6-62.4    0.00%  |- 0x100 [b.so]
                     20.00%  |  0xffffffff80000400 [kernel.kallsyms]
 20.00%   3.6-62.4    0.00%  `- 0x400 [a.so]
                     20.00%     0x100
 20.00%   3.6-62.4    0.00%  [truncated: no user call chain]
                     20.00%  0xffffffff80000200 [kernel.kallsyms]
END

report -g -s comm,dso,symbol -i "$tmp/behind" >"$tmp/wanted"
report -g -s comm,dso,symbol -i "$tmp/before" >"$tmp/got"
same "or come before" "$tmp/wanted" "$tmp/got"

{
	"$SPROF" info --findings -i "$tmp/behind" | grep -A 1 'no user callers'
	"$SPROF" report -i "$tmp/behind" | grep '^stacks'
} >"$tmp/found"
prints "what never comes is said" cat "$tmp/found" <<END
  ! 20% of stacks have no user callers (the deferred user call chain is missing)
    -> record with larger ring buffers (-m 2M), or with --call-graph fp
stacks: 80.0% truncated, 20.0% without the deferred user part
END

"$SPROF" report -i "$tmp/behind" --no-children --format json | grep -o '"stacks": {[^}]*}' >"$tmp/json"
prints "and counted without a tree" cat "$tmp/json" <<END
"stacks": {"complete": 0, "truncated": 4, "no_unwind_info": 0, "bad_memory": 0, "depth_limit": 0, "skipped": 0, "switched": 0, "none": 0, "deferred": 1}
END

deferred "" "" | recording "$tmp/none"
"$SPROF" report -i "$tmp/none" --format json | grep -o '"stacks": {[^}]*}' >"$tmp/json"
prints "none comes" cat "$tmp/json" <<END
"stacks": {"complete": 0, "truncated": 0, "no_unwind_info": 0, "bad_memory": 0, "depth_limit": 0, "skipped": 0, "switched": 0, "none": 0, "deferred": 5}
END

# A record that is damaged: its chain is longer than it.
deferred "bytes 16000000020020000700000000000000ff00000000000000000001000000000000000000000000000000" \
	"$chains" | recording "$tmp/damaged"
"$SPROF" report -q -g -s comm,dso,symbol -i "$tmp/damaged" >"$tmp/got" 2>"$tmp/said"
same "a damaged one is left out" "$tmp/wanted" "$tmp/got"
if grep -q "damaged" "$tmp/said"; then
	ok "and said"
else
	not_ok "and said" "$(cat "$tmp/said")"
fi

# Enough samples for threads to read parts of the file: each chain is looked up far from its
# record.
awk 'BEGIN {
	print "event cycles chain deferred"
	print "comm 1 1 one"
	print "mmap 1 0x10000 0x1000 0 /a.so"
	for (i = 0; i < 60000; i++) {
		printf "sample 0 1 1 0 %d 1 0xffffffff80000200 0xffffffff80000200 @%d\n", 1000 + i, i
		k = 59999 - i
		printf "deferred 1 1 %d %d 0x101%02x 0x10200 0x10%x00\n", 1000 + i, k, k % 90, \
			3 + k % 5
	}
}' | recording "$tmp/many"
for threads in 1 3; do
	report -g -j $threads -s symbol --format json -i "$tmp/many" >"$tmp/many.$threads"
done
same "joined by several threads as by one" "$tmp/many.1" "$tmp/many.3"
grep -o '"stacks": {[^}]*}' "$tmp/many.3" >"$tmp/json"
prints "all of them" cat "$tmp/json" <<END
"stacks": {"complete": 0, "truncated": 60000, "no_unwind_info": 0, "bad_memory": 0, "depth_limit": 0, "skipped": 0, "switched": 0, "none": 0}
END

"$SPROF" script -i "$tmp/behind" -F comm,ip,dso 2>&1 | sed 's/ *$//' >"$tmp/script"
prints "script joins them, too" cat "$tmp/script" <<'END'
one
	ffffffff80000200 ([kernel.kallsyms])
	ffffffff80000300 ([kernel.kallsyms])
	           10100 (/a.so)
	           10200 (/a.so)
	           10300 (/a.so)

one
	ffffffff80000200 ([kernel.kallsyms])
	           10100 (/a.so)
	           10200 (/a.so)
	           10300 (/a.so)

two
	ffffffff80000400 ([kernel.kallsyms])
	           20100 (/b.so)

one
	           10100 (/a.so)
	           10400 (/a.so)

two
	ffffffff80000200 ([kernel.kallsyms])

END

# perf 7.2 shows numbers of what never comes as calls, and those of chains that are of the program
# alone.
if [ -x "${SPROF_PEERS:-}/perf" ] && stacks_of_perf "$SPROF_PEERS/perf" "$tmp/behind" | grep -q a.so; then
	stacks_of_perf "$SPROF_PEERS/perf" "$tmp/behind" >"$tmp/wanted"
	stacks_of_sprof "$tmp/behind" | grep -v '^one;a.so;a.so$' >"$tmp/got"
	same "as $("$SPROF_PEERS/perf" --version) has them" "$tmp/wanted" "$tmp/got"
else
	skip "as perf has them" "needs a perf that joins them in SPROF_PEERS"
fi
finish
