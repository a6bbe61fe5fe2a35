#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks that the processor keeps as branches (--call-graph lbr): each is where a call is.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/stacks.sh"

# In the program; in a system call of it; where the kernel alone is known.
recording "$tmp/calls" <<END
event cycles calls
arch x86_64
comm 1 1 one
mmap -1 0xffffffff80000000 0x1000000 0xffffffff80000000 [kernel.kallsyms]_text
mmap 1 0x10000 0x1000 0 /a.so
mmap 1 0x20000 0x1000 0 /b.so
with branch 0x20200 0x10100 0 branch 0x10300 0x20180 0
sample 0 1 1 0 1000 1 0x10110 0x10110
sample 0 1 1 0 1010 1 0xffffffff80000200 0xffffffff80000200 0xffffffff80000300 0x10120
sample 0 1 1 0 1020 1 0xffffffff80000200 0xffffffff80000200 0xffffffff80000300
with
sample 0 1 1 0 1030 1 0x10110 0x10110 0x10400
END

prints "calls as the processor kept them" "$SPROF" report -q -g -s symbol -i "$tmp/calls" <<'END'
  self   low-high   total  symbol
50.00%  15.0-85.0  50.00%  [.] 0x110
50.00%  15.0-85.0  50.00%  [k] 0xffffffff80000200
... 5 more rows without self time; --percent-limit 0 shows them

  total   low-high     self  call tree, callers first; below 0.50% hidden
 75.00%  30.1-95.4    0.00%  [truncated stacks]
 50.00%  15.0-85.0    0.00%  |- 0x300 [a.so]
                             |  0x200 [b.so]
 25.00%   4.6-69.9    0.00%  |  |- 0x100 [a.so]
                             |  |  0xffffffff80000300 [kernel.kallsyms]
                     25.00%  |  |  0xffffffff80000200
 25.00%   4.6-69.9   25.00%  |  `- 0x110 [a.so]
 25.00%   4.6-69.9    0.00%  `- 0x400 [a.so]
                     25.00%     0x110
 25.00%   4.6-69.9    0.00%  0xffffffff80000300 [kernel.kallsyms]
                     25.00%  0xffffffff80000200
END

prints "are no branches" "$SPROF" report -q --no-children -i "$tmp/calls" <<'END'
All rows: comm one
  self   low-high  function                dso
50.00%  15.0-85.0  [k] 0xffffffff80000200  [kernel.kallsyms]
50.00%  15.0-85.0  [.] 0x110               a.so
END

# perf shows nothing for a sample without branches.
perf=$(command -v perf)
if [ -n "$perf" ]; then
	stacks_of_perf "$perf" "$tmp/calls" >"$tmp/wanted"
	stacks_of_sprof "$tmp/calls" | grep -v '^one;a.so;a.so$' >"$tmp/got"
	same "as perf has them" "$tmp/wanted" "$tmp/got"
else
	skip "as perf has them" "needs perf"
fi
finish
