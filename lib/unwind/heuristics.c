/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/heuristics.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

/* Limit of the size of _start in glibc's ld.so, which has no entry: 60 to 100 bytes. */
#define START_SIZE 128
/* Limit of the size of a hand-written function without call frame information. */
#define LEAF_SIZE 4096
#define PLT_ENTRY 16
/* Bytes before the code to search for the function's prologue; most functions are smaller. */
#define FUNCTION_SIZE 4096
/* Bytes at a function's start in which it makes room for local variables. */
#define FRAME_SETUP_SIZE 64
/* Longest call instruction without its prefixes. */
#define CALL_MAX 7
/* Limit of bytes between push and mov of a prologue. */
#define PROLOGUE_SIZE 16

static uint32_t u32_at(const uint8_t *bytes)
{
	uint32_t word;
	memcpy(&word, bytes, sizeof(word));
	return le32toh(word);
}

bool guess_is_start(const struct code_place *place)
{
	uint64_t entry = code_entry(place->code);
	return entry != 0 && place->vaddr >= entry && place->vaddr - entry < START_SIZE;
}

bool guess_passes_on(uint16_t machine, const uint8_t *bytes, int64_t *distance_ret)
{
	/*
	 * Moves of the result to the first argument: mov %eax, %edi; mov %rax, %rdi; movslq %eax,
	 * %rdi.
	 */
	static const uint8_t moves[][4] = {
		{0x89, 0xc7, 0xe8}, {0x48, 0x89, 0xc7, 0xe8}, {0x48, 0x63, 0xf8, 0xe8}};
	uint32_t word = u32_at(bytes);
	if (machine == EM_AARCH64) { /* bl */
		*distance_ret = (int64_t)((uint64_t)word << 38) >> 36;
		return word >> 26 == 0x25;
	}
	for (size_t i = 0; machine == EM_X86_64 && i < count_of(moves); i++) {
		size_t size = i ? 4 : 3;
		if (memcmp(bytes, moves[i], size))
			continue;
		*distance_ret = (int64_t)size + 4 + (int32_t)u32_at(bytes + size);
		return true;
	}
	return false;
}

bool guess_starts_threads(const struct code_place *place)
{
	uint8_t bytes[GUESS_PASSES_ON_BYTES];
	int64_t distance;
	return place->ip != place->vaddr &&
	       code_read(place->code, place->ip, sizeof(bytes), bytes) &&
	       guess_passes_on(place->arch->machine, bytes, &distance) &&
	       code_is_exit(place->code, place->ip + (uint64_t)distance);
}

static struct cfi_rule cfa_at(uint8_t column, int64_t offset)
{
	return (struct cfi_rule){.kind = RULE_IS, .column = column, .offset = offset};
}

