#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of programs other than C with the GNU C library: musl, which has no call frame
# information, Go, which moves stacks, Rust, Fortran, and split stacks. The call chains are known;
# each compiler is used if it is installed.
#
# Parallel: stacks are judged one by one.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache" GOCACHE="$tmp/go" GOPATH="$tmp/gopath" GO111MODULE=off GOFLAGS=

"$SPROF" record -q -F 999 --call-graph dwarf -o "$tmp/data" true 2>"$tmp/err" ||
	skip_all "$(tail -n 1 "$tmp/err")"

number() {
	sed -n "s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$tmp/judgement"
}

# Compares $tmp/folded to $tmp/truth: AT_LEAST of a thousand stacks must be whole, and none wrong.
judge() {
	"$workload/chains" "$tmp/truth" <"$tmp/folded" >"$tmp/judgement" 2>"$tmp/shown"
	comment "$1: $(cat "$tmp/judgement")"
	ours=$(($(number samples) - $(number foreign)))
	if [ "$ours" -lt 50 ]; then
		not_ok "$1" "$ours samples of the program
$(head -n 5 "$tmp/folded")"
	elif [ $(($(number wrong) + $(number unmarked))) -gt $((ours / 100)) ]; then
		not_ok "$1" "$(head -c 2000 "$tmp/shown")"
	elif [ $(($(number complete) * 1000)) -lt $((ours * $2)) ]; then
		not_ok "$1" "$(number complete) of $ours are whole, not $2 of 1,000
$(cut -c 1-300 "$tmp/folded" | head -n 5)"
	else
		ok "$1"
	fi
}

# records NAME WHOLE COMMAND...: unwound live, and later.
records() {
	name=$1 whole=$2
	shift 2
	for when in live later; do
		"$SPROF" record -q -F 1999 --call-graph dwarf --unwind $when -o "$tmp/data" -- "$@" \
			>"$tmp/out" 2>"$tmp/err" || {
			not_ok "$name, $when" "$(cat "$tmp/err")"
			continue
		}
		"$SPROF" report -i "$tmp/data" --format folded --no-inline \
			>"$tmp/folded" 2>"$tmp/err"
		judge "$name, $when" "$whole"
	done
}

