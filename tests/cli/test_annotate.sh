#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Code of functions with samples at known addresses: the same instructions as objdump's, the same
# shares as perf's and the report's, and no code but the recorded one.
. "$top_srcdir/tests/cli/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "needs code of x86-64"
command -v objdump >/dev/null || skip_all "needs objdump (binutils)"
command -v python3 >/dev/null || skip_all "needs python3"
cd "$tmp" || exit 99

cat >mix.cc <<'END'
struct pair { int a, b; int sum() const { return a * 3 + b; } };
template <class T> __attribute__((noinline)) int total(const T *items, int count)
{
	int s = 0;
	for (int i = 0; i < count; i++)
		s += items[i].sum();	/* [31m and "quotes" */
	return s;
}
extern "C" int assembled(int);
extern "C" __attribute__((noinline)) int hot(int n)
{
	static volatile int table[64];
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			s += table[i & 63];
		else
			s = s * 5 + assembled(i);
	}
	return s;
}
static __attribute__((noinline)) int helper(int n) { volatile int s = n; return s + 1; }
int other(int n);
int main(int argc, char **argv)
{
	const pair pairs[2] = {{argc, 2}, {3, 4}};
	return hot(argc) + total(pairs, argc) + helper(argc) + other(argc);
}
END
sed -i 's/\[31m/\x1b[31m/' mix.cc
echo 'static __attribute__((noinline)) int helper(int n) { volatile int s = n; return s + 2; }
int other(int n) { return helper(n); }' >part.cc
# Data between instructions, an end without ret, and a function without a size.
cat >assembled.S <<'END'
	.text
	.globl assembled, unsized
	.type assembled, @function
assembled:
	leal 1(%rdi), %eax
	jmp 1f
	.byte 0x48, 0xb8
1:	imull %eax, %eax
	ret
	.size assembled, . - assembled
	.type unsized, @function
unsized:
	nop
	ret
	.section .note.GNU-stack,"",@progbits
END
build() {
	"${CXX:-g++}" -O2 -g -no-pie -Wl,--build-id -o "$@" mix.cc part.cc assembled.S >compile 2>&1
}
build prog || skip_all "needs a C++ compiler: $(tail -1 compile)"
build_id() { readelf -n "$1" | sed -n 's/ *Build ID: //p'; }
# shellcheck disable=SC2046 # three words
set -- $(readelf -lW prog | awk '$1 == "LOAD" && / R E / { print $3, $6, $2 }')
start=$1 size=$2 offset=$3

# Prints the addresses and bytes of a function's instructions.
disassemble() {
	objdump -d --insn-width=16 --disassemble="$2" "$1" | awk -F '\t' '
		NF >= 2 && /^ / { gsub(/[ :]/, "", $1); gsub(/ /, "", $2); print $1, $2 }'
}

{
	nm prog | sed -n 's/^0*\([0-9a-f]*\) t _ZL6helperi$/\1/p'
	# The instruction after the data, which are the begin of a longer one.
	printf '%x\n' $((0x$(nm prog | sed -n 's/^\([0-9a-f]*\) T assembled$/\1/p') + 7))
} >others

# Samples: each third instruction of the functions, 1 to 9 times, and the begin of both helpers.
{
	echo "event cpu-clock"
	echo "comm 7 7 prog"
	echo "mmap 7 $start $size $offset $tmp/prog $(build_id prog)"
	for symbol in hot _Z5totalI4pairEiPKT_i assembled; do
		disassemble prog "$symbol"
	done | cat - others | awk '
		NR % 3 == 1 || NF == 1 {
			for (i = 0; i < 1 + NR * 7 % 9; i++)
				printf "sample 0 7 7 0 %d 1000000 0x%s\n", 1e9 + ++n * 1e6, $1
		}'
} >records
recording prog.data <records

annotate() { "$SPROF" annotate -i prog.data --format json "$@" 2>messages; }
instructions() {
	sed -n 's/.*"address": "0x\([0-9a-f]*\)", "code": "\([0-9a-f]*\)".*/\1 \2/p' "$1"
}

