#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that are not the sampled one: --focus, --ignore, --callers, --callees, and parents
# that are inlined. On recordings with known stacks, and on a program's recording compared to
# 'perf script'.
. "$top_srcdir/tests/cli/lib.sh"

cd "$tmp" || exit 99
report() {
	"$SPROF" report -q -i "${data:-made.data}" --kallsyms "$tmp/kallsyms" --percent-limit 0 "$@"
}

cat >kallsyms <<'END'
ffffffff81000000 T start
ffffffff81000100 T main
ffffffff81000200 T fib
ffffffff81000300 T work
ffffffff81000400 T work_more
ffffffff81001000 T end
END
k=0xffffffff81000
# fib calls itself; it also has a stack without callers.
recording made.data <<END
event cpu-clock chain
mmap -1 0xffffffff81000000 0x1000 0xffffffff81000000 [kernel.kallsyms]_text
comm 7 7 demo
sample 0 7 7 0 1000 400 ${k}310 ${k}310 ${k}220 ${k}220 ${k}120 ${k}020
sample 0 7 7 0 2000 200 ${k}210 ${k}210 ${k}220 ${k}120 ${k}020
sample 0 7 7 0 3000 300 ${k}310 ${k}310 ${k}420 ${k}120 ${k}020
sample 0 7 7 0 4000 100 ${k}210 ${k}210
END

# Rows as NAME SELF TOTAL, by weight.
rows() {
	report --no-inline -s symbol --format csv "$@" >.csv || return
	awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ print $column["symbol"], $column["self_weight"], $column["total_weight"] }' .csv |
		LC_ALL=C sort
}
prints "focus: stacks through a function" rows --focus '^fib$' <<'END'
fib 300 700
main 0 600
start 0 600
work 400 400
END
prints "focus twice: stacks through one of both" rows --focus more --focus '^none$' <<'END'
main 0 300
start 0 300
work 300 300
work_more 0 300
END
prints "ignore: stacks through none" rows --ignore work <<'END'
fib 300 300
main 0 200
start 0 200
END
prints "focus and ignore" rows --focus '^work$' --ignore more <<'END'
fib 0 400
main 0 400
start 0 400
work 400 400
END
prints "callees: from the outermost call down" rows --callees fib <<'END'
fib 300 700
work 400 400
END
prints "callers: above the outermost call, self is direct" rows --callers fib <<'END'
[no recorded caller] 100 100
main 600 600
start 0 600
END
prints "callers by an expression" rows --callers '/^work/' <<'END'
fib 400 400
main 300 700
start 0 700
END
prints "a name is not a part of one" rows --callees work <<'END'
work 700 700
END
selves() {
	rows --no-children "$@" | sed 's/ $//'
}
prints "focus without totals" selves --focus main <<'END'
fib 200
work 700
END
prints "by the keys of code there are" rows -s comm,dso,symbol --callees work_more <<'END'
work 300 300
work_more 0 300
END
prints "focus and a parent" rows -p '^fib$' -x --ignore '^main$' <<'END'
fib 100 100
END
prints "callees and a parent" rows -p '^fib$' -x --callees fib <<'END'
fib 300 700
work 400 400
END

folded() {
	report --no-inline --format folded "$@" | LC_ALL=C sort
}
prints "folded, of callees" folded --callees fib <<'END'
demo;fib_[k] 1
demo;fib_[k];fib_[k] 1
demo;fib_[k];fib_[k];work_[k] 1
END
prints "folded, of callers" folded --callers work <<'END'
demo;start_[k];main_[k];fib_[k];fib_[k];work_[k] 1
demo;start_[k];main_[k];work_more_[k];work_[k] 1
END

tree() {
	report --no-inline -s comm "$@" | sed -e '1,/ first/d' -e 's/ *\[kernel.kallsyms\]//'
}
prints "a tree of callers" tree -g --callers work <<'END'
 70.00%  24.1-94.5  work
 40.00%   9.1-81.6  |- fib (recursive, up to 2 deep)
                    |  main
                    |  start
 30.00%   5.5-75.9  `- work_more
                       main
                       start
END
prints "a tree of callees, by callers" tree -g --callees fib <<'END'
 70.00%  24.1-94.5   30.00%  fib (recursive, up to 2 deep)
 40.00%   9.1-81.6   40.00%  `- work
END
prints "a tree of callees, from the sampled function up" tree -g callee --callees fib <<'END'
 40.00%   9.1-81.6  work
                    fib (recursive, up to 2 deep)
 30.00%   5.5-75.9  fib (recursive, up to 2 deep)
END
share() {
	report --no-inline -s symbol --format csv "$@" | sed -n '2s/,.*//p'
}
prints "shares are of all" share --no-children --callees work <<'END'
0.7
END
prints "shares of what passes" share --no-children --percentage relative --callees work <<'END'
1
END
json() {
	report --format json --no-inline "$@" | grep -E '^ *"(callers|callees|shown_[a-z]*)"' | tr -d ' ,'
}
prints "json has the function and what passes" json --callers work <<'END'
"callers":"work"
"shown_samples":2
"shown_weight":700
END

fails "an expression that is none" 129 report --focus '(' <<'END'
sprof: --focus: '(' is not a regular expression (extended)
       'sprof report --help' lists the options.
END
fails "an expression that is none, between slashes" 129 report --callers '/(/' <<'END'
sprof: --callers: '(' is not a regular expression (extended)
       'sprof report --help' lists the options.