# shaped NAME LEAF CHAIN: of the samples of LEAF in $tmp/data 97 of a hundred have that chain
# (an expression of awk's for a line of folded stacks), and of the others all say that they are cut.
shaped() {
	"$SPROF" report -i "$tmp/data" --format folded --no-inline 2>"$tmp/err" |
		grep ";$2 [0-9]*\$" >"$tmp/folded"
	awk -v chain="$3" '
		{ all += $NF }
		$0 ~ chain { whole += $NF; next }
		!/^[^;]*;\[(truncated|stack)/ { wrong += $NF; if (shown++ < 3) print }
		END {
			print "# " all + 0 " samples, " whole + 0 " whole, " wrong + 0 " wrong"
			exit all < 50 || whole * 100 < all * 97 || wrong * 100 > all
		}' "$tmp/folded" >"$tmp/shown" && ok "$1" ||
		not_ok "$1" "$(cat "$tmp/shown" "$tmp/err")
$(head -n 3 "$tmp/folded" | cut -c 1-400)"
	comment "$1: $(sed -n 's/^# //p' "$tmp/shown")"
}

cat >"$tmp/busy.c" <<'END'
#include <pthread.h>
#include <time.h>
static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
__attribute__((noipa)) unsigned long leaf(unsigned long value)
{
	for (int i = 0; i < 100000; i++) {
		value = value * 6364136223846793005ul + 1;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}
__attribute__((noipa)) unsigned long mid(unsigned long value)
{
	value = leaf(value) + 1;
	__asm__ volatile("" : : : "memory");
	return value;
}
__attribute__((noipa)) void *outer(void *end)
{
	unsigned long value = 1;
	while (now() < *(double *)end)
		value = mid(value);
	return (void *)value;
}
int main(void)
{
	double end = now() + 0.4;
	pthread_t thread;
	if (pthread_create(&thread, 0, outer, &end))
		return 1;
	outer(&end);
	return pthread_join(thread, 0);
}
END
echo 'main outer mid! leaf!
outer mid! leaf!
* outer' >"$tmp/truth"
if command -v musl-gcc >/dev/null; then
	for how in '' -static; do
		if musl-gcc -O2 -g $how -o "$tmp/busy" "$tmp/busy.c" >"$tmp/err" 2>&1; then
			records "musl${how:+, $how}" 970 "$tmp/busy"
		else
			skip "musl${how:+, $how}" "$(tail -n 1 "$tmp/err")"
		fi
	done
	cat >"$tmp/copies.c" <<'END'
#include <string.h>
#include <time.h>
static char from[65536], to[65536];
static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
__attribute__((noipa)) void copies(void)
{
	for (int i = 0; i < 100; i++) {
		memcpy(to, from, sizeof(to) - 1 - i);
		__asm__ volatile("" : : : "memory");
	}
}
int main(void)
{
	double end = now() + 0.4;
	while (now() < end)
		copies();
	return 0;
}
END
	if [ "$(uname -m)" = x86_64 ] &&
		musl-gcc -O2 -g -fno-builtin -o "$tmp/copies" "$tmp/copies.c" >"$tmp/err" 2>&1; then
		"$SPROF" record -q -F 1999 --call-graph dwarf -o "$tmp/data" -- "$tmp/copies" \
			>"$tmp/out" 2>"$tmp/err"
		shaped "musl: its functions that have no frame" memcpy \
			'^copies;([^;]*;)?main;copies;memcpy '
	else
		skip "musl: its functions that have no frame" "not of this machine"
	fi
else
	skip "musl" "there is no musl-gcc (musl-tools)"
fi
if "$CC" -O2 -g -fsplit-stack -o "$tmp/busy" "$tmp/busy.c" -lpthread >"$tmp/err" 2>&1 &&
	"$tmp/busy"; then
	records "-fsplit-stack" 970 "$tmp/busy"
else
	skip "-fsplit-stack" "$(tail -n 1 "$tmp/err")"
fi

cat >"$tmp/busy.go" <<'END'
package main

import (
	"os"
	"sync"
	"time"
)

var sink uint64

//go:noinline
func leaf(v uint64) uint64 {
	for i := 0; i < 100000; i++ {
		v = v*6364136223846793005 + 1
	}
	return v
}

//go:noinline
func mid(v uint64) uint64 { return leaf(v) + 1 }

//go:noinline
func outer(end time.Time) {
	for time.Now().Before(end) {
		sink += mid(sink)
	}
}

//go:noinline
func grown(depth int, end time.Time) {
	var kept [40]uint64
	kept[depth%40] = sink
	if depth == 0 {
		outer(end)
	} else {
		grown(depth-1, end)
	}
	sink += kept[(depth+1)%40]
}

func main() {
	end := time.Now().Add(400 * time.Millisecond)
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func() { defer group.Done(); grown(9, end) }()
	}
	group.Wait()
	if sink == 1 {
		os.Exit(1)
	}
}
END
if command -v go >/dev/null &&
	go build -o "$tmp/busy-go" "$tmp/busy.go" >"$tmp/err" 2>&1; then
	# (mawk knows no "{10}".)
	grown='main.grown;main.grown;main.grown;main.grown;main.grown;'
	way='main.outer;main.mid;main.leaf'
	"$SPROF" record -g -o "$tmp/data" -- "$tmp/busy-go" >"$tmp/out" 2>"$tmp/err"
	"$SPROF" info --findings -i "$tmp/data" >"$tmp/notes" 2>&1
	check "Go: why DWARF is chosen is told" grep -qi 'DWARF.* Go program' "$tmp/notes"
	for when in live later; do
		"$SPROF" record -q -F 1999 --call-graph dwarf --unwind $when -o "$tmp/data" -- \
			"$tmp/busy-go" >"$tmp/out" 2>"$tmp/err"
		shaped "Go, $when" 'main\.leaf' \
			"^busy-go;runtime.goexit(.abi0)?;(main.main.[a-z0-9.]*;)+$grown$grown$way "
	done
	# Without symbols and call frame information: by the function table.
	go build -ldflags='-s -w' -o "$tmp/busy-go" "$tmp/busy.go" >"$tmp/err" 2>&1
	for when in live later; do
		"$SPROF" record -q -F 1999 --call-graph dwarf --unwind $when -o "$tmp/data" -- \
			"$tmp/busy-go" >"$tmp/out" 2>"$tmp/err"
		shaped "Go, stripped, $when" 'main\.leaf' \
			"^busy-go;runtime.goexit;(main.main.[a-z0-9.]*;)+$grown$grown$way "
	done
	# The garbage collector works on the threads' own stacks, and preempts goroutines by signals.
	cat >"$tmp/garbage.go" <<'END'
package main

import "time"

type node struct {
	left, right *node
	data        [4]uint64
}

func build(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: build(depth - 1), right: build(depth - 1)}
}