/* The kernel's struct rt_sigframe is above the return address: registers are in its ucontext. */
static bool sigreturn_x86_64(const struct code_place *place, struct cfi_row *ret)
{
	/* mov $15, %rax; syscall: with a 64-bit or a 32-bit register. */
	static const uint8_t wide[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t narrow[7] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t columns[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
	uint8_t bytes[9];
	if ((!code_read(place->code, place->ip, sizeof(wide), bytes) ||
	     memcmp(bytes, wide, sizeof(wide))) &&
	    (!code_read(place->code, place->ip, sizeof(narrow), bytes) ||
	     memcmp(bytes, narrow, sizeof(narrow))))
		return false;
	*ret = (struct cfi_row){.cfa = cfa_at(7, 0), .return_column = 16, .is_signal = true};
	for (size_t i = 0; i < sizeof(columns); i++)
		ret->rules[columns[i]] = rule_at(40 + 8 * (int64_t)i);
	return true;
}

static bool sigreturn_aarch64(const struct code_place *place, struct cfi_row *ret)
{
	/* mov x8, #139; svc #0 */
	static const uint8_t code[8] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	enum { SIGINFO = 128, MCONTEXT = 176, FIRST = SIGINFO + MCONTEXT + 8 };
	uint8_t bytes[8];
	if (!code_read(place->code, place->ip, sizeof(code), bytes) ||
	    memcmp(bytes, code, sizeof(code)))
		return false;
	/* x0 to x30, sp, pc: by number. */
	*ret = (struct cfi_row){.cfa = cfa_at(31, 0), .return_column = 32, .is_signal = true};
	for (uint8_t column = 0; column < 33; column++)
		ret->rules[column] = rule_at(FIRST + 8 * (int64_t)column);
	return true;
}

bool guess_sigreturn(const struct code_place *place, struct cfi_row *ret)
{
	switch (place->arch->machine) {
	case EM_X86_64:
		return sigreturn_x86_64(place, ret);
	case EM_AARCH64:
		return sigreturn_aarch64(place, ret);
	default:
		return false;
	}
}

/*
 * PLT entries push the number of their slot and jump to the first entry, which pushes the link map.
 * The instructions before the place show how much is pushed.
 */
static int64_t pushed_x86(const uint8_t entry[PLT_ENTRY], size_t before)
{
	int64_t count = 0;
	for (size_t i = 0; i < before;) {
		if (entry[i] == 0x68) { /* push imm32 */
			i += 5;
			count += i <= before;
		} else if (entry[i] == 0xff && entry[i + 1] == 0x35) { /* push mem: the first entry */
			i += 6;
			count += 1 + (i <= before);
		} else if (entry[i] == 0xf3 && entry[i + 1] == 0x0f) { /* endbr */
			i += 4;
		} else if (entry[i] == 0xf2 || entry[i] == 0x4c) { /* bnd; mov to %r11 */
			i += entry[i] == 0xf2 ? 1 : 7;
		} else if (entry[i] == 0xff) { /* jmp mem */
			i += 6;
		} else if (entry[i] == 0xe9) {
			i += 5;
		} else {
			i++;
		}
	}
	return count;
}

static bool plt_x86(const struct code_place *place, uint64_t entry, struct cfi_row *ret)
{
	uint8_t bytes[PLT_ENTRY + 1] = {0};
	if (!code_read(place->code, entry, PLT_ENTRY, bytes))
		return false;
	int64_t word = place->arch->word;
	int64_t pushed = pushed_x86(bytes, place->vaddr - entry);
	/* Another entry pushed the slot's number before it jumped to the first entry. */
	if (pushed == 0 && bytes[0] == 0xff && bytes[1] == 0x35)
		pushed = 1;
	*ret = (struct cfi_row){
		.cfa = cfa_at(place->arch->sp, word * (1 + pushed)),
		.return_column = place->arch->ra,
	};
	ret->rules[place->arch->ra] = rule_at(-word);
	return true;
}

/* The first entry saves x16 and x30 by its first instruction; the others save nothing. */
static bool plt_aarch64(const struct code_place *place, uint64_t start, struct cfi_row *ret)
{
	bool saved = place->vaddr >= start + 4 && place->vaddr < start + 32;
	*ret = (struct cfi_row){
		.cfa = cfa_at(31, saved ? 16 : 0),
		.return_column = 30,
	};
	if (saved)
		ret->rules[30] = rule_at(-8);
	return true;
}

bool guess_plt(const struct code_place *place, struct cfi_row *ret)
{
	uint64_t start;
	if (!code_plt_start(place->code, place->vaddr, &start))
		return false;
	uint64_t entry = place->vaddr - (place->vaddr - start) % PLT_ENTRY;
	return place->arch->machine == EM_AARCH64 ? plt_aarch64(place, start, ret)
						  : plt_x86(place, entry, ret);
}

/*
 * mov %rbp, disp(%rsp); lea disp(%rsp), %rbp: Go's before 1.21, with one byte of displacement
 * or four.
 */
static bool sets_up_go(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 10 <= size; i++) {
		if (bytes[i] != 0x48 || bytes[i + 1] != 0x89 || bytes[i + 3] != 0x24)
			continue;
		size_t length = bytes[i + 2] == 0x6c ? 5 : bytes[i + 2] == 0xac ? 8 : 0;
		const uint8_t *next = bytes + i + length;
		if (length && i + 2 * length <= size && next[0] == 0x48 && next[1] == 0x8d &&
		    !memcmp(next + 2, bytes + i + 2, length - 2))
			return true;
	}
	return false;
}

/* push %rbp and, within a few instructions, mov %rsp, %rbp in either encoding. */
static bool sets_up_x86(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 3 <= size; i++) {
		bool moves = (bytes[i] == 0x48 && bytes[i + 1] == 0x89 && bytes[i + 2] == 0xe5) ||
			     (bytes[i] == 0x48 && bytes[i + 1] == 0x8b && bytes[i + 2] == 0xec);
		for (size_t j = i; moves && j > 0 && j + PROLOGUE_SIZE > i; j--)
			if (bytes[j - 1] == 0x55)
				return true;
	}
	return false;
}