END
fails "callers or callees" 129 report --callers a --callees b <<'END'
sprof: --callers and --callees do not go together: use one of them
END
says_why() {
	report --no-inline "$@" 2>&1 >/dev/null
}
prints "a caller is not the sampled function" says_why -S main <<'END'
sprof: no sample has main as its sampled function; 3 samples pass through it: use --focus '^main$'
END
prints "a misspelt function" says_why --callees wrok <<'END'
sprof: no stack has a function wrok; the nearest name is work
END
prints "the last part of a name" says_why --callers module.work <<'END'
sprof: no stack has a function module.work; the nearest name is work
END
prints "a function that is not there" says_why -S nothing_like_it <<'END'
sprof: no stack has a function nothing_like_it; 'sprof report -i made.data -s function' lists all
END
prints "a misspelt thread" says_why -c dmeo <<'END'
sprof: no thread is named dmeo; the nearest name is demo
END
prints "a thread that is not there" says_why -c nothing_like_it,xyz-* <<'END'
sprof: no thread is named nothing_like_it; 'sprof report -i made.data -s comm' lists all
sprof: no thread is named xyz-*; 'sprof report -i made.data -s comm' lists all
END
prints "a program that is not there" says_why -d nothing_like_it.so <<'END'
sprof: no program or library is named nothing_like_it.so; 'sprof report -i made.data -s dso' lists all
END
report --no-inline -q -s comm --format csv >wanted
report --no-inline -q -s comm --format csv -c 'd?m*' >got
same "names of threads may be patterns" wanted got

# A program with group() inlined in two functions, and its samples in group()'s callees.
perf=$(command -v perf)
cat >prog.c <<'END'
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
APART void work_a(void) { KEEP_FRAME(); LOOP(1000000); }
APART void work_b(void) { KEEP_FRAME(); LOOP(500000); }
static inline __attribute__((always_inline)) void group(void) { work_a(); work_b(); }
APART void first(void) { group(); LOOP(500000); }
APART void second(void) { group(); work_b(); LOOP(10); }
APART void deep(int n)
{
	void (*volatile again)(int) = deep;
	KEEP_FRAME();
	if (n)
		again(n - 1);
	else
		first();
	work_b();
}
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 40; i > 0; i--) {
		second();
		deep(i % 4);
	}
	return 0;
}
END
has_program() {
	[ -n "$perf" ] && $CC -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o prog prog.c \
		2>.compile && "$perf" record -q -e cpu-clock:u -F 1999 -g -o prog.data ./prog 60 \
		>.record 2>&1
}

# shown OPTION...: how many samples pass.
shown() {
	data=prog.data report --format json "$@" | sed -n 's/^ *"shown_samples": \([0-9]*\),.*/\1/p'
}
# through NAME: how many of perf's stacks have it; without NAME: how many have not.
count_perf() {
	awk -v way="$1" -v name="$2" '
		function end() { if (lines) count += (way == "through") == found; lines = found = 0 }
		/^$/ { end(); next }
		{ lines++; sub(/^[ \t]*[0-9a-f]+ /, ""); sub(/ \(inlined\).*/, ""); sub(/[ \t].*/, "")
		  if ($0 == name) found = 1 }
		END { end(); print count + 0 }' stacks.perf
}
# Total of a function's row.
total() {
	data=prog.data report --format csv -s function | awk -F , -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["function"] == name { print $column["total_samples"] }'
}
folded_sum() {
	data=prog.data report --format folded "$@" | awk '{ sum += $NF } END { print sum }'
}
self_sum() {
	data=prog.data report --format csv -s function "$@" | awk -F , '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ sum += $column["self_samples"] } END { print sum }'
}
equal() {
	echo "$3" >.wanted
	echo "$2" >.got
	same "$1" .wanted .got
}

if has_program; then
	"$perf" script -i prog.data -F ip,sym 2>/dev/null >stacks.perf
	for name in main first second deep work_b group; do
		if [ $name = group ] && ! grep -q 'group (inlined)' stacks.perf; then
			skip "perf has as many stacks through $name" "perf names no inlined functions"
		else
			equal "perf has as many stacks through $name" "$(shown --focus "^$name\$")" \
				"$(count_perf through $name)"
			equal "perf has as many stacks without $name" "$(shown --ignore "^$name\$")" \
				"$(count_perf without $name)"
		fi
		all=$(total $name)
		equal "the total of $name is that of its callees" "$(shown --callees $name)" "$all"
		equal "selves of callees of $name add up to it" "$(self_sum --callees $name)" "$all"
		equal "selves of callers of $name add up to it" "$(self_sum --callers $name)" "$all"
		equal "stacks from $name down add up to it" "$(folded_sum --callees $name)" "$all"
		equal "stacks down to $name add up to it" "$(folded_sum --callers $name)" "$all"
	done
	data=prog.data report --format csv -s function --callers group |
		awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			$column["self_samples"] { print $column["function"] }' | sort >callers
	printf 'first\nsecond\n' >wanted
	same "callers of an inlined function" wanted callers
	equal "an inlined function is a parent" "$(data=prog.data report -s comm -p '^group$' -x --format csv |
		awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			{ print $column["self_samples"] }')" "$(total group)"
else
	skip "stacks of a program" "$(cat .compile .record 2>/dev/null | tail -n 1) (needs perf)"
fi
finish