func main() {
	end := time.Now().Add(1500 * time.Millisecond)
	done := make(chan *node)
	for i := 0; i < 2; i++ {
		go func() {
			var tree *node
			for time.Now().Before(end) {
				tree = build(14)
			}
			done <- tree
		}()
	}
	<-done
	<-done
}
END
	for flags in "" "-s -w"; do
		go build -ldflags="$flags" -o "$tmp/garbage" "$tmp/garbage.go" >"$tmp/err" 2>&1
		"$SPROF" record -q -g -o "$tmp/data" -- "$tmp/garbage" >"$tmp/out" 2>"$tmp/err"
		"$SPROF" report -i "$tmp/data" --format json 2>"$tmp/err" | tr -d ' \n' >"$tmp/json"
		number() {
			grep -o "\"$1\":[0-9]*" "$tmp/json" | sed '1!d; s/.*://'
		}
		comment "complete: $(number complete) of $(number samples), on g0: $(number system_stack)"
		check "Go, garbage ${flags:-as built}: stacks are whole" \
			[ $(($(number complete) * 100)) -ge $(($(number samples) * 98)) ]
		# Only its scheduler is called by no goroutine.
		check "Go, garbage ${flags:-as built}: work on g0 has the goroutine's callers" \
			[ $(($(number system_stack) * 100)) -le $(($(number samples) * 4)) ]
		"$SPROF" report -i "$tmp/data" --format folded 2>"$tmp/err" >"$tmp/folded"
		check "Go, garbage ${flags:-as built}: the collector's work is its goroutines'" grep -Eq \
			'^garbage;runtime.goexit(.abi0)?;runtime.gcBgMarkWorker;runtime.systemstack(.abi0)?;runtime.gcBg' \
			"$tmp/folded"
		check "Go, garbage ${flags:-as built}: assistance has its caller" grep -Eq \
			'main.build;([^;]*;)*runtime.gcAssistAlloc;runtime.systemstack(.abi0)?;' "$tmp/folded"
		"$SPROF" info --findings -i "$tmp/data" >"$tmp/notes" 2>&1
		check "Go, garbage ${flags:-as built}: no advice for C" \
			sh -c '! sed "/^Recorder notes/,\$d" "$1" | grep -E "fno-omit|debug symbols|unwind info"' \
			- "$tmp/notes"
	done

	# Each goroutine's stack grows several times, on the thread's own stack.
	cat >"$tmp/grows.go" <<'END'
package main

import "time"

//go:noinline
func deep(depth int, value uint64) uint64 {
	var kept [64]uint64
	kept[depth%64] = value
	if depth == 0 {
		return value
	}
	return deep(depth-1, value+kept[(depth+1)%64]) + kept[depth%64]
}

func main() {
	end := time.Now().Add(1500 * time.Millisecond)
	done := make(chan uint64)
	for time.Now().Before(end) {
		for i := 0; i < 100; i++ {
			go func(i int) { done <- deep(60, uint64(i)) }(i)
		}
		for i := 0; i < 100; i++ {
			<-done
		}
	}
}
END
	for flags in "" "-s -w"; do
		go build -ldflags="$flags" -o "$tmp/grows" "$tmp/grows.go" >"$tmp/err" 2>&1
		for when in live later; do
			"$SPROF" record -q -g --unwind $when -o "$tmp/data" -- "$tmp/grows" \
				>"$tmp/out" 2>"$tmp/err"
			"$SPROF" report -i "$tmp/data" --format folded --no-inline 2>"$tmp/err" |
				grep 'runtime.newstack[^;]*;' >"$tmp/folded"
			check "Go, growth ${flags:-as built}, $when: the function and its caller are known" awk '
				{ all += $NF }
				/;main.deep;main.deep;runtime.morestack(.abi0)?;runtime.newstack/ { known += $NF }
				END { print "#", known + 0, "of", all + 0; exit all < 20 || known * 10 < all * 9 }' \
				"$tmp/folded"
		done
	done

	# The linker of C makes Go's functions local, in a file "go.go".
	mkdir -p "$tmp/calls"
	cat >"$tmp/calls/main.go" <<'END'
