#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One row for one function: overloads, outlined bodies, and static functions of one name are functions of
# their own in all outputs, with and without debug information; files of one name are files of their own.
# The same function in another build, or in a copy of its file, is the same row.
. "$top_srcdir/tests/tap.sh"
need_sampling

# The names are those that g++ -fopenmp makes.
cat >"$tmp/main.c" <<'END'
volatile unsigned long sum;
#define BURN(n) for (unsigned long i = 0; i < (n) * 1000UL; i++) sum += i
#define FUNCTION(c, name) void c(unsigned long n) __asm__(name); \
	__attribute__((noinline)) void c(unsigned long n) { BURN(n); }
FUNCTION(f_int, "_Z1fi")
FUNCTION(f_double, "_Z1fd")
FUNCTION(body, "_Z7computei._omp_fn.0")
FUNCTION(compute, "_Z7computei")
void from_a(unsigned long n), from_b(unsigned long n);
int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		f_int(10);
		f_double(40);
		body(30);
		compute(20);
		from_a(15);
		from_b(25);
	}
	return 0;
}
END
cat >"$tmp/a.c" <<'END'
extern volatile unsigned long sum;
__attribute__((noinline)) static void helper(unsigned long n)
{
	for (unsigned long i = 0; i < n * 1000; i++)
		sum += i;
}
void FROM(unsigned long n)
{
	helper(n);
	sum++;
}
END
sed 's/sum++/sum--/' "$tmp/a.c" >"$tmp/b.c"
printf '%s\n' 'compute' 'compute [clone ._omp_fn.0]' 'f(double)' 'f(int)' 'helper (a.c)' 'helper (b.c)' \
	>"$tmp/names"

# build PROGRAM [FLAG]...
build() {
	built=$1
	shift
	mkdir -p "${built%/*}"
	for part in a b; do
		$CC -O1 "$@" -DFROM=from_$part -c -o "$tmp/$part.o" "$tmp/$part.c" || exit 99
	done
	$CC -O1 -DROUNDS=1500 "$@" -o "$built" "$tmp/main.c" "$tmp/a.o" "$tmp/b.o" || exit 99
}

# rows DATA... [OPTION]...: names, without rare ones.
rows() {
	"$SPROF" report -q --format csv --interval within -s function --no-children -d prog --percent-limit 2 "$@" \
		2>"$tmp/err" | awk -F, 'NR > 1 { name = $NF; gsub(/"/, "", name); print name }' | sort
}

# samples OF: the numbers of samples of the rows in the order of their names.
samples() {
	awk -F, 'NR > 1 { print $4 }' "$1" | sort -n
}

# outputs TITLE: the names of $tmp/data are those of $tmp/names in all outputs.
outputs() {
	rows -i "$tmp/data" >"$tmp/got"
	same "$1: rows of functions" "$tmp/names" "$tmp/got"
	"$SPROF" report -q --format csv --interval within -s symbol --no-children -d prog --percent-limit 2 -i "$tmp/data" |
		awk -F, 'NR > 1 { gsub(/"/, "", $NF); print $NF }' | sort >"$tmp/got"
	same "$1: rows of symbols" "$tmp/names" "$tmp/got"
	"$SPROF" report -q --format folded -i "$tmp/data" --percent-limit 2 |
		sed 's/ [0-9]*$//; s/.*;//' | grep -v '_\[k\]$\|^main$' | sort -u >"$tmp/got"
	same "$1: folded stacks" "$tmp/names" "$tmp/got"
	"$SPROF" report -q --format json -g caller -i "$tmp/data" --percent-limit 2 >"$tmp/json"
	check "$1: JSON has the entry address" sh -c \
		"grep -q '\"function\": \"f(int)\".*\"identity\": \"$tmp/prog+0x[0-9a-f]*\"' '$tmp/json'"
	"$SPROF" report -q -o "$tmp/pprof.pb.gz" -i "$tmp/data" 2>"$tmp/err"
	gzip -dc "$tmp/pprof.pb.gz" >"$tmp/pprof" 2>/dev/null
	if [ -s "$tmp/pprof" ]; then
		check "$1: pprof has the linkage name" grep -aq '_Z7computei\._omp_fn\.0' "$tmp/pprof"
	else
		skip "$1: pprof has the linkage name" "no zlib"
	fi
	# Names do not depend on the filter, and each name is a filter for its function. A name without
	# parameters is one for all that have it.
	while read -r name; do
		rows -i "$tmp/data" -S "$name" --percent-limit 0
	done <"$tmp/names" | sort >"$tmp/got"
	{ echo 'compute [clone ._omp_fn.0]'; cat "$tmp/names"; } | sort >"$tmp/wanted"
	same "$1: filters by the shown names" "$tmp/wanted" "$tmp/got"
	rows -i "$tmp/data" --focus 'helper (b.c)' >"$tmp/got"
	echo 'helper (b.c)' >"$tmp/wanted"
	same "$1: focus on a shown name" "$tmp/wanted" "$tmp/got"
}

