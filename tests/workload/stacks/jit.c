/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code made at run time, with a perf map that names it. jit_outer and jit_leaf keep frame
 * pointers, jit_bare does not: nothing says where it was called from. (What jit_bare
 * leaves in rbp is its caller's: a C function's, which uses it for anything.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "stacks.h"

#if defined __x86_64__
static const unsigned char outer_code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x89, 0xf8, /* mov %rdi, %rax */
	0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
	0xff, 0xd0,	  /* call *%rax */
	0x5d, 0xc3,	  /* pop %rbp; ret */
};
static const unsigned char leaf_code[] = {
	0x55, 0x48, 0x89, 0xe5, /* push %rbp; mov %rsp, %rbp */
	0x48, 0xff, 0xcf,	/* dec %rdi */
	0x75, 0xfb,		/* jnz to it */
	0x5d, 0xc3,		/* pop %rbp; ret */
};
static const unsigned char bare_code[] = {
	0x48, 0x83, 0xec, 0x18, /* sub $24, %rsp */
	0x48, 0xff, 0xcf,	/* dec %rdi */
	0x75, 0xfb,		/* jnz to it */
	0x48, 0x83, 0xc4, 0x18, /* add $24, %rsp */
	0xc3,			/* ret */
};
#elif defined __aarch64__
static const uint32_t outer_code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xaa0003e2, /* mov x2, x0 */
	0xaa0103e0, /* mov x0, x1 */
	0xd63f0040, /* blr x2 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
static const uint32_t leaf_code[] = {
	0xa9bf7bfd, 0x910003fd, /* stp x29, x30, [sp, #-16]!; mov x29, sp */
	0xf1000400, 0x54ffffe1, /* subs x0, x0, #1; b.ne to it */
	0xa8c17bfd, 0xd65f03c0, /* ldp x29, x30, [sp], #16; ret */
};
static const uint32_t bare_code[] = {
	0xd10083ff,		/* sub sp, sp, #32 */
	0xf9000bfe,		/* str x30, [sp, #16] */
	0xf1000400, 0x54ffffe1, /* subs x0, x0, #1; b.ne to it */
	0xf9400bfe,		/* ldr x30, [sp, #16] */
	0x910083ff,		/* add sp, sp, #32 */
	0xd65f03c0,		/* ret */
};
#endif

#if defined __x86_64__ || defined __aarch64__
typedef void outer_function(void *leaf, uint64_t turns);
typedef void leaf_function(uint64_t turns);

static char *place;

/* Each function has a page, so that nothing lies before it that could be taken for it. */
static void *put(FILE *map, const char *name, const void *code, size_t size, size_t page)
{
	char *at = place + page * 4096 + 64;
	memcpy(at, code, size);
	fprintf(map, "%lx %zx %s\n", (unsigned long)at, size, name);
	return at;
}

static outer_function *jit_outer;
static void *jit_leaf;
static leaf_function *jit_bare;

static void make_code(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	place = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!map || place == MAP_FAILED)
		exit(1);
	jit_outer = (outer_function *)put(map, "jit_outer", outer_code, sizeof(outer_code), 0);
	jit_leaf = put(map, "jit_leaf", leaf_code, sizeof(leaf_code), 1);
	jit_bare = (leaf_function *)put(map, "jit_bare", bare_code, sizeof(bare_code), 2);
	fclose(map);
	if (mprotect(place, 3 * 4096, PROT_READ | PROT_EXEC))
		exit(1);
	__builtin___clear_cache(place, place + 3 * 4096);
}

static OWN void jit_caller(void)
{
	jit_outer(jit_leaf, 2000000);
	STAY();
}

static OWN void run_jit(void)
{
	make_code();
	while (!is_over())
		jit_caller();
}

static OWN void bare_caller(void)
{
	jit_bare(2000000);
	STAY();
}

static OWN void run_jit_bare(void)
{
	make_code();
	while (!is_over())
		bare_caller();
}

const struct scenario jit_scenarios[] = {
	{.name = "jit", .run = run_jit, .truth = "main run_jit jit_caller jit_outer! jit_leaf!"},
	{.name = "jit_bare",
	 .run = run_jit_bare,
	 .honest = true,
	 .truth = "main run_jit_bare bare_caller jit_bare!"},
	{0},
};
#else
const struct scenario jit_scenarios[] = {{0}};
#endif
