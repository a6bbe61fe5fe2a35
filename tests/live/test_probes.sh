#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole stacks of a program with probes of a tracer (uprobes), and of fibers: their first function
# returns to an address that no call precedes.
. "$top_srcdir/tests/tap.sh"
need_sampling
cat >"$tmp/probed.c" <<'END'
#include <stdlib.h>
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void leafy(void) { for (int i = 0; i < 300000; i++) sink += i; }
__attribute__((noinline)) int middle(void) { leafy(); return (int)sink; }
__attribute__((noinline)) int outer(void) { int r = middle(); sink++; return r; }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC * 2 / 5)
		outer();
	return 0;
}
END
cat >"$tmp/fiber.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
volatile unsigned long sink;
void *first_sp, *fiber_sp;
void switch_to(void **from, void **to);
__asm__(".text\n.globl switch_to\n.type switch_to,@function\nswitch_to:\n.cfi_startproc\n"
	"mov %rsp,(%rdi)\nmov (%rsi),%rsp\nret\n.cfi_endproc\n.size switch_to,.-switch_to\n");
__attribute__((noinline)) void work(void) { for (int i = 0; i < 100000; i++) sink += i; }
__attribute__((noinline)) void step(void) { work(); sink++; }
__attribute__((noinline)) void decoy(void) { sink--; sink--; sink--; sink--; }
__attribute__((noinline)) void fiber_main(void)
{
	while (clock() < CLOCKS_PER_SEC * 2 / 5)
		step();
	exit(0);
}
int main(int count, char **words)
{
	size_t size = 1 << 18;
	char *stack = malloc(size);
	(void)words;
	/* What is above the first frame: no address, or none at all. */
	memset(stack, count > 1 ? 0x41 : 0, size);
	unsigned long *sp = (unsigned long *)(stack + size - 4096);
	*--sp = (unsigned long)decoy + 8;
	*--sp = (unsigned long)fiber_main;
	fiber_sp = sp;
	switch_to(&first_sp, &fiber_sp);
	return 0;
}
END
cd "$tmp" || exit 99

# shares FILE STACK: percent of the samples with these functions, the caller first.
shares() {
	"$SPROF" report -q -i "$1" --format folded 2>err | awk -v wanted="$2" '
		{ all += $NF; if (index($0, wanted)) found += $NF }
		END { print all ? int(100 * found / all) : 0 }'
}
# at_least NAME PERCENT FILE STACK
at_least() {
	at_least_share=$(shares "$3" "$4")
	check "$1 ($at_least_share %)" [ "$at_least_share" -ge "$2" ]
}

record() { # FILE COMMAND...
	record_file=$1
	shift
	"$SPROF" record -q -e cpu-clock -F 999 --call-graph dwarf -o "$record_file" -- "$@" >out 2>err
}

# -- Fibers -------------------------------------------------------------------
fibers() {
	for how in "" letters; do
		# shellcheck disable=SC2086
		record fiber.data ./fiber $how
		at_least "a fiber${how:+ above $how} is in the report" 80 fiber.data 'fiber_main;step;work'
		"$SPROF" report -q -i fiber.data --format folded >folded 2>err
		check "nothing called its first function${how:+ ($how)}" sh -c '! grep -q decoy folded'
		check "its stacks are whole${how:+ ($how)}" sh -c '! grep -q truncated folded'
	done
}
if [ "$(uname -m)" = x86_64 ] && $CC -O2 -g -o fiber fiber.c 2>err; then
	noisy fibers
else
	skip "fibers" "the program is for x86-64"
fi

# -- Probes -------------------------------------------------------------------
tracefs=/sys/kernel/tracing
group=sprof_test_$$
probe() { # SPECIFICATION
	echo "$1" >>$tracefs/uprobe_events
}
remove() {
	[ ! -d $tracefs/events/$group ] || echo 0 >$tracefs/events/$group/enable
	for name in middle outer leafy; do
		[ ! -d $tracefs/events/$group/$name ] || echo "-:$group/$name" >>$tracefs/uprobe_events
	done
}
at() {
	echo "$PWD/probed:0x$(nm probed | awk -v name="$1" '$3 == name { print $1 }')"
}
returns() {
	record probed.data ./probed
	at_least "callers behind return probes" 80 probed.data 'main;outer;middle;leafy'
}
entries() {
	record entry.data ./probed
	at_least "callers at entry probes" 80 entry.data 'main;outer;middle;leafy'
}
if ! { : >>$tracefs/uprobe_events; } 2>err; then
	skip "probes" "uprobe_events is not writable"
elif ! command -v nm >out || ! $CC -O2 -g -fno-omit-frame-pointer -o probed probed.c 2>err; then
	skip "probes" "needs a compiler and nm"
elif ! probe "r:$group/middle $(at middle)" 2>err || ! probe "r:$group/outer $(at outer)" 2>err; then
	remove
	skip "probes" "the kernel refuses return probes: $(cat err)"
else
	trap 'remove; rm -rf "$tmp"' EXIT
	echo 1 >$tracefs/events/$group/enable
	noisy returns
	$CC -O2 -g -fomit-frame-pointer -o bare probed.c
	remove
	probe "p:$group/leafy $(at leafy)"
	echo 1 >$tracefs/events/$group/enable
	noisy entries
	remove
	mv bare probed
	probe "r:$group/middle $(at middle)" && probe "r:$group/outer $(at outer)"
	echo 1 >$tracefs/events/$group/enable
	noisy returns
	remove
fi
finish
