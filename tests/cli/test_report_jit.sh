#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Generated code in tables, trees and exports: one row for each function, however often it was
# compiled, and one row for each runtime's code without a name.
. "$top_srcdir/tests/cli/lib.sh"

mkdir -p "$tmp/root/tmp"
cd "$tmp" || exit 99

# Two processes of Node.js with maps, one of Java without; process 9 is no known runtime.
recording data <<END
event cpu-clock chain
comm 7 7 web
comm 8 8 web
comm 5 5 java
comm 9 9 other
mmap 7 0x400000 0x1000 0 /usr/bin/node
mmap 7 0x10000 0x10000 0 //anon
mmap 8 0x400000 0x1000 0 /usr/bin/node
mmap 8 0x10000 0x10000 0 [anon:v8]
mmap 5 0x400000 0x1000 0 /usr/lib/jvm/libjvm.so
mmap 5 0x10000 0x10000 0 //anon
mmap 9 0x10000 0x10000 0 //anon
stacks complete
sample 0 7 7 0 1000000000 1000 0x10010 0x10010 0x10110
sample 0 7 7 0 1000001000 1000 0x10210 0x10210 0x10110
sample 0 8 8 0 1000002000 1000 0x10010 0x10010 0x10210
sample 0 8 8 0 1000003000 1000 0x18010 0x18010 0x10210
sample 0 5 5 0 1000004000 1000 0x10010 0x10010
sample 0 5 5 0 1000005000 1000 0x10020 0x10020
sample 0 5 5 0 1000006000 1000 0x18020 0x18020
sample 0 9 9 0 1000007000 1000 0x18020 0x18020
sample 0 9 9 0 1000008000 1000 0x18030 0x18030
END
cat >root/tmp/perf-7.map <<END
10000 100 JS:~fib /app/fib.js:1:13
10100 100 JS:*main /app/fib.js:9:1
10200 100 JS:*fib /app/fib.js:1:13
END
cat >root/tmp/perf-8.map <<END
10000 100 JS:^fib /app/fib.js:1:13
10200 100 JS:~main /app/fib.js:9:1
END

rows() {
	"$SPROF" report --symfs "$tmp/root" -i data --format csv --no-children "$@" 2>err |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ print $at["dso"] ";" $at[name] ";" $at["self_samples"] }' name="${name:-function}" | sort
}
name=function prints "one row for each function and each runtime's code without a name" rows -s dso,function <<END
[JIT];[JIT];2
[JIT];[Java JIT];3
[JIT];[Node.js JIT];1
[JIT];fib /app/fib.js:1:13;3
END
name=symbol prints "-s symbol has perf's rows" rows -s dso,symbol <<END
[JIT];0x10010;1
[JIT];0x10020;1
[JIT];0x18010;1
[JIT];0x18020;2
[JIT];0x18030;1
[JIT];JS:*fib /app/fib.js:1:13;1
[JIT];JS:^fib /app/fib.js:1:13;1
[JIT];JS:~fib /app/fib.js:1:13;1
END
prints "findings name the runtime, once, with its remedy" sh -c '
	"$SPROF" report --symfs root -i data 2>&1 | sed -n "s/ *$//; /^  !/,/^[0-9]/p"' <<END
  ! 56% of samples have no symbols (JIT code without a perf map): [Java JIT] 33%, [JIT] 22%
    -> set JAVA_TOOL_OPTIONS='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' in the
       program's environment, or run jcmd PID Compiler.perfmap before it ends (JDK 17 or later)
  ! 11% of samples have no symbols: [Node.js JIT]
  - 11% of self may be of inlined callees: Node.js
    -> to see these callees, start node with --no-turbo-inlining (slower)
9 samples of cpu-clock, 9 us of CPU time, none lost, stacks 100% complete
END
prints "a tree has one branch for each function" sh -c '
	"$SPROF" report --symfs root -i data -g caller 2>err | sed -n "s/^ *//; /^[0-9].*%  /p"' <<END
44.44%  18.9-73.3    0.00%  main /app/fib.js:9:1 [JIT]
33.33%  12.1-64.6   33.33%  |- fib /app/fib.js:1:13
11.11%   2.0-43.5   11.11%  \`- [Node.js JIT]
33.33%  12.1-64.6   33.33%  [Java JIT] [JIT]
22.22%   6.3-54.7   22.22%  [JIT] [JIT]
END
prints "folded stacks have the table's names" sh -c '
	"$SPROF" report --symfs root -i data --format folded 2>err | sort' <<END
java;[Java JIT] 3
other;[JIT] 2
web;main /app/fib.js:9:1;[Node.js JIT] 1
web;main /app/fib.js:9:1;fib /app/fib.js:1:13 3
END
# The columns that the rows have besides.
rows() {
	column=$1
	shift
	"$SPROF" report --symfs root -i data --format csv --no-children "$@" 2>err |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ print $at[name] ";" $at["self_samples"] }' name="$column" | sort
}
prints "rows of processes are apart by -s pid" \
	rows pid -s pid,function --symbols "fib /app/fib.js:1:13" <<END
7;2
8;1
END
prints "--symbols selects code without a name" rows function --symbols "[Java JIT]" <<END
[Java JIT];3
END
for name in fib "fib /app/fib.js" "fib …/fib.js:1:13"; do
	for option in --symbols --callees; do
		prints "$option finds a function as $name" rows function "$option" "$name" <<-END
			fib /app/fib.js:1:13;3
		END
	done
done
prints "--dsos selects all generated code" rows dso --dsos "[JIT]" -s dso <<END
[JIT];9
END
prints "--dsos selects one process's by perf's name" rows dso --dsos "[JIT] tid 5" -s dso <<END
[JIT];3
END
"$SPROF" report -i data -s srcline --symfs root >lines.txt 2>&1
check "the remedy for missing lines is one for generated code" grep -q \
	"^    -> sprof report -s symbol: names of Node.js functions have their line" lines.txt
finish
