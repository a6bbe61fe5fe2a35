/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sprof/private/instruction.h>

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * prefixes [REX | VEX | EVEX | XOP] opcode [ModRM [SIB] [displacement]] [immediate]
 *
 * Only what decides on the length is known: which opcodes have a ModRM byte, and how wide their
 * immediate is. An opcode's row is a letter of a map of 16 lines of 16: upper case with ModRM.
 */

#define LENGTH_MAX 15

/*
 * .  alone            M  ModRM
 * b  8 bits           B  ModRM, 8 bits
 * z  16 or 32 bits    Z  ModRM, 16 or 32 bits (by the operand's size)
 * v  16, 32 or 64     j  32 bits in 64-bit code, whatever the operand's size (branches)
 * w  16 bits          e  16 and 8 bits: enter
 * o  an address       f  16 or 32, and 16: far pointers, not in 64-bit code
 * G  ModRM, 8 bits if its register field is 0 or 1; H the same with 16 or 32
 * p  a prefix, or a byte that leads to another map: seen to before
 * x  no instruction   X  not in 64-bit code   Y  the same, with 8 bits
 */
static const char one_byte[257] =
	"MMMMbzXXMMMMbzXp"
	"MMMMbzXXMMMMbzXX"
	"MMMMbzpXMMMMbzpX"
	"MMMMbzpXMMMMbzpX"
	"................"
	"................"
	"XXMMppppzZbB...."
	"bbbbbbbbbbbbbbbb"
	"BZYBMMMMMMMMMMMM"
	"..........f....."
	"oooo....bz......"
	"bbbbbbbbvvvvvvvv"
	"BBw.MMBZe.w..bX."
	"MMMMYYX.MMMMMMMM"
	"bbbbbbbbjjfb...."
	"p.pp..GH......MM";

static const char two_bytes[257] =
	"MMMMx.....x.xM.B"
	"MMMMMMMMMMMMMMMM"
	"MMMMxxxxMMMMMMMM"
	"......x.pxpxxxxx"
	"MMMMMMMMMMMMMMMM"
	"MMMMMMMMMMMMMMMM"
	"MMMMMMMMMMMMMMMM"
	"BBBBMMM.MMMMMMMM"
	"jjjjjjjjjjjjjjjj"
	"MMMMMMMMMMMMMMMM"
	"...MBMxx...MBMMM"
	"MMMMMMMMMMBMMMMM"
	"MMBMBBBM........"
	"MMMMMMMMMMMMMMMM"
	"MMMMMMMMMMMMMMMM"
	"MMMMMMMMMMMMMMMM";

/* State of the parser. */
struct instruction_parser {
	const uint8_t *code;
	size_t size, at;
	bool is_64bit, operand_16, address_other, wide; /* REX.W */
	uint8_t modrm, opcode;
	unsigned int map; /* 0: one byte; 1: 0F; 2: 0F 38; 3: 0F 3A; … as VEX counts them */
	bool vector;      /* by VEX, EVEX or XOP */
};

static bool take(struct instruction_parser *reading, uint8_t *ret)
{
	if (reading->at >= reading->size || reading->at >= LENGTH_MAX)
		return false;
	*ret = reading->code[reading->at++];
	return true;
}

static bool skip(struct instruction_parser *reading, size_t count)
{
	reading->at += count;
	return reading->at <= reading->size && reading->at <= LENGTH_MAX;
}

/*
 * Skips prefixes. *next_ret is the first byte of the opcode. Returns false at the end of the code.
 */
static bool take_prefixes(struct instruction_parser *reading, uint8_t *next_ret)
{
	uint8_t byte;
	while (take(reading, &byte)) {
		reading->operand_16 |= byte == 0x66;
		reading->address_other |= byte == 0x67;
		if (byte && memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", byte, 11)) {
			/* REX counts right before the opcode alone. */
			reading->wide = false;
		} else if (reading->is_64bit && byte >> 4 == 4) {
			reading->wide = byte >> 3 & 1;
		} else {
			*next_ret = byte;
			return true;
		}
	}
	return false;
}

