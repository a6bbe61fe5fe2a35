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
#include "frames/entry_points.h"

#include <elf.h>
#include <endian.h>
#include <string.h>
#include "unwind/heuristics.h"

/* Bytes of code to read before and after a return address, to recognize the call and what follows. */
#define BEFORE 32
#define AFTER GUESS_PASSES_ON_BYTES
/*
 * In struct pthread, the thread's function has a higher offset than this; other called members have
 * lower ones.
 */
#define STRUCTURE_MIN 0x100

static uint32_t u32_at(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

/* Returns whether the code after the call calls exit() with the call's result. */
static bool exits(struct resolver *resolver, const struct location *call, uint16_t machine,
		  const uint8_t *after)
{
	int64_t distance;
	if (!guess_passes_on(machine, after, &distance))
		return false;
	struct location target = *call;
	target.offset += 1 + (uint64_t)distance;
	target.ip += 1 + (uint64_t)distance;
	const struct symbol *symbol = resolver_find(resolver, &target);
	return symbol && code_is_exit_name(symbol->raw_name ?: symbol->name);
}

/*
 * Returns whether the call at the end of the bytes calls a function pointer from a large structure, and
 * the instructions before it load that function's argument from there.
 */
static bool calls_member(const uint8_t *bytes, const uint8_t *end)
{
	static const uint8_t fs_call[] = {0x64, 0xff, 0x14, 0x25};
	static const uint8_t fs_load[] = {0x64, 0x48, 0x8b, 0x3c, 0x25};
	uint32_t member = u32_at(end - 4);
	bool by_fs = !memcmp(end - 8, fs_call, sizeof(fs_call));
	/* call *disp32(%reg) with a register from %rax to %rdi, except %rsp */
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

bool is_entry_point_call(struct resolver *resolver, const struct location *call)
{
	uint8_t bytes[BEFORE + AFTER];
	uint16_t machine;
	if (!resolver_read_code(resolver, call, 1 - BEFORE, sizeof(bytes), bytes, &machine))
		return true;
	const uint8_t *after = bytes + BEFORE;
	return exits(resolver, call, machine, after) ||
	       (machine == EM_X86_64 && calls_member(bytes, after));
}