package main

// unsigned long work(unsigned long value);
import "C"
import "time"

//export spin
func spin(value C.ulong) C.ulong {
	for i := 0; i < 100000; i++ {
		value = value*6364136223846793005 + 1
	}
	return value
}

func main() {
	value := C.ulong(1)
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		value = C.work(value)
	}
}
END
	cat >"$tmp/calls/work.c" <<'END'
extern unsigned long spin(unsigned long value);
unsigned long work(unsigned long value) { return spin(value) + 1; }
END
	if (cd "$tmp/calls" && go build -o "$tmp/calls/cgo") >"$tmp/err" 2>&1; then
		"$SPROF" record -q -g -o "$tmp/data" -- "$tmp/calls/cgo" >"$tmp/out" 2>"$tmp/err"
		"$SPROF" report -i "$tmp/data" --children -s function --percent-limit 0 \
			>"$tmp/out" 2>"$tmp/err"
		check "Go, cgo: functions that C calls have names" grep -q 'main\.spin' "$tmp/out"
		check "Go, cgo: equal names have no file of the linker" \
			sh -c '! grep -F "(go.go)" "$1"' - "$tmp/out"
	else
		skip "Go, cgo" "$(tail -n 1 "$tmp/err")"
	fi
else
	skip "Go" "there is no go, or it does not build: $(tail -n 1 "$tmp/err")"
fi

cat >"$tmp/busy.rs" <<'END'
use std::hint::black_box;
use std::time::{Duration, Instant};
#[inline(never)]
fn leaf(mut v: u64) -> u64 {
    for _ in 0..100000 {
        v = black_box(v.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    v
}
#[inline(never)]
fn mid(v: u64) -> u64 {
    black_box(leaf(v)) + 1
}
#[inline(never)]
fn outer(end: Instant) -> u64 {
    let mut v = 1;
    while Instant::now() < end {
        v = mid(v);
    }
    black_box(v)
}
fn main() {
    let end = Instant::now() + Duration::from_millis(300);
    let thread = std::thread::spawn(move || outer(end));
    black_box(outer(end));
    black_box(thread.join().unwrap());
}
END
if command -v rustc >/dev/null; then
	for how in '' '-C symbol-mangling-version=v0'; do
		if ! rustc -O -g $how -o "$tmp/busy-rs" "$tmp/busy.rs" >"$tmp/err" 2>&1; then
			skip "Rust${how:+, $how}" "$(grep -m 1 error "$tmp/err")"
			continue
		fi
		"$SPROF" record -q -F 1999 --call-graph dwarf -o "$tmp/data" -- "$tmp/busy-rs" \
			>"$tmp/out" 2>"$tmp/err"
		shaped "Rust${how:+, $how}" 'busy[^;]*::leaf' \
			'^busy-rs;(_start|clone|__clone|clone3|__clone3|(fn@[^;]* )?\[libc\.so\.6\]);.*;busy[^;]*::outer;busy[^;]*::mid;busy[^;]*::leaf '
	done
else
	skip "Rust" "there is no rustc"
fi

cat >"$tmp/busy.f90" <<'END'
module work
contains
  recursive subroutine leaf(v)
    integer(8), intent(inout) :: v
    integer :: i
    do i = 1, 100000
      v = ieor(v * 3_8 + 1_8, ishft(v, -3))
    end do
  end subroutine
  recursive subroutine mid(v)
    integer(8), intent(inout) :: v
    call leaf(v)
    v = v + 1
  end subroutine
end module
program busy
  use work
  integer(8) :: v = 1
  integer :: i
  do i = 1, 3000
    call mid(v)
  end do
  print *, v
end program
END
if command -v gfortran >/dev/null &&
	(cd "$tmp" && gfortran -O1 -g -fno-inline -o busy-f busy.f90) >"$tmp/err" 2>&1; then
	"$SPROF" record -q -F 1999 --call-graph dwarf -o "$tmp/data" -- "$tmp/busy-f" \
		>"$tmp/out" 2>"$tmp/err"
	shaped "Fortran" __work_MOD_leaf \
		'^busy-f;_start;.*;main;.*__work_MOD_mid;__work_MOD_leaf '
else
	skip "Fortran" "there is no gfortran, or it fails: $(tail -n 1 "$tmp/err")"
fi
finish