/*
 * VEX, EVEX and XOP, which in 32-bit code are other instructions unless what would be the ModRM
 * byte has registers alone. False: `lead` is an opcode of its own.
 */
static bool take_vector(struct instruction_parser *reading, uint8_t lead, bool *cut)
{
	uint8_t second = reading->at < reading->size ? reading->code[reading->at] : 0;
	size_t more = lead == 0xc5 ? 1 : lead == 0x62 ? 3 : 2;
	bool legacy = lead == 0x8f ? !(second & 0x1f & ~7u) : !reading->is_64bit && second < 0xc0;
	if ((lead != 0xc4 && lead != 0xc5 && lead != 0x62 && lead != 0x8f) || legacy)
		return false;
	reading->vector = true;
	reading->map = lead == 0xc5 ? 1 : second & (lead == 0x62 ? 7u : 0x1fu);
	*cut = !skip(reading, more) || !take(reading, &reading->opcode);
	return true;
}

static bool take_opcode(struct instruction_parser *reading)
{
	uint8_t byte;
	bool cut = false;
	if (!take_prefixes(reading, &byte))
		return false;
	if (take_vector(reading, byte, &cut))
		return !cut;
	if (byte == 0x0f) {
		reading->map = 1;
		if (!take(reading, &byte))
			return false;
		if (byte == 0x38 || byte == 0x3a) {
			reading->map = byte == 0x38 ? 2 : 3;
			if (!take(reading, &byte))
				return false;
		}
	}
	reading->opcode = byte;
	return true;
}

static char row_of(const struct instruction_parser *reading)
{
	switch (reading->map) {
	case 0:
		return reading->vector ? 'x' : one_byte[reading->opcode];
	case 1:
		/* vzeroupper has none, as emms; kmov and others are where jumps were. */
		if (reading->vector && reading->opcode != 0x77)
			return two_bytes[reading->opcode] == 'B' ? 'B' : 'M';
		return two_bytes[reading->opcode];
	case 3:
	case 8: /* XOP */
		return 'B';
	case 10: /* XOP with an operand of 32 bits */
		return 'Q';
	case 2:
	case 5: /* AVX512-FP16 */
	case 6:
	case 4: /* APX: opcodes of the first two maps; those with immediates are unknown */
	case 9:
		return 'M';
	default:
		return 'x';
	}
}

