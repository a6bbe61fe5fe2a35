/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/arch.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "base/vec.h"

#define BIT(n) ((uint64_t)1 << (n))
#define NO ARCH_NONE

/* perf's order: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 … r15. */
static const struct unwind_arch x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.word = 8,
	.columns = 17,
	.sp = 7,
	.fp = 6,
	.ra = 16,
	.perf_ip = 8,
	.ra_is_ip = true,
	.calls_push = true,
	.preserved = BIT(3) | BIT(6) | BIT(12) | BIT(13) | BIT(14) | BIT(15),
	.ip_mask = UINT64_MAX,
	.slot_count = 7,
	.slots = {16, 6, 3, 12, 13, 14, 15},
	.column_of = {0, 3, 2, 1, 4, 5, 6, 7, 16, [9 ... 15] = NO,
		      8, 9, 10, 11, 12, 13, 14, 15, [24 ... 33] = NO},
};

static const struct unwind_arch x86_32 = {
	.name = "i386",
	.machine = EM_386,
	.word = 4,
	.columns = 9,
	.sp = 4,
	.fp = 5,
	.ra = 8,
	.perf_ip = 8,
	.ra_is_ip = true,
	.calls_push = true,
	.preserved = BIT(3) | BIT(5) | BIT(6) | BIT(7),
	.ip_mask = UINT32_MAX,
	.slot_count = 5,
	.slots = {8, 5, 3, 6, 7},
	.column_of = {0, 3, 1, 2, 6, 7, 5, 4, 8, [9 ... 33] = NO},
};

/* perf's order: x0 … x30, sp, pc, which are DWARF's numbers. User space has 48 bits of address. */
static const struct unwind_arch aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.word = 8,
	.columns = 33,
	.sp = 31,
	.fp = 29,
	.ra = 30,
	.perf_ip = 32,
	.preserved = BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) | BIT(24) | BIT(25) | BIT(26) |
		     BIT(27) | BIT(28) | BIT(29) | BIT(30),
	.ip_mask = BIT(48) - 1,
	.slot_count = 12,
	.slots = {30, 29, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28},
	.column_of = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
		      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, NO},
};

static bool is_x86(const char *name)
{
	return !strcmp(name, "x86_64") || !strcmp(name, "amd64") || !strcmp(name, "x86") ||
	       (name[0] == 'i' && name[1] >= '3' && name[1] <= '6' && !strcmp(name + 2, "86"));
}

const struct unwind_arch *arch_find(const char *name, uint64_t abi)
{
	if (is_x86(name))
		return abi == PERF_SAMPLE_REGS_ABI_64 ? &x86_64
		       : abi == PERF_SAMPLE_REGS_ABI_32 ? &x86_32
							: NULL;
	return (!strncmp(name, "aarch64", 7) || !strcmp(name, "arm64")) &&
			       abi == PERF_SAMPLE_REGS_ABI_64
		       ? &aarch64
		       : NULL;
}

const struct unwind_arch *arch_of_machine(uint16_t machine)
{
	static const struct unwind_arch *const all[] = {&x86_64, &x86_32, &aarch64};
	for (size_t i = 0; i < count_of(all); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}