for function in hot 'total<pair>' assembled; do
	symbol=$function
	[ "$function" = 'total<pair>' ] && symbol=_Z5totalI4pairEiPKT_i
	annotate "$function" >json
	instructions json >got
	disassemble prog "$symbol" >wanted
	case $function in
	assembled) # the bytes between are an instruction to objdump, until the sample after them
		check "$function: instructions before the data" \
			test "$(sed -n 1,2p got)" = "$(sed -n 1,2p wanted)"
			check "$function: the sampled one after them" grep -q "0fafc0$" got
		;;
	*)
		check "$function has samples" grep -q '"samples": [1-9]' json
		same "$function: all instructions are objdump's" wanted got
		;;
	esac
done

# The last words in the syntax of Intel, which has the same mnemonics in both.
"$SPROF" annotate -i prog.data -M intel --format json hot |
	sed -n 's/.*"text": "\([a-z]*\).*/\1/p' >got
# xchg ax, ax is a nop.
objdump -d -M intel --no-show-raw-insn --disassemble=hot prog |
	awk -F '\t' 'NF >= 2 && /^ / {
		split($2, words, " ")
		print words[1] == "xchg" ? "nop" : words[1]
	}' >wanted
if grep -q text_problem json; then
	skip "the mnemonics are objdump's" "built without capstone"
else
	same "the mnemonics are objdump's" wanted got
fi

# Counts of addresses and lines are those of the report.
for function in hot 'total<pair>'; do
	annotate "$function" >json
	python3 -c '
import json, collections
lines = collections.Counter()
for one in json.load(open("json"))["instructions"]:
	if one.get("samples"):
		print(one["address"], one["samples"])
		frame = one["frames"][0]
		lines["%s:%d" % (frame["file"].rsplit("/")[-1], frame["line"])] += one["samples"]
open("lines", "w").write("".join(sorted("%s %d\n" % line for line in lines.items())))
' | sort >got
	"$SPROF" report -i prog.data --format csv -S "$function" -s addr >csv 2>messages
	python3 -c '
import csv
for row in csv.DictReader(open("csv")):
	print(row["addr"].split()[0], row["self_samples"])
' | sort >wanted
	check "$function: addresses" test -s wanted
	same "$function: the samples of addresses are the report's" wanted got
	"$SPROF" report -i prog.data --format csv --no-inline -S "$function" -s srcline >csv
	python3 -c '
import csv
for row in csv.DictReader(open("csv")):
	print(row["srcline"], row["self_samples"])
' | sort >wanted
	same "$function: the samples of lines are the report's" wanted lines
done

# perf's shares of the function, for each address.
if command -v perf >/dev/null && perf annotate --stdio -i prog.data -s hot >perf.out 2>perf.err &&
	grep -q 'hot' perf.out; then
	sed -n 's/^ *\([0-9.]*\) *: *\([0-9a-f]*\): .*/\2 \1/p' perf.out >wanted
	"$SPROF" annotate -i prog.data -q --no-source hot |
		sed -n 's/^ *\([0-9.]*\)% *[0-9.]*[–-] *[0-9.]* *\([0-9a-f]*\) .*/\2 \1/p
			t
			s/^ *\([0-9a-f]\{6,\}\) .*/\1 0.00/p' >got
	check "perf shows shares" grep -q ' [1-9]' wanted
	same "shares are perf's" wanted got
else
	skip "shares are perf's" "no perf that annotates"
fi

# Text: 80 columns, no control characters, inlined functions by name and line.
script -qec "$SPROF annotate --no-pager -i prog.data 'total<pair>'" typescript </dev/null \
	>screen 2>&1
sed 's/\x1b\[[0-9;]*m//g; s/\r$//' screen >text
check "no line is wider than the terminal" python3 -c '
import sys
sys.exit(any(len(line.rstrip("\n")) > 80 for line in open("text", encoding="utf-8")))'
"$SPROF" annotate -i prog.data 'total<pair>' >text 2>messages
check "no control characters" python3 -c '
import sys
sys.exit(any(byte < 32 and byte != 10 for byte in open("text", "rb").read()))'
check "an inlined function has its name and place" \
	grep -q '^pair::sum, inlined at mix.cc:6 into total<pair>:' text
check "and its line" grep -q '^mix.cc:1  struct pair' text
check "the event's skid is stated" grep -q '^Skid: ' text
check "jumps have lines" grep -q '[─-][─-]* *j[a-z]* 0x\|[↓↑v^] j' text

