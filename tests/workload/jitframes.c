/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitframes FOLDER [SECONDS [trampoline]]: runs code made at run time, called generated(), for SECONDS
 * (0.4) of CPU time, from calls_generated(). The code keeps no frame pointer: it uses that register. Its
 * call frame information is in FOLDER/jit-PID.dump, as CPython and V8 write it. With "trampoline", the
 * code has none, and calls burns() as CPython's trampolines do.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "clock.h"

#if defined __x86_64__
static const uint8_t code[] = {
	0x55,                   /* push %rbp */
	0x48, 0x83, 0xec, 0x40, /* sub $0x40,%rsp */
	0x31, 0xed,             /* xor %ebp,%ebp */
	0x48, 0xff, 0xcf,       /* dec %rdi */
	0x75, 0xfb,             /* jnz to it */
	0x48, 0x83, 0xc4, 0x40, /* add $0x40,%rsp */
	0x5d, 0xc3,             /* pop %rbp; ret */
};

static const uint8_t trampoline[] = {
	0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
	0xff, 0xd6,             /* call *%rsi */
	0x48, 0x83, 0xc4, 0x08, /* add $8,%rsp */
	0xc3,                   /* ret */
};

/* .eh_frame follows the code at a multiple of 8; the FDE's address is relative to its field. */
#define FRAMES_AT ((sizeof(code) + 7) / 8 * 8)
#define FDE_ADDRESS_AT 32

static const uint8_t frames[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* pcrel, sdata4 */
	0x0c, 7, 8, 0x90, 1, 0, 0,                     /* CFA = rsp + 8; return address at CFA - 8 */
	24, 0, 0, 0, 28, 0, 0, 0,
	(uint8_t)(-(FRAMES_AT + FDE_ADDRESS_AT)), 0xff, 0xff, 0xff, sizeof(code), 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x86, 2,                       /* after push: CFA = rsp + 16, rbp at CFA - 16 */
	0x44, 0x0e, 0x50, 0, 0, 0,                     /* after sub: CFA = rsp + 0x50 */
	0, 0, 0, 0,
};

struct prefix {
	uint32_t id, size;
	uint64_t time;
};

static FILE *dump;

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, dump) != size)
		exit(1);
}

static void put_prefix(uint32_t id, size_t size)
{
	put(&(struct prefix){id, (uint32_t)(sizeof(struct prefix) + size), clock_ns(CLOCK_MONOTONIC)},
	    sizeof(struct prefix));
}

static void begin(const char *folder)
{
	char path[4096];
	const uint32_t header[] = {0x4a695444, 1, 40, EM_X86_64, 0, (uint32_t)getpid()};
	const uint64_t times[] = {clock_ns(CLOCK_MONOTONIC), 0};
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump = fopen(path, "w+");
	if (!dump ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	put(header, sizeof(header));
	put(times, sizeof(times));
}

static void put_code(const void *at)
{
	static const char name[] = "generated";
	/* A header of 20 bytes follows the frames; it is not read. */
	const uint64_t sizes[] = {sizeof(frames) + 20, 20, 0};
	const uint32_t ids[] = {(uint32_t)getpid(), (uint32_t)getpid()};
	const uint64_t load[] = {(uintptr_t)at, (uintptr_t)at, sizeof(code), 0};
	put_prefix(4, sizeof(sizes) + sizeof(frames) + 20);
	put(sizes, sizeof(sizes));
	put(frames, sizeof(frames));
	put((const uint8_t[20]){1}, 20);
	put_prefix(0, sizeof(ids) + sizeof(load) + sizeof(name) + sizeof(code));
	put(ids, sizeof(ids));
	put(load, sizeof(load));
	put(name, sizeof(name));
	put(code, sizeof(code));
	fflush(dump);
}

static void burns(uint64_t turns)
{
	spin(turns, (unsigned int)turns);
}

typedef void generated_fn(uint64_t turns, void (*called)(uint64_t turns));

__attribute__((noinline)) static void calls_generated(generated_fn *generated)
{
	generated(500000, burns);
	__asm__ volatile(""); /* no tail call */
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	double seconds = argc > 2 ? atof(argv[2]) : 0.4;
	begin(argv[1]);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (at == MAP_FAILED)
		return 1;
	if (argc > 3) {
		memcpy(at, trampoline, sizeof(trampoline));
	} else {
		memcpy(at, code, sizeof(code));
		put_code(at);
	}
	uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		calls_generated((generated_fn *)at);
	return fclose(dump) != 0;
}
#else
int main(void)
{
	return 77; /* no code for this machine */
}
#endif