static bool take_modrm(struct instruction_parser *reading)
{
	uint8_t sib = 0;
	if (!take(reading, &reading->modrm))
		return false;
	unsigned int mod = reading->modrm >> 6, rm = reading->modrm & 7;
	/* Moves to control registers have none but registers. */
	if (mod == 3 ||
	    (reading->map == 1 && !reading->vector && reading->opcode >> 2 == 0x20 >> 2))
		return true;
	if (!reading->is_64bit && reading->address_other)
		return skip(reading, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
	if (rm == 4 && !take(reading, &sib))
		return false;
	if (mod == 0)
		return skip(reading, rm == 5 || (rm == 4 && (sib & 7) == 5) ? 4 : 0);
	return skip(reading, mod == 1 ? 1 : 4);
}

/* SIZE_MAX: no instruction. */
static size_t immediate_size(const struct instruction_parser *reading, char row)
{
	size_t z = reading->operand_16 && !reading->wide ? 2 : 4;
	switch (row) {
	case 'b':
	case 'B':
		return 1;
	case 'Y':
		return reading->is_64bit ? SIZE_MAX : 1;
	case 'X':
		return reading->is_64bit ? SIZE_MAX : 0;
	case 'z':
	case 'Z':
		return z;
	case 'v':
		return reading->wide ? 8 : z;
	case 'j':
		return reading->is_64bit ? 4 : z;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'o':
		return reading->is_64bit ? (reading->address_other ? 4 : 8) :
		       reading->address_other ? 2 : 4;
	case 'f':
		return reading->is_64bit ? SIZE_MAX : z + 2;
	case 'G':
		return reading->modrm >> 3 & 6 ? 0 : 1;
	case 'H':
		return reading->modrm >> 3 & 6 ? 0 : z;
	case 'Q':
		return 4;
	case 'x':
	case 'p':
		return SIZE_MAX;
	default:
		return 0;
	}
}

/* In 32-bit code 82 is as 80; bound (62) has a ModRM byte. */
static char row_of_mode(const struct instruction_parser *reading, char row)
{
	if (reading->map || reading->is_64bit)
		return row;
	return reading->opcode == 0x82 ? 'B' : reading->opcode == 0x62 ? 'M' : row;
}

static bool read_instruction(struct instruction_parser *reading)
{
	if (!take_opcode(reading))
		return false;
	char row = row_of_mode(reading, row_of(reading));
	if (row >= 'A' && row <= 'Z' && row != 'X' && row != 'Y' && !take_modrm(reading))
		return false;
	size_t immediate = immediate_size(reading, row);
	return immediate != SIZE_MAX && skip(reading, immediate);
}

/* Lengths of x86's instructions, by the opcode maps of Intel's and AMD's manuals. */

/* 0: none, or not all of it is within `size`. */
static size_t x86_length(bool is_64bit, const uint8_t *code, size_t size)
{
	struct instruction_parser reading = {.code = code, .size = size, .is_64bit = is_64bit};
	return read_instruction(&reading) ? reading.at : 0;
}

/* Returns whether execution never continues after the instruction. */
static bool x86_leaves(bool is_64bit, const uint8_t *code, size_t size)
{
	struct instruction_parser reading = {.code = code, .size = size, .is_64bit = is_64bit};
	if (!read_instruction(&reading))
		return false;
	if (reading.map == 1 && !reading.vector) /* syscall, sysret, sysenter, sysexit */
		return reading.opcode == 0x05 || reading.opcode == 0x07 || reading.opcode == 0x34 ||
		       reading.opcode == 0x35;
	if (reading.map)
		return false;
	if (reading.opcode == 0xff) /* calls and jumps through registers and memory */
		return (reading.modrm >> 3 & 7) >= 2 && (reading.modrm >> 3 & 7) <= 5;
	/* Far calls and jumps, returns, int, iret, calls and jumps. */
	return memchr("\x9a\xc2\xc3\xca\xcb\xcc\xcd\xcf\xe8\xe9\xea\xeb\xce", reading.opcode, 13);
}

/* In elf.h since glibc 2.36. */
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

static size_t length_of(uint16_t machine, const uint8_t *code)
{
	switch (machine) {
	case EM_AARCH64:
	case EM_PPC64: /* prefixed ones (Power10) are two to perf and libraries, too */
	case EM_PPC:
	case EM_MIPS:
	case EM_SPARCV9:
	case EM_LOONGARCH:
		return 4;
	case EM_RISCV:
		return (code[0] & 3) == 3 ? 4 : 2;
	case EM_S390:
		return code[0] >> 6 == 0 ? 2 : code[0] >> 6 == 3 ? 6 : 4;
	default:
		return 0;
	}
}

size_t sp_instruction_length(uint16_t machine, const uint8_t *code, size_t size)
{
	if (machine == EM_X86_64 || machine == EM_386)
		return x86_length(machine == EM_X86_64, code, size);
	size_t length = size ? length_of(machine, code) : 0;
	return length <= size ? length : 0;
}

bool sp_instruction_leaves(uint16_t machine, const uint8_t *code, size_t size)
{
	return (machine == EM_X86_64 || machine == EM_386) &&
	       x86_leaves(machine == EM_X86_64, code, size);
}
