/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C libraries are stripped of the names of their own functions. Two things that they do
 * are not done elsewhere: they leave with what main() or a thread returned,
 *
 *	call *%rax; mov %eax, %edi; call exit		blr x3; bl exit
 *
 * and call a thread's function with its argument, both out of a large structure:
 *
 *	mov 0x640(%rax), %rdi; call *0x638(%rax)	mov %fs:0x648, %rdi; call *%fs:0x640
 */
#include "analysis/starts.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

/* Before the place that the call returns to, and from there on. */
#define BEFORE 32
#define BEHIND 16
/* struct pthread begins with what functions of threads lie far behind. */
#define STRUCTURE_MIN 0x100

static uint32_t u32_at(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

/* `distance` is from where the call returns to. */
static bool is_exit(struct resolver *resolver, const struct location *call, int64_t distance)
{
	static const char *const names[] = {"exit", "__GI_exit", "pthread_exit", "__pthread_exit",
					    "thrd_exit"};
	struct location target = *call;
	target.offset += 1 + (uint64_t)distance;
	target.ip += 1 + (uint64_t)distance;
	const struct symbol *symbol = resolver_find(resolver, &target);
	for (size_t i = 0; symbol && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(symbol->raw_name ?: symbol->name, names[i]))
			return true;
	return false;
}

static bool exits_x86(struct resolver *resolver, const struct location *call,
		      const uint8_t *behind)
{
	size_t at = behind[0] == 0x48; /* mov %rax, %rdi */
	if (at && behind[1] == 0x63 && behind[2] == 0xf8 && behind[3] == 0xe8) /* movslq */
		return is_exit(resolver, call, 8 + (int32_t)u32_at(behind + 4));
	if (behind[at] != 0x89 || behind[at + 1] != 0xc7 || behind[at + 2] != 0xe8)
		return false;
	int64_t distance = (int64_t)at + 7 + (int32_t)u32_at(behind + at + 3);
	return is_exit(resolver, call, distance);
}

static bool exits_arm64(struct resolver *resolver, const struct location *call,
			const uint8_t *behind)
{
	uint32_t word = u32_at(behind);
	return word >> 26 == 0x25 && is_exit(resolver, call, (int64_t)((uint64_t)word << 38) >> 36);
}

/* `end`: behind the call. Looks for the load among the bytes before it. */
static bool calls_member(const uint8_t *bytes, const uint8_t *end)
{
	static const uint8_t fs_call[] = {0x64, 0xff, 0x14, 0x25};
	static const uint8_t fs_load[] = {0x64, 0x48, 0x8b, 0x3c, 0x25};
	uint32_t member = u32_at(end - 4);
	bool by_fs = !memcmp(end - 8, fs_call, sizeof(fs_call));
	/* ff /2 with 32 bits of displacement, from %rax to %rdi but %rsp */
	uint8_t base = end[-5] & 7;
	if (member < STRUCTURE_MIN ||
	    (!by_fs && (end[-6] != 0xff || (end[-5] & 0xf8) != 0x90 || base == 4)))
		return false;
	const uint8_t *last = end - (by_fs ? 8 + 9 : 6 + 7);
	for (const uint8_t *at = bytes; at <= last; at++) {
		bool loads = by_fs ? !memcmp(at, fs_load, sizeof(fs_load))
				   : at[0] == 0x48 && at[1] == 0x8b && at[2] == (0xb8 | base);
		if (loads && u32_at(at + (by_fs ? 5 : 3)) == member + 8)
			return true;
	}
	return false;
}

bool starts_threads(struct resolver *resolver, const struct location *call)
{
	uint8_t bytes[BEFORE + BEHIND];
	uint16_t machine;
	if (!resolver_read_code(resolver, call, 1 - BEFORE, sizeof(bytes), bytes, &machine))
		return true;
	const uint8_t *behind = bytes + BEFORE;
	switch (machine) {
	case EM_X86_64:
		return exits_x86(resolver, call, behind) || calls_member(bytes, behind);
	case EM_AARCH64:
		return exits_arm64(resolver, call, behind);
	default:
		return false;
	}
}
