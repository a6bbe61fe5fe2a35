/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths; tests/cli/test_instructions.sh compares them with objdump's of whole libraries. */
#include <sprof/private/instruction.h>

#include <elf.h>
#include <string.h>
#include "test.h"

static void has_length(uint16_t machine, const char *code, size_t size, size_t wanted)
{
	const uint8_t *bytes = (const uint8_t *)code;
	ck_assert_uint_eq(sp_instruction_length(machine, bytes, size), wanted);
	/* All of it is needed, and no more is looked at. */
	for (size_t cut = 0; wanted && cut < wanted; cut++)
		ck_assert_uint_eq(sp_instruction_length(machine, bytes, cut), 0);
}

#define HAS(machine, code, wanted) has_length(machine, code, sizeof(code) - 1, wanted)

TEST(lengths_of_x86_64)
{
	HAS(EM_X86_64, "\x90\x90", 1);
	HAS(EM_X86_64, "\x48\x0f\xaf\xd0", 4);                         /* imul */
	HAS(EM_X86_64, "\x48\xb8\1\2\3\4\5\6\7\x8\x90", 10);           /* movabs */
	HAS(EM_X86_64, "\x66\xb8\1\2\x90", 4);
	HAS(EM_X86_64, "\x66\x48\xb8\1\2\3\4\5\6\7\x8", 11);
	HAS(EM_X86_64, "\x48\x66\xb8\1\2\x90", 5);                     /* REX does not count */
	HAS(EM_X86_64, "\xf6\x04\x25\0\0\0\0\1\x90", 8);               /* test [disp32], 1 */
	HAS(EM_X86_64, "\xf7\xd8\x90", 2);                             /* neg */
	HAS(EM_X86_64, "\x66\xe9\0\0\0\0\x90", 6);
	HAS(EM_X86_64, "\xa1\1\2\3\4\5\6\7\x8\x90", 9);
	HAS(EM_X86_64, "\x67\xa1\1\2\3\4\x90", 6);
	HAS(EM_X86_64, "\xf3\x0f\x1e\xfa\x90", 4);                     /* endbr64 */
	HAS(EM_X86_64, "\x66\x2e\x0f\x1f\x84\0\0\0\0\0\x90", 10);      /* nopw */
	HAS(EM_X86_64, "\xc5\xf8\x77\x90", 3);                         /* vzeroupper */
	HAS(EM_X86_64, "\xc5\xf9\x70\xc0\1\x90", 5);                   /* vpshufd */
	HAS(EM_X86_64, "\xc4\xe3\x7d\x39\xc1\1\x90", 6);               /* vextracti128 */
	HAS(EM_X86_64, "\x62\xf1\xfe\x48\x6f\x40\1\x90", 7);           /* vmovdqu64 */
	HAS(EM_X86_64, "\x62\xf3\x7d\x48\x25\xc1\xff\x90", 7);         /* vpternlogd */
	HAS(EM_X86_64, "\x8f\xe8\x78\xa2\xc1\x10\x90", 6);             /* XOP: vpcmov */
	HAS(EM_X86_64, "\x06", 0);
	HAS(EM_X86_64, "\xc8\1\2\3\x90", 4);
	HAS(EM_X86_64, "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0);
}

TEST(lengths_of_x86_32)
{
	HAS(EM_386, "\x40\x90", 1);
	HAS(EM_386, "\x62\x00\x90", 2);              /* bound */
	HAS(EM_386, "\xc5\x00\x90", 2);              /* lds */
	HAS(EM_386, "\xc5\xf8\x77\x90", 3);
	HAS(EM_386, "\x9a\1\2\3\4\5\6\x90", 7);
	HAS(EM_386, "\x67\x8b\x46\x10\x90", 4);      /* [bp + 16] */
	HAS(EM_386, "\x67\x8b\x06\x10\x20\x90", 5);  /* [disp16] */
	HAS(EM_386, "\x66\xe9\0\0\x90", 4);
	HAS(EM_386, "\xa1\1\2\3\4\x90", 5);
	HAS(EM_386, "\x82\xc0\1\x90", 3);
	HAS(EM_386, "\xd5\x0a\x90", 2);
}

TEST(lengths_of_others)
{
	HAS(EM_AARCH64, "\1\2\3\4\5", 4);
	HAS(EM_RISCV, "\1\2\3\4", 2);
	HAS(EM_RISCV, "\3\2\3\4", 4);
	HAS(EM_S390, "\x07\xfe\0\0\0\0", 2);
	HAS(EM_S390, "\xe3\x20\x10\x00\x00\x04", 6);
	HAS(EM_NONE, "\1\2\3\4\5", 0);
}

static bool leaves(const char *code, size_t size)
{
	return sp_instruction_leaves(EM_X86_64, (const uint8_t *)code, size);
}

TEST(instructions_that_do_not_continue)
{
	ck_assert(leaves("\xc3", 1));
	ck_assert(leaves("\xf3\xc3", 2));
	ck_assert(leaves("\xe8\0\0\0\0", 5));
	ck_assert(leaves("\xff\xe0", 2));
	ck_assert(leaves("\x0f\x05", 2));
	ck_assert(!leaves("\x74\x00", 2));
	ck_assert(!leaves("\xff\xc0", 2)); /* inc */
	ck_assert(!leaves("\x0f\x84\0\0\0\0", 6));
	ck_assert(!leaves("\x90", 1));
	ck_assert(!leaves("\xe8", 1));
}

TEST(text_is_that_of_the_library)
{
	struct sp_disassembler *disassembler = NULL;
	size_t length;
	struct sp_error *error = sp_disassembler_new(EM_X86_64, false, 0, &disassembler);
	if (error) {
		/* A build without it, or a machine. */
		ck_assert_int_eq(sp_error_code(error), SP_ERROR_UNSUPPORTED);
		ck_assert(sp_error_remedy(error));
		sp_error_free(error);
		skip_test("built without a disassembler");
	}
	const uint8_t add[] = {0x48, 0x83, 0xc0, 0x01}, jump[] = {0xeb, 0x0e};
	ck_assert_str_eq(sp_disassembler_text(disassembler, 0x1000, add, sizeof(add), &length),
			 "addq $1, %rax");
	ck_assert_uint_eq(length, 4);
	ck_assert_str_eq(sp_disassembler_text(disassembler, 0x1000, jump, 2, &length), "jmp 0x1010");
	ck_assert(!sp_disassembler_text(disassembler, 0, add, 2, &length));
	ck_assert_uint_eq(length, 0);
	sp_disassembler_free(disassembler);
	error = sp_disassembler_new(EM_NONE, false, 0, &disassembler);
	ck_assert(error);
	sp_error_free(error);
}

TEST(targets_of_jumps_and_calls)
{
	struct sp_disassembler *disassembler = NULL;
	size_t length;
	uint64_t target;
	bool is_call;
	struct sp_error *error = sp_disassembler_new(
		EM_X86_64, false, SP_DISASSEMBLER_INTEL | SP_DISASSEMBLER_TARGETS, &disassembler);
	sp_error_free(error);
	if (error)
		skip_test("built without a disassembler");
	const uint8_t jump[] = {0x74, 0x0e}, call[] = {0xe8, 0, 1, 0, 0}, indirect[] = {0xff, 0xe0};
	const uint8_t move[] = {0x48, 0xc7, 0xc0, 0x34, 0x12, 0, 0};
	ck_assert_str_eq(sp_disassembler_text(disassembler, 0x1000, jump, 2, &length), "je 0x1010");
	ck_assert(sp_disassembler_target(disassembler, &is_call, &target));
	ck_assert(!is_call);
	ck_assert_uint_eq(target, 0x1010);
	ck_assert(sp_disassembler_text(disassembler, 0x1000, call, sizeof(call), &length));
	ck_assert(sp_disassembler_target(disassembler, &is_call, &target));
	ck_assert(is_call);
	ck_assert_uint_eq(target, 0x1105);
	ck_assert_str_eq(sp_disassembler_text(disassembler, 0, indirect, 2, &length), "jmp rax");
	ck_assert(!sp_disassembler_target(disassembler, &is_call, &target));
	ck_assert_str_eq(sp_disassembler_text(disassembler, 0, move, sizeof(move), &length),
			 "mov rax, 0x1234");
	ck_assert(!sp_disassembler_target(disassembler, &is_call, &target));
	sp_disassembler_free(disassembler);
	const uint8_t loop[] = {0x41, 0x00, 0x00, 0x54}; /* b.ne */
	ck_assert(!sp_disassembler_new(EM_AARCH64, false, SP_DISASSEMBLER_TARGETS, &disassembler));
	ck_assert(sp_disassembler_text(disassembler, 0x1000, loop, 4, &length));
	ck_assert(sp_disassembler_target(disassembler, &is_call, &target));
	ck_assert_uint_eq(target, 0x1008);
	sp_disassembler_free(disassembler);
}
