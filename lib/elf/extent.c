/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/extent.h"

#include <endian.h>
#include <string.h>
#include "base/cursor.h"
#include "base/io.h"

/* Linkers leave small holes. A file with larger ones was made to be expensive to read. */
#define READ_FREE ((uint64_t)1 << 20)
#define READ_TIMES 4
#define UNPACKED_FREE ((uint64_t)8 << 20)
#define UNPACKED_TIMES 128
/* libelf needs some 400 bytes for each section. Programs have a hundred, C++ objects 30,000. */
#define SECTIONS_MAX ((uint64_t)1 << 18)

/* Largest header of a file or section, of either class. */
#define HEADER_SIZE 64

uint64_t extent_read_max(const struct image *image)
{
	return READ_FREE + READ_TIMES * image->allocated;
}

uint64_t extent_unpacked_max(uint64_t packed)
{
	uint64_t most;
	if (__builtin_mul_overflow(packed, UNPACKED_TIMES, &most))
		most = UINT64_MAX - UNPACKED_FREE;
	return UNPACKED_FREE + most;
}

static struct sp_error *too_large(const struct image *image, uint64_t size)
{
	struct sp_error *error =
		error_new(SP_ERROR_FORMAT, "%s: sections of %llu bytes, but only %llu bytes are on the disk",
			  image->path, (unsigned long long)size,
			  (unsigned long long)image->allocated);
	return error_set_remedy(error, "make a copy without holes: cp --sparse=never FILE COPY");
}

/* Reads up to HEADER_SIZE bytes at `offset` into `buffer` and returns a cursor over them. */
static struct cursor header_at(const struct image *image, uint64_t offset, uint8_t *buffer)
{
	size_t size = 0;
	if (image->memory) {
		uint64_t left = offset < image->size ? image->size - offset : 0;
		size = left < HEADER_SIZE ? (size_t)left : HEADER_SIZE;
		memcpy(buffer, (const uint8_t *)image->memory + (left ? offset : 0), size);
	} else if (offset <= INT64_MAX && io_pread(image->fd, buffer, HEADER_SIZE, offset, &size)) {
		size = 0;
	}
	return cursor_make(buffer, size, false, image->path, offset);
}

struct tables {
	uint64_t offset[2];         /* program headers and section headers; 0: none */
	uint64_t count[2], entry[2];
};

/* Reads header counts that do not fit 16 bits: ELF keeps them in the first section header. */
static bool read_large_counts(const struct image *image, size_t word, bool swap,
			      struct tables *tables)
{
	uint8_t buffer[HEADER_SIZE];
	struct cursor cursor = header_at(image, tables->offset[1], buffer);
	uint32_t info;
	uint64_t size;
	cursor.swap = swap;
	if (!cursor_skip(&cursor, 8 + 3 * word) || !cursor_word(&cursor, word, &size) ||
	    !cursor_skip(&cursor, 4) || !cursor_u32(&cursor, &info))
		return false;
	if (tables->count[1] == 0)
		tables->count[1] = size;
	if (tables->count[0] == PN_XNUM)
		tables->count[0] = info;
	return true;
}

/* Reads place and size of both header tables from the ELF header; false if it is not an ELF file. */
static bool read_tables(const struct image *image, struct tables *ret)
{
	uint8_t buffer[HEADER_SIZE];
	struct cursor cursor = header_at(image, 0, buffer);
	const uint8_t *ident;
	uint16_t numbers[6]; /* e_ehsize to e_shstrndx */
	uint64_t entry;
	if (!cursor_bytes(&cursor, EI_NIDENT, &ident) || memcmp(ident, ELFMAG, SELFMAG))
		return false;
	size_t word = ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	cursor.swap = (ident[EI_DATA] == ELFDATA2MSB) != (BYTE_ORDER == BIG_ENDIAN);
	if (!cursor_skip(&cursor, 8) || !cursor_word(&cursor, word, &entry) ||
	    !cursor_word(&cursor, word, &ret->offset[0]) ||
	    !cursor_word(&cursor, word, &ret->offset[1]) || !cursor_skip(&cursor, 4))
		return false;
	for (size_t i = 0; i < 6; i++)
		if (!cursor_u16(&cursor, &numbers[i]))
			return false;
	for (size_t i = 0; i < 2; i++) {
		ret->entry[i] = numbers[2 * i + 1];
		ret->count[i] = numbers[2 * i + 2];
	}
	bool large = ret->offset[1] && (ret->count[1] == 0 || ret->count[0] == PN_XNUM);
	return !large || read_large_counts(image, word, cursor.swap, ret);
}

struct sp_error *extent_check_tables(const struct image *image)
{
	struct tables tables;
	if (!read_tables(image, &tables))
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		uint64_t size, offset = tables.offset[i];
		if (offset == 0 || tables.count[i] == 0)
			continue;
		if (tables.count[i] > SECTIONS_MAX)
			return error_new(SP_ERROR_FORMAT,
					 "%s: too many headers: %llu %s headers", image->path,
					 (unsigned long long)tables.count[i],
					 i ? "section" : "program");
		size = tables.count[i] * tables.entry[i];
		if (size > 0 && (offset > image->size || size > image->size - offset))
			return error_format(image->path, image->size,
					    "the file is truncated: its %s headers are at 0x%llx",
					    i ? "section" : "program", (unsigned long long)offset);
		if (size > extent_read_max(image))
			return too_large(image, size);
	}
	return NULL;
}

/* Whether the section name table is uncompressed: libelf would unpack it without a size limit. */
static bool has_plain_names(const struct image *image)
{
	GElf_Shdr header;
	size_t names;
	if (elf_getshdrstrndx(image->elf, &names))
		return true;
	Elf_Scn *section = elf_getscn(image->elf, names);
	return !section || !gelf_getshdr(section, &header) ||
	       !(header.sh_flags & SHF_COMPRESSED);
}

struct sp_error *extent_check_sections(const struct image *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t sum = 0;
	if (!has_plain_names(image))
		return error_new(SP_ERROR_FORMAT, "%s: the section name table is compressed",
				 image->path);
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		    header.sh_type == SHT_NULL)
			continue;
		/* Bytes past the end cannot be read; the reader of the section reports that. */
		if (header.sh_offset > image->size ||
		    header.sh_size > image->size - header.sh_offset)
			continue;
		if (__builtin_add_overflow(sum, header.sh_size, &sum) ||
		    sum > extent_read_max(image))
			return too_large(image, sum);
	}
	return NULL;
}
