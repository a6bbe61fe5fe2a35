#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The shown name of a function is the same in all outputs of a recording: with any filter, by symbol
# or by function, in all formats, and without the program. So it depends on the program,
# not on the samples that a filter selects. Each of two processes runs one of two functions.
. "$top_srcdir/tests/tap.sh"
need_sampling
mkdir "$tmp/a" "$tmp/b" "$tmp/empty"

# The names are those of a C++ program. One function is never called.
cat >"$tmp/main.c" <<'END'
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
volatile unsigned long sum;
#define BURN(n) for (unsigned long i = 0; i < (n) * 1000UL; i++) sum += i
#define FUNCTION(c, name) void c(unsigned long n) __asm__(name); \
	__attribute__((noinline, used)) void c(unsigned long n) { BURN(n); }
FUNCTION(f_int, "_Z1fi")
FUNCTION(f_double, "_Z1fd")
FUNCTION(f_class, "_ZN1C1fEi")
FUNCTION(f_const, "_ZNK1C1fEi")
FUNCTION(local, "_ZN1nL4partEi")
FUNCTION(exported, "_ZN1n4partEd")
FUNCTION(plus_int, "_ZN1CplEi")
FUNCTION(plus_double, "_ZN1CplEd")
FUNCTION(body, "_Z7computei._omp_fn.0")
FUNCTION(compute, "_Z7computei")
FUNCTION(called, "_ZNSt6vectorIiSaIiEE9push_backERKi")
FUNCTION(never_called, "_ZNSt6vectorIiSaIiEE9push_backEOi")
FUNCTION(alone, "_ZN5ShapeIiLi4EE5aloneEi")
void from_a(unsigned long n), from_b(unsigned long n);
static void run(int second)
{
	for (int i = 0; i < ROUNDS; i++) {
		(second ? f_double : f_int)(30);
		(second ? f_const : f_class)(30);
		(second ? exported : local)(30);
		(second ? plus_double : plus_int)(30);
		(second ? compute : body)(30);
		(second ? alone : called)(30);
		(second ? from_b : from_a)(30);
	}
}
int main(void)
{
	for (int second = 0; second < 2; second++)
		if (!fork()) {
			prctl(PR_SET_NAME, second ? "second" : "first");
			run(second);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
cat >"$tmp/a/part.c" <<'END'
extern volatile unsigned long sum;
__attribute__((noinline)) static void helper(unsigned long n)
{
	for (unsigned long i = 0; i < n * 1000; i++)
		sum += i;
}
static inline __attribute__((always_inline)) void mix(unsigned long n)
{
	for (unsigned long i = 0; i < n * 1000; i++)
		sum ^= i;
}
void FROM(unsigned long n)
{
	helper(n);
	mix(n);
}
END
sed 's/sum ^= i/sum -= i/' "$tmp/a/part.c" >"$tmp/b/part.c"
printf '%s\n' 'C::f(int)' 'C::f(int) const' 'C::operator+(double)' 'C::operator+(int)' \
	'Shape<int, 4>::alone' 'compute' 'compute [clone ._omp_fn.0]' 'f(double)' 'f(int)' \
	'n::part(double)' 'n::part(int)' \
	'std::vector<int, std::allocator<int> >::push_back(int const&)' | sort >"$tmp/names"

# build FLAG
build() {
	for part in a b; do
		(cd "$tmp/$part" && $CC -O1 "$1" -DFROM=from_$part -c -o ../$part.o part.c) ||
			exit 99
	done
	$CC -O1 "$1" -DROUNDS=1500 -o "$tmp/prog" "$tmp/main.c" "$tmp/a.o" "$tmp/b.o" || exit 99
}

# select_names: the names that the test is about.
select_names() {
	grep '::\|^f\>\|^compute\|^helper\|^mix' | sort -u
}

# list [OPTION]...: the names of a table.
list() {
	"$SPROF" report -q -i "$tmp/data" --format csv --interval within --no-children -d prog \
		--percent-limit 0 "$@" \
		2>"$tmp/err" | awk 'NR > 1 {
			if (match($0, /"[^"]*"$/)) print substr($0, RSTART + 1, RLENGTH - 2)
			else { sub(/.*,/, ""); print }
		}' | select_names
}

# equal TITLE: the names of $tmp/got are those of the whole report.
equal() {
	sort -u "$tmp/got" | comm -23 - "$tmp/whole" >"$tmp/others"
	check "$1" sh -c 'test -s "$1" && ! sed "s/^/# /" "$2" | grep .' sh "$tmp/got" "$tmp/others"
}

# views TITLE [OPTION]...: names of filters and outputs are those of the whole report.
views() {
	title=$1
	shift
	pids=$("$SPROF" report -q -i "$tmp/data" --format csv --interval within --no-children -s pid "$@" \
		2>"$tmp/err" |
		sed '1d; s/.*,//')
	for key in function symbol; do
		list -s $key "$@" >"$tmp/got"
		equal "$title: names by $key"
		for name in first second; do
			list -s $key --comms $name "$@"
		done >"$tmp/got"
		equal "$title: names by $key of a thread name"
		for pid in $pids; do
			list -s $key --pid "$pid" "$@"
		done >"$tmp/got"
		equal "$title: names by $key of a process"
		for begin in 0 10 20 30 40 50 60 70 80 90; do
			list -s $key --time "$begin%-$((begin + 2))%" "$@"
		done >"$tmp/got"
		equal "$title: names by $key of a time"
	done
	"$SPROF" report -q -i "$tmp/data" --format folded --time 10%-40% "$@" 2>"$tmp/err" |
		sed "s/ [0-9]*\$//; s/_\[i\]\$//; s/.*;//" | select_names >"$tmp/got"
	equal "$title: names of folded stacks of a time"
	"$SPROF" report -q -i "$tmp/data" --format json --time 10%-40% -s function "$@" \
		2>"$tmp/err" |
		sed -n 's/.*"function": "\([^"]*\)".*/\1/p' | select_names >"$tmp/got"
	equal "$title: names in JSON of a time"
	"$SPROF" report -q -i "$tmp/data" -o "$tmp/pprof.pb.gz" --time 10%-40% "$@" 2>"$tmp/err"
	if gzip -dc "$tmp/pprof.pb.gz" >"$tmp/pprof" 2>"$tmp/err" && [ -s "$tmp/pprof" ]; then
		check "$title: names in pprof of a time" grep -aqF 'C::f(int)' "$tmp/pprof"
	else
		skip "$title: names in pprof of a time" "no zlib"
	fi
}

one_build() {
	flag=$1
	build "$flag"
	"$SPROF" record -q -e cpu-clock -F 2000 -o "$tmp/data" -- "$tmp/prog" 2>"$tmp/err" ||
		exit 99
	await_names "$tmp/data"
	list -s function >"$tmp/whole"
	list -s symbol >>"$tmp/whole"
	sort -u -o "$tmp/whole" "$tmp/whole"
	grep -v '^helper\|^mix' "$tmp/whole" >"$tmp/got"
	same "cc $flag: all names" "$tmp/names" "$tmp/got"
	if [ "$flag" = -g ]; then
		grep '^helper\|^mix' "$tmp/whole" >"$tmp/got"
		printf '%s\n' 'helper (a/part.c)' 'helper (b/part.c)' 'mix (a/part.c)' \
			'mix (b/part.c)' >"$tmp/wanted"
		same "cc $flag: source files have the folder that distinguishes them" \
			"$tmp/wanted" "$tmp/got"
	fi
	views "cc $flag"
	mv "$tmp/prog" "$tmp/moved"
	views "cc $flag, without the program" --symfs "$tmp/empty"
}
build -g0
"$SPROF" record -q -o "$tmp/data" -- "$tmp/prog" 2>"$tmp/err" || exit 99
list -s function | grep -q '^f(int)$' || skip_all "this build does not demangle names"
noisy one_build -g0
noisy one_build -g
finish
