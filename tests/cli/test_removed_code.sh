#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Linkers remove unused functions, but leave their debug information, at addresses such as 0. These
# functions, inlined calls and lines are never said of the code that is there.
. "$top_srcdir/tests/cli/lib.sh"

sources=$top_builddir/tests/cli/sources
normal=$top_srcdir/tests/cli/sources.awk
: "${CXX:=g++}"
command -v "$CXX" >/dev/null || skip_all "no C++ compiler"
command -v nm >/dev/null || skip_all "no nm"
cd "$tmp" || exit 99

# A used function begins at a line of its own that ends in its name, and ends at the next "}".
cat >inline.h <<'END'
extern volatile unsigned long sink;
static inline __attribute__((always_inline)) void gone_inline(int n)
{
	for (int i = 0; i < n; i++)
		sink ^= i;
}
static inline __attribute__((always_inline)) void used_inline(int n)
{
	for (int i = 0; i < n; i++)
		sink += i * 3;
}
#define GONE4 gone_inline(1); gone_inline(2); gone_inline(3); gone_inline(4);
#define GONE16 GONE4 GONE4 GONE4 GONE4
#define GONE64 GONE16 GONE16 GONE16 GONE16
#define GONE256 GONE64 GONE64 GONE64 GONE64
END
cat >used.cc <<'END'
#include "inline.h"
volatile unsigned long sink;
extern "C" void gone_first() { GONE256 GONE16 }
template<int n> __attribute__((noinline)) void gone_template() { used_inline(n); }
extern "C" void gone_second() { GONE64 gone_template<3>(); }
extern "C" __attribute__((noinline)) void // used_hot
used_hot()
{
	used_inline(6);
}
extern "C" __attribute__((noinline)) void // used_warm
used_warm(int n)
{
	for (int i = 0; i < n; i++)
		sink += i * 5;
}
int // main
main(int argc, char **)
{
	used_hot();
	used_warm(argc);
	return 0;
}
extern "C" void gone_last() { GONE256 }
END
cat >gone.cc <<'END'
#include "inline.h"
extern "C" void gone_alone1() { GONE16 }
extern "C" void gone_alone2() { GONE64 }
extern "C" void gone_alone3() { GONE256 }
extern "C" void gone_alone4() { GONE16 }
END

# addresses PROGRAM: "ADDRESS FUNCTION" of each byte of the used functions, but one at 0, where removed
# functions are.
addresses() {
	nm -S --defined-only "$1" | awk '
		function hex(text,    i, n) {
			n = 0
			for (i = 1; i <= length(text); i++)
				n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return n
		}
		NF == 4 && $1 !~ /^0*$/ && $4 ~ /^(used_|main$)/ {
			start = hex($1)
			for (i = 0; i < hex($2); i++)
				printf "%x %s\n", start + i, $4
		}' | sort
}

# Prints the addresses at which another function, inlined call or line is said than the source has.
# Line 0 is code of the compiler's own. With $1 = 0, lines are not compared.
wrong() {
	awk -v lines="$1" '
		FILENAME == "used.cc" && / \/\/ / { name = $NF; begin[name] = FNR }
		FILENAME == "used.cc" && /^}/ { end[name] = FNR; name = "" }
		FILENAME == "named" { function_at[$1] = $2 }
		FILENAME == "said" {
			seen++
			name = function_at[$1]
			n = split($2, part, " ")
			split(part[n], outer, "@")
			line = outer[2]
			sub(/.*:/, "", line)
			line += 0
			if ($2 ~ /gone/ || outer[1] != name || lines && outer[2] !~ /used\.cc:/ ||
			    lines && line && (line < begin[name] || line > end[name]) || n > 2 ||
			    n == 2 && part[1] !~ /used_inline.*@/ ||
			    n == 2 && lines && part[1] !~ /inline\.h:([7-9]|1[01])$/)
				print
		}
		END { if (!seen) print "nothing is said" }' used.cc named FS='\t' said
}

# linked NAME CXX [ARG]...: the program that these arguments make.
linked() {
	name=$1 cxx=$2
	shift 2
	if ! "$cxx" "$@" -Wl,--gc-sections -o program >build.log 2>&1; then
		skip "$name" "cannot be linked: $(sed 1q build.log)"
		return
	fi
	if nm program | grep -q gone; then
		skip "$name" "the linker kept the functions"
		return
	fi
	addresses program >named
	cut -d' ' -f1 named | "$sources" "$tmp/program" 2>err | awk -v mode=lines -f "$normal" >said
	check "$name: nothing is damaged" test ! -s err
	wrong $compared >bad
	if [ -s bad ]; then
		not_ok "$name" "$(wc -l <bad) of $(wc -l <named) addresses: $(sed 3q bad)"
	else
		ok "$name"
	fi
}

compiled() {
	"$1" -O2 "$2" -fPIE -fno-tree-vectorize -c gone.cc &&
		"$1" -O2 "$2" -fPIE -fno-tree-vectorize -ffunction-sections -c used.cc
}

for cxx in g++ clang++; do
	for version in -gdwarf-4 -gdwarf-5; do
		if ! compiled $cxx $version >build.log 2>&1; then
			skip "$cxx $version" "cannot be compiled"
			continue
		fi
		compared=1
		for linker in bfd gold lld mold; do
			title="$cxx $version $linker"
			linked "$title" $cxx -pie -fuse-ld=$linker gone.o used.o
			[ $linker = gold ] || # it has no such option, and is as with it
				linked "$title, headers and code in one segment" $cxx -pie \
					-fuse-ld=$linker -Wl,-z,noseparate-code gone.o used.o
		done
		for mark in 1 0xfffffffffffffffe 0xffffffffffffffff; do
			linked "$cxx $version lld, removed code at $mark" $cxx -pie -fuse-ld=lld \
				-Wl,-z,dead-reloc-in-nonalloc='.debug_*'=$mark gone.o used.o
		done
		# Removed functions seem to be in the section: a nearer symbol disproves them. Lines
		# have no such proof.
		compared=0
		linked "$cxx $version, code at 0" $cxx -static -no-pie -nostdlib -fuse-ld=bfd \
			-Wl,-Ttext=0,-e,main used.o
	done
done

# Code without debug information between functions that have some: the last row before it is not its.
cat >between.c <<'END'
__attribute__((noinline)) int before(int x) { return x + 1; }
__asm__(".type between, %function\n.globl between\nbetween: nop\nnop\nnop\nnop\n.size between, . - between");
int main(int argc, char **argv) { return before(argc) * !argv; }
END
if ${CC:-cc} -O1 -g -fno-toplevel-reorder between.c -o between >build.log 2>&1 && nm -S between >named; then
	awk '$4 == "between" { print $1 }' named | "$sources" "$tmp/between" >said
	check "code without debug information has no line of other code" \
		sh -c '[ -s said ] && ! grep -q between.c said'
else
	skip "code without debug information" "cannot be compiled"
fi
finish