# against_perf TITLE: as many rows, with the samples of perf's.
against_perf() {
	if ! command -v perf >/dev/null; then
		skip "$1: the samples are perf's" "no perf"
		return
	fi
	"$SPROF" report -q --format csv --interval within -s function --no-children -d prog --percent-limit 2 \
		-i "$tmp/data" >"$tmp/csv"
	samples "$tmp/csv" >"$tmp/got"
	perf report -i "$tmp/data" --stdio --no-children -g none -n -s dso,sym --percent-limit 2 \
		2>/dev/null | awk '$3 == "prog" { print $2 }' | sort -n >"$tmp/wanted"
	same "$1: the samples are perf's" "$tmp/wanted" "$tmp/got"
}

build "$tmp/prog"
"$SPROF" record -q -o "$tmp/data" -- "$tmp/prog" || exit 99
[ -n "$(rows -i "$tmp/data" -S 'f(int)')" ] || skip_all "this build does not demangle names"
one_build() {
	build "$tmp/prog" "$1"
	"$SPROF" record -q -o "$tmp/data" -- "$tmp/prog" || exit 99
	outputs "cc $1"
	against_perf "cc $1"
}
noisy one_build -g0
noisy one_build -g

# Another build at the same path: its functions are the same ones. At another path, they are not.
several_builds() {
	cp "$tmp/data" "$tmp/one"
	build "$tmp/prog" -g0 -falign-functions=256
	"$SPROF" record -q -o "$tmp/two" -- "$tmp/prog" || exit 99
	rows "$tmp/one" "$tmp/two" >"$tmp/got"
	same "two builds of a file are one file" "$tmp/names" "$tmp/got"
	mkdir -p "$tmp/old" "$tmp/copy" "$tmp/new"
	cp "$tmp/prog" "$tmp/copy/prog"
	cp "$tmp/prog" "$tmp/new/prog"
	build "$tmp/old/prog" -g0
	for part in old copy new; do
		"$SPROF" record -q -o "$tmp/$part.data" -- "$tmp/$part/prog" || exit 99
	done
	"$SPROF" report -q --format csv --interval within -s dso,symbol --no-children --percent-limit 2 -S 'f(double)' \
		"$tmp/old.data" "$tmp/new.data" "$tmp/copy.data" 2>"$tmp/err" |
		awk -F, 'NR > 1 { gsub(/"/, ""); print $(NF - 2), $(NF - 1), $NF }' >"$tmp/got"
	check "copies of a file are one row, other files of its name are not" \
		test "$(grep -c 'f(double)' "$tmp/got")" = 2
	check "files of one name have the part of the path that distinguishes them" \
		sh -c "grep -q 'old/prog' '$tmp/got' && grep -q 'copy/prog' '$tmp/got'"
	check "that part is a filter" test "$("$SPROF" report -q -s dso --format csv --interval within -d old/prog \
		"$tmp/old.data" "$tmp/new.data" 2>"$tmp/err" | grep -c '/prog')" = 1
	"$SPROF" report -q -s symbol --format csv --interval within --no-children --percent-limit 2 -S 'f(int)' \
		"$tmp/old.data" "$tmp/new.data" 2>"$tmp/err" >"$tmp/got"
	check "without files, names that are of several have them" grep -q 'f(int) \[old/prog\]' "$tmp/got"
}
noisy several_builds
finish