/* add x29, sp, #n; mov x29, sp is that with 0. */
static bool sets_up_aarch64(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word;
		memcpy(&word, bytes + i, sizeof(word));
		if ((le32toh(word) & 0xffc003ff) == 0x910003fd)
			return true;
	}
	return false;
}

bool guess_keeps_frame_pointer(const struct code_place *place)
{
	uint8_t bytes[FUNCTION_SIZE];
	size_t size = sizeof(bytes);
	/* Instructions of arm64 are words; place->vaddr may be a byte before one. */
	uint64_t end = place->arch->machine == EM_AARCH64 ? place->vaddr & ~(uint64_t)3
							   : place->vaddr;
	/* Fewer bytes at the begin of the section. */
	while (size >= 4 && !code_read(place->code, end - size, size, bytes))
		size /= 2;
	if (size < 4)
		return true;
	switch (place->arch->machine) {
	case EM_X86_64:
		return sets_up_x86(bytes, size) || sets_up_go(bytes, size);
	case EM_AARCH64:
		return sets_up_aarch64(bytes, size);
	default:
		return true;
	}
}

/*
 * Returns the size of a call by register or memory (0xff /2), without prefix; 0: it is no such
 * call.
 */
static size_t call_size_x86(const uint8_t *bytes)
{
	unsigned int mode = bytes[1] >> 6, base = bytes[1] & 7;
	if (bytes[0] != 0xff || (bytes[1] >> 3 & 7) != 2)
		return 0;
	size_t displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;
	return 2 + (mode != 3 && base == 4) + displacement;
}

bool guess_call_target(const struct code_place *caller, uint64_t *ret)
{
	uint8_t bytes[5];
	uint32_t word;
	if (caller->arch->machine == EM_AARCH64) {
		if (!code_read(caller->code, caller->ip - 4, 4, bytes))
			return false;
		memcpy(&word, bytes, sizeof(word));
		word = le32toh(word);
		if (word >> 26 != 0x25) /* bl */
			return false;
		*ret = caller->ip - 4 + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
		return true;
	}
	if (!code_read(caller->code, caller->ip - 5, 5, bytes) || bytes[0] != 0xe8)
		return false;
	/* 0xe8 may be an operand of the instruction before a call by register. */
	for (size_t at = 1; at + 2 <= sizeof(bytes); at++)
		if (call_size_x86(bytes + at) == sizeof(bytes) - at)
			return false;
	memcpy(&word, bytes + 1, sizeof(word));
	*ret = caller->ip + (uint64_t)(int64_t)(int32_t)le32toh(word);
	return true;
}

bool guess_calls_register(const struct code_place *caller)
{
	uint8_t bytes[2];
	/* call *%reg */
	return caller->arch->machine == EM_X86_64 &&
	       code_read(caller->code, caller->ip - 2, 2, bytes) && bytes[0] == 0xff &&
	       (bytes[1] & 0xf8) == 0xd0;
}

/* sub or mov to %rsp of another register than %rbp: alloca(3) */
static bool sets_sp_x86(const uint8_t *bytes)
{
	return (bytes[0] & 0xfb) == 0x48 && (bytes[1] == 0x29 || bytes[1] == 0x89) &&
	       (bytes[2] & 0xc7) == 0xc4 && bytes[2] != 0xec;
}