# Choice of the function.
"$SPROF" annotate -i prog.data >text 2>messages
"$SPROF" report -i prog.data -q -s symbol --format csv >csv
hottest=$(python3 -c 'import csv; print(next(csv.DictReader(open("csv")))["symbol"])')
check "without an operand: the hottest function" test "$(sed -n '1s/  .*//p' text)" = "$hottest"
status "several functions match" 0 "$SPROF" annotate -i prog.data helper
says "they are listed" "^sprof: 2 functions match; shown is the hottest:"
says "with their files" " helper (mix.cc) *prog"
check "the hottest is shown" grep -q '^helper (\(mix\|part\).cc)' out
status "one of them" 0 "$SPROF" annotate -i prog.data 'helper (mix.cc)'
check "is shown alone" test ! -s err
status "a function that is always inlined" 1 "$SPROF" annotate -i prog.data pair::sum
says "is named with those that contain it" "sprof annotate -i prog.data 'total<pair>'"
status "a part of a name" 1 "$SPROF" annotate -i prog.data tota
says "similar names are proposed" "sprof annotate -i prog.data 'total<pair>'"
fails "a misspelt function" 1 "$SPROF" annotate -i prog.data hto <<'END'
sprof: no function is named hto; the nearest name is hot:
       sprof annotate -i prog.data hot
END
# A clone has the function's code in a symbol of another name.
cat >clone.c <<'END'
volatile unsigned sink;
static __attribute__((noinline)) unsigned cloned(unsigned n, unsigned k)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * k;
	return sink;
}
int main(int argc, char **argv) { return cloned(argc, 3) + cloned(2 * argc, 3) == 1 && argv; }
END
$CC -O2 -g -no-pie -o clone clone.c
at=$(nm clone | sed -n 's/^0*\([0-9a-f]*\) t cloned\.constprop\.0$/\1/p')
if [ "$at" ]; then
	# shellcheck disable=SC2046 # three words
	set -- $(readelf -lW clone | awk '$1 == "LOAD" && / R E / { print $3, $6, $2 }')
	recording clone.data <<END
event cpu-clock
comm 7 7 clone
mmap 7 $1 $2 $3 $tmp/clone
sample 0 7 7 0 1000000000 1000000 0x$at
END
	status "a function with a symbol of another name" 0 "$SPROF" annotate -i clone.data cloned
	says "its symbol is named, as one" \
		"^sprof: shown is cloned.constprop.0, which has the code of cloned\$"
else
	skip "a function with a symbol of another name" "the compiler makes no clone"
fi
status "a recording as the function" 129 "$SPROF" annotate prog.data
says "the option is named" "^sprof: prog.data is a recording: use -i prog.data\$"
fails "no such function" 1 "$SPROF" annotate -i prog.data nothing <<'END'
sprof: no sample is in a function nothing; 'sprof report -i prog.data' lists the functions
END
status "two functions" 129 "$SPROF" annotate -i prog.data hot main
status "an unknown style" 129 "$SPROF" annotate -i prog.data -M gnu
says "the styles are named" "att or intel"

# The report on a terminal names the command; in a pipe it does not.
script -qec "$SPROF report --no-pager -i prog.data" typescript </dev/null >screen 2>&1
check "the report names the command" \
	grep -q "^[^a-z]*The instructions of the first row: sprof annotate -i prog.data '" screen
check "a pipe has no such line" \
	sh -c '! "$1" report -i prog.data | grep -q "sprof annotate"' - "$SPROF"

# Shares of the event are smaller.
"$SPROF" annotate -i prog.data --format json --percent-type global-period hot >json
check "shares of the event" python3 -c '
import json, sys
one = json.load(open("json"))
total = sum(i["share"]["value"] for i in one["instructions"] if "share" in i)
sys.exit(abs(total - one["function"]["share"]["value"]) > 1e-6 or total > 0.95)'

# Without symbols, and without debug information.
mkdir stripped && strip -o stripped/prog prog
sed "s#$tmp/prog#$tmp/stripped/prog#" records >stripped.records
recording stripped.data <stripped.records
at=$(nm prog | sed -n 's/^0*\([0-9a-f]*\) T hot$/\1/p')
"$SPROF" annotate -i stripped.data --format json "fn@0x$at" >json 2>messages
instructions json >got
disassemble prog hot >wanted
# The range of call frame information has no padding, as the symbol.
same "a stripped program: the same instructions" wanted got
"$SPROF" annotate -i stripped.data "fn@0x$at" >text
check "missing lines have a reason" grep -q '^! .*no debug information' text

