/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a binary's functions set up frame pointers, seen from its .eh_frame: then the
 * row behind a prologue finds the frame by rbp (x86-64), or the frame pointer is saved
 * (arm64, where it is in all but leaf functions, or in none). Entries are skimmed: what
 * is not understood is passed over, as each begins with its length.
 */
#include "capture/graph.h"

#include "base/cursor.h"

#define FUNCTIONS_MAX 4000

/* What differs between machines. */
struct mark {
	uint16_t machine;
	uint64_t cfa_register;  /* DW_CFA_def_cfa(_register) to that; UINT64_MAX: does not count */
	uint64_t saved_register; /* DW_CFA_offset of that */
};

static const struct mark marks[] = {
	{EM_X86_64, 6, UINT64_MAX},
	{EM_AARCH64, UINT64_MAX, 29},
};

static bool uleb(struct cursor *cursor, uint64_t *ret)
{
	uint8_t byte;
	*ret = 0;
	for (unsigned int shift = 0; cursor_u8(cursor, &byte); shift += 7) {
		if (shift < 64)
			*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip_ulebs(struct cursor *cursor, int count)
{
	uint64_t ignored;
	while (count--)
		if (!uleb(cursor, &ignored))
			return false;
	return true;
}

/* Passes over what follows an opcode that says nothing here; false at one that is not known. */
static bool skip_operands(struct cursor *cursor, uint8_t opcode)
{
	uint64_t size;
	switch (opcode) {
	case 0x00: /* nop */
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state */
	case 0x2d: /* AARCH64_negate_ra_state */
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
		return cursor_skip(cursor, 1);
	case 0x03:
		return cursor_skip(cursor, 2);
	case 0x04:
		return cursor_skip(cursor, 4);
	case 0x06: /* restore_extended, undefined, same_value, def_cfa_offset, GNU_args_size */
	case 0x07:
	case 0x08:
	case 0x0e:
	case 0x13:
	case 0x2e:
		return skip_ulebs(cursor, 1);
	case 0x09: /* register, offset_extended_sf, def_cfa_sf */
	case 0x11:
	case 0x12:
		return skip_ulebs(cursor, 2);
	case 0x0f: /* def_cfa_expression */
		return uleb(cursor, &size) && cursor_skip(cursor, size);
	case 0x10: /* expression, val_expression */
	case 0x16:
		return skip_ulebs(cursor, 1) && uleb(cursor, &size) && cursor_skip(cursor, size);
	default:
		return false;
	}
}

static bool has_frame_pointer(struct cursor cursor, const struct mark *mark)
{
	uint8_t opcode;
	uint64_t reg;
	while (cursor_u8(&cursor, &opcode)) {
		if ((opcode & 0xc0) == 0x80) { /* offset */
			if ((opcode & 0x3f) == mark->saved_register)
				return true;
			if (!skip_ulebs(&cursor, 1))
				return false;
		} else if (opcode == 0x0c || opcode == 0x0d || opcode == 0x05) {
			/* def_cfa, def_cfa_register, offset_extended */
			if (!uleb(&cursor, &reg))
				return false;
			if (reg == (opcode == 0x05 ? mark->saved_register : mark->cfa_register))
				return true;
			if (opcode != 0x0d && !skip_ulebs(&cursor, 1))
				return false;
		} else if (!(opcode & 0xc0) && !skip_operands(&cursor, opcode)) {
			return false;
		}
	}
	return false;
}

/* The size of a pointer of that DW_EH_PE encoding; 0: no fixed one. */
static size_t encoded_size(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x02:
	case 0x0a:
		return 2;
	case 0x03:
	case 0x0b:
		return 4;
	case 0x00:
	case 0x04:
	case 0x0c:
		return 8;
	default:
		return 0;
	}
}

/* What a CIE says of its FDEs. */
struct cie {
	bool has_data;
	size_t pointer_size; /* 0: not understood */
};

static struct cie read_cie(struct cursor cursor)
{
	uint8_t version, encoding = 0;
	uint64_t ignored;
	const uint8_t *personality;
	struct cie cie = {.pointer_size = 8};
	if (!cursor_u8(&cursor, &version))
		return (struct cie){0};
	const uint8_t *text = memchr(cursor.pos, 0, cursor_left(&cursor));
	if (!text)
		return (struct cie){0};
	const char *letters = (const char *)cursor.pos;
	cursor.pos = text + 1;
	if (*letters != 'z')
		return *letters ? (struct cie){0} : cie;
	cie.has_data = true;
	/* Both factors, the return address (a byte in version 1), the data's size. */
	if (!skip_ulebs(&cursor, version == 1 ? 2 : 3) ||
	    (version == 1 && !cursor_skip(&cursor, 1)) || !uleb(&cursor, &ignored))
		return (struct cie){0};
	while (*++letters) {
		if (*letters == 'S' || *letters == 'B')
			continue;
		if (!cursor_u8(&cursor, &encoding))
			return (struct cie){0};
		if (*letters == 'R')
			cie.pointer_size = encoded_size(encoding);
		else if (*letters == 'P' &&
			 !cursor_bytes(&cursor, encoded_size(encoding), &personality))
			return (struct cie){0};
	}
	return cie;
}

/* The instructions of an FDE, whose cursor stands behind the CIE's place; false: not understood. */
static bool fde_instructions(struct cursor *fde, const struct cursor *section, uint32_t cie_distance,
			     const uint8_t *place)
{
	uint32_t length, id;
	uint64_t size;
	if (cie_distance > (size_t)(place - section->begin))
		return false;
	struct cursor cursor = *section;
	cursor.pos = place - cie_distance;
	if (!cursor_u32(&cursor, &length) || length == UINT32_MAX || cursor_left(&cursor) < length ||
	    !cursor_u32(&cursor, &id) || id != 0)
		return false;
	cursor.end = cursor.pos - 4 + length;
	struct cie cie = read_cie(cursor);
	return cie.pointer_size && cursor_skip(fde, 2 * cie.pointer_size) &&
	       (!cie.has_data || (uleb(fde, &size) && cursor_skip(fde, size)));
}

static bool mostly_framed(struct cursor section, const struct mark *mark)
{
	size_t functions = 0, framed = 0;
	uint32_t length, id;
	while (functions < FUNCTIONS_MAX && cursor_u32(&section, &length) && length != UINT32_MAX &&
	       length >= 4) {
		struct cursor fde = section;
		const uint8_t *place = section.pos;
		if (!cursor_skip(&section, length))
			break;
		fde.end = section.pos;
		if (!cursor_u32(&fde, &id) || id == 0)
			continue;
		struct cursor whole = section;
		if (!fde_instructions(&fde, &whole, id, place))
			continue;
		functions++;
		framed += has_frame_pointer(fde, mark);
	}
	return functions && framed * 2 >= functions;
}

bool image_keeps_frame_pointers(struct image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".eh_frame", &header);
	const struct mark *mark = NULL;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (marks[i].machine == image->machine)
			mark = &marks[i];
	if (!section || !mark)
		return false;
	struct image_bytes bytes;
	struct sp_error *error = image_section_bytes(image, section, &bytes);
	if (error) {
		sp_error_free(error);
		return false;
	}
	bool keeps = mostly_framed(cursor_make(bytes.bytes, bytes.size, image->swap, NULL, 0), mark);
	image_bytes_release(&bytes);
	return keeps;
}
