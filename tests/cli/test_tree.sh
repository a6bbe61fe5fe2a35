#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sums of the call tree's text: each line's total is its self, its children and the hidden ones.
. "$top_srcdir/tests/cli/lib.sh"
export LC_ALL=C
cd "$tmp" || exit 99

# One function for each 0x100 bytes from `start` on; `small` has 100 callees, small_0 to small_99.
awk 'BEGIN {
	split("start main down leaf even odd small pass", names)
	for (i = 0; i < 208; i++)
		printf "ffffffff%x T %s\n", 2164260864 + i * 256,
			i < 8 ? names[i + 1] : i < 108 ? "small_" i - 8 : "pass_" i - 108
}' >kallsyms

# made FILE: makes a recording of stacks, one a line: WEIGHT, and indexes of functions, the innermost
# first.
made() {
	awk 'BEGIN {
		print "event cpu-clock chain"
		print "mmap -1 0xffffffff81000000 0x20000 0xffffffff81000000 [kernel.kallsyms]_text"
		print "comm 7 7 demo"
	}
	{
		printf "sample 0 7 7 0 %d %d", NR * 1000, $1
		for (i = 2; i <= NF; i++)
			printf "%s 0xffffffff%x", i == 2 ? sprintf(" 0xffffffff%x",
				2164260864 + $i * 256 + 16) : "", 2164260864 + $i * 256 + 16
		print ""
	}' | recording "$1"
}

# Direct recursion, 300 deep: at each depth, leaf has 0.33 %.
awk 'BEGIN {
	for (depth = 1; depth <= 300; depth++) {
		printf "10 3"
		for (i = 0; i < depth; i++)
			printf " 2"
		print " 1 0"
	}
}' | made direct.data
# Recursion through two functions.
awk 'BEGIN {
	for (depth = 1; depth <= 300; depth++) {
		printf "10 3"
		for (i = depth; i > 0; i--)
			printf " %d", 5 - i % 2
		print " 1 0"
	}
}' | made mutual.data
# Each of 100 functions passes 99.1 % of its weight on, and calls leaf. `small` has only small callees.
awk 'BEGIN {
	for (rest = 1000000; i < 100; i++) {
		printf "%d 3", rest * 0.009
		for (j = i; j >= 0; j--)
			printf " %d", 108 + j
		print " 7 1 0"
		rest -= int(rest * 0.009)
	}
	for (i = 0; i < 100; i++)
		printf "%d %d 6 1 0\n", 4000, 8 + i
}' | made pass.data

tree() {
	"$SPROF" report -q -i "$@" --kallsyms kallsyms
}

# Checks the lines of a tree. A line without a total belongs to the one above it.
cat >sums.awk <<'END'
function close_lines(least,    rest) {
	while (depth >= least) {
		rest = total[depth] - sum[depth]
		if ((rest > limit || rest < -0.1) && (has_self || children[depth])) {
			printf "%s: %.2f of %.2f is missing\n", name[depth], rest, total[depth]
			bad = 1
		}
		depth--
	}
}
!column {
	column = index($0, "call tree")
	has_self = column
	if (!column)
		column = index($0, "functions, ")
	depth = 0
	total[0] = 100
	name[0] = "root"
	next
}
{
	text = substr($0, column)
	for (at = 1; text ~ /^(\|  |   |\|- |`- )/; at++)
		text = substr(text, 4)
	hidden = text ~ /^\.\.\. [0-9]+ more/
	self = has_self && !hidden ? substr($0, column - 9, 7) + 0 : 0
	if (substr($0, 7, 1) == "%") {
		close_lines(at)
		sum[at - 1] += substr($0, 1, 7)
		children[at - 1]++
		if (!hidden) {
			depth = at
			total[at] = substr($0, 1, 7) + 0
			sum[at] = children[at] = 0
			name[at] = text
		}
	}
	sum[depth] += self
}
END {
	close_lines(0)
	if (NR < 3)
		print "no tree"
	exit bad
}
END
sums() {
	tree "$@" | awk -v limit="${limit-0.5}" -f sums.awk
}
for file in direct mutual pass; do
	for order in caller callee; do
		prints "$file, $order: sums" sums $file.data -g $order </dev/null
		limit=2 prints "$file, $order, with a limit: sums" \
			sums $file.data -g $order,2 </dev/null
	done
done

prints "direct recursion is one line" sh -c '
	"$1" report -q -i direct.data --kallsyms kallsyms -g | sed "s/.*%  //; 1d"' sh "$SPROF" <<'END'
start [kernel.kallsyms]
                             main
                             down (recursive, up to 300 deep)
leaf
END
finish