# Only the recorded code is shown.
mv prog prog.away
fails "a deleted program" 1 "$SPROF" annotate -i prog.data hot <<END
sprof: no sample is in a function hot; 'sprof report -i prog.data' lists the functions
END
build prog -O1 && status "a rebuilt program" 1 "$SPROF" annotate -i prog.data
says "the reason is named" "cannot show the code of .*: .*prog"
check "nothing is shown" test ! -s out
mkdir -p "root$tmp" && cp prog.away "root$tmp/prog"
"$SPROF" annotate -i prog.data --symfs root --format json hot >json 2>messages
instructions json >got
same "--symfs has the recorded one" wanted got
mv prog.away prog
"$SPROF" archive --with-binaries -q prog.data && mv prog prog.away
"$SPROF" annotate -i prog.data --format json hot >json 2>messages
instructions json >got
same "a program stored in the recording" wanted got
mv prog.away prog

# A huge function: regions near samples only, and in step with objdump from its begin on.
{
	printf '\t.text\n\t.globl huge, main\n\t.type huge, @function\nhuge:\n'
	awk 'BEGIN {
		for (i = 0; i < 60000; i++)
			printf "\taddl $%d, %%eax\n\tmovq %%rax, %d(%%rsp)\n", i % 999, -8 * (i % 9)
	}'
	printf '\tret\n\t.size huge, . - huge\nmain:\tcall huge\n\tret\n'
	printf '\t.section .note.GNU-stack,"",@progbits\n'
} >huge.S
$CC -no-pie -o huge huge.S
# shellcheck disable=SC2046 # three words
set -- $(readelf -lW huge | awk '$1 == "LOAD" && / R E / { print $3, $6, $2 }')
disassemble huge huge >wanted
picked=$(sed -n 50000p wanted)
{
	echo "event cpu-clock"
	echo "comm 7 7 huge"
	echo "mmap 7 $1 $2 $3 $tmp/huge"
	for i in 1 2 3; do
		echo "sample 0 7 7 0 100000000$i 1000000 0x${picked% *}"
	done
} >huge.records
recording huge.data <huge.records
"$SPROF" annotate -i huge.data --format json >json 2>messages
instructions json >got
count=$(wc -l <got)
check "few instructions of a huge function are listed ($count)" \
	test "$count" -gt 20 -a "$count" -lt 100
check "all of them are objdump's" test "$(grep -cxFf got wanted)" = "$count"
check "those left out are counted" grep -q '"left_out_bytes": [1-9][0-9]\{5,\}' json
"$SPROF" annotate -i huge.data >text 2>messages
check "the head has the hottest instruction" grep -q "^hottest: ${picked% *} 100.00%\$" text
"$SPROF" annotate -i huge.data --format json --whole >json 2>messages
instructions json >got
same "--whole lists all" wanted got
"$SPROF" annotate -i huge.data >text 2>messages
check "gaps have their size" grep -q '[0-9,]* bytes without samples' text

# Code made at run time: the bytes in the jitdump.
if "$workload/jitdump" "$tmp" 0 >jitted 2>messages; then
	dump=$(ls jit-*.dump)
	pid=${dump#jit-}
	pid=${pid%.dump}
	# The dump's clock is not this recording's: the last code at the address counts.
	# shellcheck disable=SC2046 # four words
	set -- $(sed -n '/^delta/p' jitted)
	recording jit.data <<END
event cpu-clock
comm $pid $pid jitdump
mmap $pid 0x10000 0x1000 0 $tmp/$dump
mmap $pid 0x$2 0x1000 0 //anon
sample 0 $pid $pid 0 $((($3 + $4) / 2)) 1000000 0x$2
END
	"$SPROF" annotate -i jit.data --format json delta >json 2>messages
	instructions json >got
	printf '%s\n' "0 48ffcf" "3 75fb" "5 c3" >wanted
	same "code of a jitdump" wanted got
	rm "$dump"
	status "without the jitdump" 1 "$SPROF" annotate -i jit.data
	says "the reason is named" "cannot show the code of "
else
	skip "code of a jitdump" "the workload does not know this machine"
fi
finish
