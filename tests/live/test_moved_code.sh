#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Code that a program moved to memory without a file, to have it in huge pages: it keeps its file's
# names and stacks, with a proof by the recorder, and names that are not right are not shown.
. "$top_srcdir/tests/tap.sh"
need_sampling

# Moves the code of the program, or of the library MOVED_FILE, before main(). MOVED_HOW:
#   mmap    anonymous memory is mapped over the code, filled, and made executable
#   rwx     the same memory is executable from the beginning
#   mremap  a copy replaces the code, which the kernel does not report
#   memfd   a copy in a memfd replaces the code
#   shared  a copy in shared memory replaces the code
#   low     as mmap, and the page below, too
#   part    as mmap, the first page alone
#   other   as mmap, but the bytes are others
cat >"$tmp/move.c" <<'END_OF_C'
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t start, size;

static int find(struct dl_phdr_info *info, size_t bytes, void *file)
{
	if (!*(char *)file ? *info->dlpi_name : !strstr(info->dlpi_name, file))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			uintptr_t code = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			start = code & ~4095UL;
			size = (code + info->dlpi_phdr[i].p_memsz + 4095 - start) & ~4095UL;
		}
	return 1;
}

__attribute__((constructor)) static void move(void)
{
	const char *how = getenv("MOVED_HOW");
	int private = MAP_PRIVATE | MAP_ANONYMOUS, rights = PROT_READ | PROT_WRITE;
	if (!how)
		return;
	dl_iterate_phdr(find, getenv("MOVED_FILE"));
	if (!strcmp(how, "low"))
		start -= 4096, size += 4096;
	if (!strcmp(how, "part"))
		size = 4096;
	char *code = (char *)start;
	int fd = strcmp(how, "memfd") ? -1 : memfd_create("text", 0);
	if (fd >= 0 && ftruncate(fd, size))
		exit(9);
	int flags = fd >= 0 ? MAP_SHARED : strcmp(how, "shared") ? private : MAP_SHARED | MAP_ANONYMOUS;
	char *copy = mmap(NULL, size, rights, flags, fd, 0);
	memcpy(copy, code, size);
	if (!strcmp(how, "mremap") || flags != private) {
		mprotect(copy, size, PROT_READ | PROT_EXEC);
		mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, code);
		/* The kernel reports changed rights, and the code's place with them. */
		if (flags != private) {
			mprotect(code, size, PROT_READ);
			mprotect(code, size, PROT_READ | PROT_EXEC);
		}
		return;
	}
	if (!strcmp(how, "rwx"))
		rights |= PROT_EXEC;
	mmap(code, size, rights, private | MAP_FIXED, -1, 0);
	memcpy(code, copy, size);
	if (!strcmp(how, "other"))
		code[size - 1]++; /* padding of the only page */
	mprotect(code, size, PROT_READ | PROT_EXEC);
}
END_OF_C
cat >"$tmp/work.c" <<'END_OF_C'
volatile unsigned long sink;
__attribute__((noinline)) void spin(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}
__attribute__((noinline)) void outer(void) { spin(); sink++; }
#ifdef WITH_LIBRARY
void work(void);
#else
__attribute__((noinline)) void work(void) { outer(); sink++; }
#endif
#ifndef NO_MAIN
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	while (clock() < CLOCKS_PER_SEC * atof(argv[1]))
		work();
	return 0;
}
#endif
END_OF_C
cd "$tmp" || exit 99
$CC -O1 -shared -fPIC -o move.so move.c && $CC -O1 -o program work.c &&
	$CC -O1 -DNO_MAIN -shared -fPIC -o libwork.so work.c &&
	$CC -O1 -DWITH_LIBRARY -o user work.c -L. -lwork -Wl,-rpath,"$tmp" || exit 99

# shares DATA: percent of the samples in spin() below outer() and work(), and in code without a name. The
# start of the program, a tenth of its time on slow machines, is left out.
shares() {
	"$SPROF" script -i "$1" -F ip,sym 2>/dev/null | awk -v RS= '
		/spin|outer|[^_]main|unknown/ { all++ }
		/^[^\n]*spin.*outer.*work.*main/ { whole++ }
		/^[^\n]*unknown/ { unnamed++ }
		END { print int(100 * whole / all + 0.5), int(100 * unnamed / all + 0.5) }' >shares
	read -r whole unnamed <shares
}

# by_all NAME DATA: nine of ten samples are named, by this program and by perf.
by_all() {
	shares "$2"
	check "$1: functions and callers are the file's" test "$whole" -ge 90
	"$SPROF" report -i "$2" 2>err >report
	check "$1: no advice is for code of a runtime" sh -c "! grep -q 'JIT\|perf map' report err"
	check "$1: the names are proven" sh -c "! grep -q 'wrong names' report err"
}

options="-q --no-names -e cpu-clock --call-graph dwarf"
export MOVED_HOW MOVED_FILE

# attach [COMMAND...]: records the program, which moved its code before, by its pid.
attach() {
	LD_PRELOAD=./move.so "$@" 0.8 >out &
	pid=$!
	sleep 0.2
	"$SPROF" record $options --duration 0.3 -p $pid -o attached >out 2>err
	wait $pid
}

attached() {
	attach ./program
	by_all "$MOVED_HOW, attached" attached
}

started() {
	"$SPROF" record $options -o started -- env LD_PRELOAD=./move.so ./program 0.3 >out 2>err
	by_all "$MOVED_HOW, started" started
}

of_library() {
	attach ./user
	by_all "a library's code, attached" attached
	"$SPROF" record $options -o started -- env LD_PRELOAD=./move.so ./user 0.3 >out 2>err
	by_all "a library's code, started" started
}

for MOVED_HOW in mmap rwx low part memfd shared mremap; do
	MOVED_FILE=
	noisy attached
	noisy started
done
MOVED_HOW=mmap MOVED_FILE=libwork
noisy of_library

# Other bytes are not the file's.
MOVED_HOW=other MOVED_FILE=
attach ./program
shares attached
check "other bytes get no name" test "$whole" = 0 -a "$unnamed" -ge 90
finish
