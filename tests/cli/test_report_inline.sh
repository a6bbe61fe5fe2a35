#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Inlined functions, source files and lines of a program with known calls, in every format,
# compared to perf's output for the same recording.
. "$top_srcdir/tests/cli/lib.sh"
perf=$(command -v perf)
[ -n "$perf" ] || skip_all "needs perf"
need_sampling

# middle() and inner() are inlined in outer(); apart() is called from two places, and inlined in a
# third; each file has a same() of its own.
mkdir -p "$tmp/src/a" "$tmp/src/b"
cd "$tmp/src" || exit 99
cat >work.h <<'END'
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
/* Compilers leave the frame pointer out of functions that call nothing. */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))
static inline __attribute__((always_inline)) void inner(void)
{
	LOOP(3000000);
}
static inline __attribute__((always_inline)) void middle(void)
{
	LOOP(2000000);
	inner();
}
void outer(void);
void other(void);
void down(int depth);
END
cat >a/part.c <<'END'
#include "work.h"
static __attribute__((noinline)) void same(void)
{
	KEEP_FRAME();
	LOOP(1000000);
}
void outer(void)
{
	LOOP(1000000);
	middle();
	same();
}
END
cat >b/part.c <<'END'
#include "work.h"
static __attribute__((noinline)) void same(void)
{
	KEEP_FRAME();
	LOOP(1000000);
}
void other(void)
{
	inner();
	same();
}
void (*volatile again)(int depth) = down; /* or it is inlined in itself */
void down(int depth)
{
	KEEP_FRAME();
	if (depth)
		again(depth - 1);
	else
		LOOP(1000000);
	__asm__ volatile("" ::: "memory");
}
END
cat >main.c <<'END'
#include <stdlib.h>
#include "work.h"
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 40; i > 0; i--) {
		outer();
		other();
		down(i % 7);
	}
	return 0;
}
END
compile() {
	$CC -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -I. "$@" \
		-o "$tmp/prog" main.c a/part.c b/part.c 2>"$tmp/.compile"
}
# Not everywhere is it plain `perf record -g`: what it says is the reason.
sample() {
	"$perf" record -q -e cpu-clock:u -F 1999 -g -o "$tmp/data" "$tmp/prog" "$1" \
		>"$tmp/.record" 2>&1 || skip_all "$(tail -n 1 "$tmp/.record")"
}
compile || skip_all "the compiler makes no such program"
sample 200 # the deepest stack, one of 28 parts of down(), has about 15 samples
cd "$tmp" || exit 99
report() {
	"$SPROF" report -i data --dsos prog "$@"
}

# Call paths from main, without counts. Some runs lack these: a sample at the first instruction of same(),
# where its caller has no frame yet, and samples in the few instructions of main() and other().
ways() {
	sed 's/ [0-9]*$//' | sed -n 's/^prog;.*main/main/p' |
		grep -vx -e 'main;same\( (.*)\)\{0,1\}' -e main -e 'main;other' | sort -u
}

report --format folded | ways >folded
cat >wanted <<'END'
main;down
main;down;down
main;down;down;down
main;down;down;down;down
main;down;down;down;down;down
main;down;down;down;down;down;down
main;down;down;down;down;down;down;down
main;other;inner_[i]
main;other;same (b/part.c)
main;outer
main;outer;middle_[i]
main;outer;middle_[i];inner_[i]
main;outer;same (a/part.c)
END
same "folded stacks have what was inlined" wanted folded
report --format folded --collapse-recursion | ways >folded
sed '/down;down/d; s/;down$/;down (recursive)/' wanted >collapsed
same "recursion is collapsed on request" collapsed folded
# Names are those of the report with inlined functions.
report --format folded --no-inline | ways >folded
sed 's/;[a-z]*_\[i\]//g' wanted | grep -vx 'main;other' | sort -u >plain
same "--no-inline has symbols alone" plain folded