bool guess_local_bytes(const struct code_place *place, uint64_t start, uint32_t *ret)
{
	enum { SUB_MAX = 7 };
	uint8_t bytes[FUNCTION_SIZE] = {0};
	uint64_t size = place->vaddr - start;
	uint32_t found = 0;
	if (place->arch->machine != EM_X86_64 || size > sizeof(bytes) - SUB_MAX ||
	    !code_read(place->code, start, size, bytes))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (sets_sp_x86(bytes + i))
			return false;
		/* sub $n, %rsp: n of one byte or four */
		bool is_sub = i < FRAME_SETUP_SIZE && bytes[i] == 0x48 && bytes[i + 2] == 0xec;
		if (found == 0 && is_sub && bytes[i + 1] == 0x83 && bytes[i + 3] < 0x80)
			found = bytes[i + 3];
		else if (found == 0 && is_sub && bytes[i + 1] == 0x81)
			found = u32_at(bytes + i + 3);
	}
	*ret = found;
	return true;
}

bool guess_is_after_call(const struct code_place *caller)
{
	uint8_t bytes[CALL_MAX];
	if (caller->arch->machine == EM_AARCH64) /* bl; blr */
		return code_read(caller->code, caller->ip - 4, 4, bytes) &&
		       (u32_at(bytes) >> 26 == 0x25 || (u32_at(bytes) & 0xfffffc1f) == 0xd63f0000);
	if (!code_read(caller->code, caller->ip - CALL_MAX, CALL_MAX, bytes))
		return false;
	if (bytes[CALL_MAX - 5] == 0xe8)
		return true;
	for (size_t at = 0; at + 2 <= CALL_MAX; at++)
		if (call_size_x86(bytes + at) == CALL_MAX - at)
			return true;
	return false;
}

bool guess_follows_no_call(const struct code_place *caller)
{
	uint16_t machine = caller->arch->machine;
	uint8_t bytes[CALL_MAX];
	size_t size = machine == EM_AARCH64 ? 4 : CALL_MAX;
	return (machine == EM_X86_64 || machine == EM_386 || machine == EM_AARCH64) &&
	       code_read(caller->code, caller->ip - size, size, bytes) &&
	       !guess_is_after_call(caller);
}

bool guess_is_call_to(const struct code_place *caller, uint64_t vaddr)
{
	uint64_t target;
	return guess_call_target(caller, &target) && target <= vaddr && vaddr - target < LEAF_SIZE;
}

bool guess_is_put_there(const struct code_place *place)
{
	struct cfi_entry entry;
	uint64_t target;
	if (place->ip == place->vaddr ||
	    !code_find_cfi(place->code, place->arch, place->ip, &entry) ||
	    entry.start != place->ip || guess_call_target(place, &target))
		return false;
	/* call *%reg in code that has no entry, and expects no return */
	return !guess_calls_register(place);
}

bool guess_has_no_frame(const struct code_place *place)
{
	uint8_t bytes[LEAF_SIZE];
	uint64_t start;
	if (place->arch->machine != EM_X86_64 ||
	    !code_function_start(place->code, place->vaddr, &start) ||
	    place->vaddr - start > sizeof(bytes) - 4)
		return false;
	size_t size = place->vaddr - start;
	if (!code_read(place->code, start, size + 4, bytes))
		return false;
	/* Bytes of operands are examined as instructions, too: then the result is false. */
	for (size_t i = 0; i < size; i++) {
		uint8_t extension = bytes[i + 1] >> 3 & 7;
		bool pushes = (bytes[i] & 0xf8) == 0x50;
		bool calls = bytes[i] == 0xe8 ||
			     (bytes[i] == 0xff && (extension == 2 || extension == 6));
		/* add, sub, and, lea to %rsp */
		bool moves = bytes[i] == 0x48 &&
			     (((bytes[i + 1] == 0x83 || bytes[i + 1] == 0x81) &&
			       (bytes[i + 2] & 7) == 4 && bytes[i + 2] >= 0xc0) ||
			      (bytes[i + 1] == 0x8d && (bytes[i + 2] & 0x38) == 0x20));
		if (pushes || calls || moves || bytes[i] == 0xc8)
			return false;
	}
	return true;
}

bool guess_calls_out(const struct code_place *caller)
{
	uint8_t bytes[2];
	uint64_t target, plt;
	if (guess_call_target(caller, &target))
		return code_plt_start(caller->code, target, &plt);
	/* call *disp(%rip) */
	return caller->arch->machine == EM_X86_64 &&
	       code_read(caller->code, caller->ip - 6, sizeof(bytes), bytes) &&
	       bytes[0] == 0xff && bytes[1] == 0x15;
}