# FIELDS of the rows, as CSV names them. The program's first instruction, which the kernel may sample
# on its way to user space, is a row of some runs only: _start.
rows() {
	report --no-children --format csv --interval within "$@" | tail -n +2 | tr -d '"' | grep -v ',_start\>'
}
rows -s function | cut -d , -f 11 | sort >got
printf '%s\n' down inner middle outer 'same (a/part.c)' 'same (b/part.c)' >wanted
grep -vx -e main -e other got >named # few runs sample these
same "each function is a row, and two static ones of one name are two" wanted named
rows -s symbol | cut -d , -f 11 | grep -vx main | sort >got
printf '%s\n' down other outer 'same (a/part.c)' 'same (b/part.c)' | sort >wanted
same "symbols are what the symbol table has" wanted got
rows -s function,srcfile | cut -d , -f 11- | grep -v 'other\|main' | sort >got
cat >wanted <<'END'
down,b/part.c
inner,work.h
middle,work.h
outer,a/part.c
same (a/part.c),a/part.c
same (b/part.c),b/part.c
END
same "source files are told apart" wanted got
check "or shown by their whole path" sh -c \
	'"$SPROF" report -i data -s srcfile --full-source-path | grep -q " $PWD/src/a/part.c$"'
check "a function that is only inlined is said to be" sh -c \
	'"$SPROF" report -i data -q | grep -q " inner (inlined)"'
check "in the tree, too" sh -c \
	'"$SPROF" report -i data -q -g | grep -q " inner (inlined)$"'
check "by lines if that is asked for" sh -c \
	'"$SPROF" report -i data -q -g caller,srcline | grep -q " outer \(a/\)*part.c:[0-9]"'

# Samples of the same rows, by perf's own words for them; of sorted "ROW TAB SAMPLES".
sums() {
	awk -F '\t' '{ sum[$1] += $2 } END { for (row in sum) print row "\t" sum[row] }' | sort
}
report --no-children -s symbol,srcline --format csv | awk -F , '
	NR > 1 && $11 != "_start" { sub(/.*\//, "", $12); sub(/ \(.*/, "", $11); print $11 " " $12 "\t" $4 }' | sums >lines.rows
report --format folded | awk '
	{
		n = split($1, frame, ";")
		way = ""
		while (frame[n] ~ /_\[i\]$/)
			way = ";" frame[n--] way
		print frame[n] way "\t" $NF
	}' | sums >inlined.rows

# The line of each sampled place; and its functions: those that are inlined, then the one
# that has the code. Not every perf lists those.
for perf in "$perf" ${SPROF_PEERS:+"$SPROF_PEERS/perf"}; do
	[ -x "$perf" ] || continue
	version=$("$perf" --version)
	"$perf" report -i data --no-children -g none --stdio -s sym,srcline -n -d prog -t '	' \
		2>"$tmp/.err" | awk -F '\t' '!/^#/ && NF > 3 {
			gsub(/^ *\[[.k]\] *| *$/, "", $3); gsub(/ *$/, "", $4)
			if ($3 != "_start")
				print $3 " " $4 "\t" $2 + 0
		}' | sums >perf.rows
	if [ -s perf.rows ]; then
		same "lines are those of $version" perf.rows lines.rows
	else
		skip "lines are those of $version" "it shows no rows"
	fi
	"$perf" script -i data -F ip,sym,dso --inline 2>"$tmp/.err" | awk '
		!NF { done = 0; way = ""; next }
		done { next }
		/\(inlined\)/ { way = ";" $2 "_[i]" way; next }
		{ done = 1; if ($NF ~ /\/prog\)$/) print $2 way "\t1" }' | sums >perf.rows
	if grep -q '_\[i\]' perf.rows; then
		same "inlined functions at sampled places are those of $version" perf.rows \
			inlined.rows
	else
		skip "inlined functions at sampled places are those of $version" "it shows none"
	fi
done

# Whatever rows are by, they are all of the samples.
for keys in function srcfile srcline dso,function comm,symbol,function,srcline event,srcfile; do
	"$SPROF" report -i data --no-children --format csv -s $keys | awk -F , '
		NR > 1 { samples += $4; share += $1 }
		END { print samples, (share > 0.999999 && share < 1.000001) }'
done | uniq >sums
"$SPROF" report -i data --no-children --format csv -s comm | awk -F , 'NR > 1 { print $4, 1 }' >wanted
same "rows by any keys are all of the samples" wanted sums

# Nothing but symbols.
strip -g prog -o stripped && mv stripped prog
rows -s function | cut -d , -f 11 | sort -u >got
rows -s symbol | cut -d , -f 11 | sort -u >wanted
same "without debug information, functions are symbols" wanted got
check "and it is said that lines are not known" sh -c \
	'"$SPROF" report -i data -s srcline | tr -d "\n" |
		grep -q "of samples have no source line: mostly prog *-> .*install the debug symbols"'
check "and lines are not known" sh -c '"$SPROF" report -i data -q -s srcline | grep -q "\[no source line\]"'
finish
