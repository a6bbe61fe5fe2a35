/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The copy has the file's bytes and, after them, the unpacked sections. First the section headers
 * are changed to point there, then the relocations are applied.
 */
#include "elf/relocate.h"

#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "elf/extent.h"

/* Largest file that is copied. The largest drivers have 50 MB, with their debug information. */
#define FILE_SIZE_MAX ((uint64_t)1 << 30)

struct copy {
	struct image *image;
	const uint64_t *addresses;
	size_t count;  /* number of sections */
	size_t names;  /* index of the section with the section names */
	uint8_t *bytes;
	uint64_t size, room;
};

static struct sp_error *damaged(const struct copy *copy, const char *what)
{
	return error_new(SP_ERROR_FORMAT, "%s: %s", copy->image->path, what);
}

static bool grow(struct copy *copy, uint64_t more)
{
	uint64_t wanted = copy->size + more + 8;
	if (wanted > 2 * FILE_SIZE_MAX)
		return false;
	if (wanted > copy->room) {
		uint8_t *bytes = realloc(copy->bytes, wanted);
		if (!bytes)
			return false;
		copy->bytes = bytes;
		copy->room = wanted;
	}
	return true;
}

static struct sp_error *copy_file(struct copy *copy)
{
	const struct image *image = copy->image;
	size_t done = 0;
	bool large = image->size > FILE_SIZE_MAX || image->size > extent_read_max(image);
	if (large || !grow(copy, image->size))
		return large ? damaged(copy, "the file is absurdly large") :
						     error_no_memory();
	copy->size = image->size;
	if (image->memory) {
		memcpy(copy->bytes, image->memory, image->size);
		return NULL;
	}
	int errnum = io_pread(image->fd, copy->bytes, image->size, 0, &done);
	if (errnum)
		return error_os(errnum, "%s", image->path);
	return done == image->size ? NULL : damaged(copy, "the file shrinks");
}

static bool is_debug(const struct copy *copy, size_t index, GElf_Shdr *ret)
{
	if (!gelf_getshdr(elf_getscn(copy->image->elf, index), ret) ||
	    ret->sh_type != SHT_PROGBITS)
		return false;
	const char *name = elf_strptr(copy->image->elf, copy->names, ret->sh_name);
	return name && !strncmp(name, ".debug_", 7);
}

/* Reads a section's header from the copy, and its offset into *at; NULL if it is past the end. */
static Elf64_Shdr *header_at(const struct copy *copy, size_t index, Elf64_Shdr *ret, uint64_t *at)
{
	GElf_Ehdr header;
	if (!gelf_getehdr(copy->image->elf, &header) || header.e_shentsize != sizeof(*ret) ||
	    header.e_shoff > copy->image->size ||
	    index >= (copy->image->size - header.e_shoff) / sizeof(*ret))
		return NULL;
	*at = header.e_shoff + index * sizeof(*ret);
	memcpy(ret, copy->bytes + *at, sizeof(*ret));
	return ret;
}

/* Unpacks a compressed section to the end of the copy. */
static struct sp_error *unpack(struct copy *copy, size_t index)
{
	Elf_Scn *section = elf_getscn(copy->image->elf, index);
	GElf_Chdr packed;
	Elf64_Shdr header;
	uint64_t at;
	if (!gelf_getchdr(section, &packed) || packed.ch_size > FILE_SIZE_MAX ||
	    copy->size + packed.ch_size > extent_unpacked_max(copy->image->allocated) ||
	    !header_at(copy, index, &header, &at) || elf_compress(section, 0, 0) < 0)
		return damaged(copy, "a compressed section cannot be unpacked");
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || !data->d_buf)
		return damaged(copy, "a compressed section cannot be unpacked");
	NEED(grow(copy, data->d_size));
	uint64_t to = (copy->size + 7) & ~(uint64_t)7;
	memset(copy->bytes + copy->size, 0, to - copy->size);
	memcpy(copy->bytes + to, data->d_buf, data->d_size);
	copy->size = to + data->d_size;
	header.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	header.sh_offset = to;
	header.sh_size = data->d_size;
	memcpy(copy->bytes + at, &header, sizeof(header));
	return NULL;
}

/* Size in bytes of a relocation's field, and whether it is PC-relative; 0: unknown type. */
static unsigned int width_of(uint16_t machine, uint64_t type, bool *relative_ret)
{
	*relative_ret = false;
	if (machine == EM_X86_64) {
		*relative_ret = type == R_X86_64_PC32 || type == R_X86_64_PC64;
		return type == R_X86_64_64 || type == R_X86_64_PC64 || type == R_X86_64_DTPOFF64 ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ||
				       type == R_X86_64_PC32 || type == R_X86_64_DTPOFF32 ? 4 : 0;
	}
	*relative_ret = type == R_AARCH64_PREL32 || type == R_AARCH64_PREL64;
	return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64   ? 8
	       : type == R_AARCH64_ABS32 || type == R_AARCH64_PREL32 ? 4 : 0;
}

/* Address for a section that is not loaded: all ones, or one less in lists, where all ones is a mark. */
static uint64_t nowhere_in(const struct copy *copy, const GElf_Shdr *target)
{
	const char *name = elf_strptr(copy->image->elf, copy->names, target->sh_name);
	bool list = name && (!strcmp(name, ".debug_ranges") || !strcmp(name, ".debug_loc"));
	return UINT64_MAX - list;
}

/* Applies one relocation. `header` is the section header of `target` in the copy. */
static struct sp_error *apply(struct copy *copy, const GElf_Shdr *target,
			      const Elf64_Shdr *header, const GElf_Rela *relocation,
			      Elf_Data *symbols)
{
	GElf_Sym symbol;
	bool relative;
	uint64_t type = GELF_R_TYPE(relocation->r_info);
	unsigned int width = width_of(copy->image->machine, type, &relative);
	if (type == 0) /* R_*_NONE */
		return NULL;
	if (width == 0 || !gelf_getsym(symbols, GELF_R_SYM(relocation->r_info), &symbol) ||
	    header->sh_offset > copy->size || header->sh_size > copy->size - header->sh_offset ||
	    header->sh_size < width || relocation->r_offset > header->sh_size - width)
		return damaged(copy, "a relocation of its debug information is not known");
	uint64_t base = 0;
	GElf_Shdr of;
	if (symbol.st_shndx < copy->count && !is_debug(copy, symbol.st_shndx, &of))
		base = copy->addresses[symbol.st_shndx];
	uint64_t value = base == RELOCATE_NOWHERE ? nowhere_in(copy, target)
					: base + symbol.st_value + (uint64_t)relocation->r_addend;
	if (relative)
		value -= relocation->r_offset;
	/* A plain copy: relocate_debug() checks that the file has the host's byte order (little-endian). */
	memcpy(copy->bytes + header->sh_offset + relocation->r_offset, &value, width);
	return NULL;
}

static struct sp_error *relocate(struct copy *copy, Elf_Scn *section, const GElf_Shdr *of)
{
	GElf_Shdr target;
	Elf64_Shdr header;
	uint64_t at;
	if (!is_debug(copy, of->sh_info, &target))
		return NULL;
	Elf_Data *relocations = image_section_data(section);
	Elf_Scn *table = elf_getscn(copy->image->elf, of->sh_link);
	Elf_Data *symbols = table ? image_section_data(table) : NULL;
	if (!relocations || !symbols || of->sh_entsize == 0 ||
	    !header_at(copy, of->sh_info, &header, &at))
		return damaged(copy, "its debug information cannot be relocated");
	for (size_t i = 0; i < relocations->d_size / of->sh_entsize; i++) {
		GElf_Rela relocation;
		if (!gelf_getrela(relocations, i, &relocation))
			return damaged(copy, "its debug information cannot be relocated");
		TRY(apply(copy, &target, &header, &relocation, symbols));
	}
	return NULL;
}

static struct sp_error *relocate_all(struct copy *copy)
{
	struct sp_error *error = NULL;
	GElf_Shdr header;
	for (size_t i = 1; i < copy->count && !error; i++)
		if (is_debug(copy, i, &header) && header.sh_flags & SHF_COMPRESSED)
			error = unpack(copy, i);
	for (size_t i = 1; i < copy->count && !error; i++) {
		Elf_Scn *section = elf_getscn(copy->image->elf, i);
		if (section && gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			error = relocate(copy, section, &header);
	}
	return error;
}

struct sp_error *relocate_debug(struct image *image, const uint64_t *addresses, size_t count,
				struct image **ret)
{
	struct copy copy = {.image = image, .addresses = addresses, .count = count};
	if (!image->is_64bit || image->swap ||
	    (image->machine != EM_X86_64 && image->machine != EM_AARCH64))
		return error_new(SP_ERROR_UNSUPPORTED,
				 "%s: relocatable files of its machine are not known", image->path);
	struct sp_error *error = copy_file(&copy);
	if (!error && elf_getshdrstrndx(image->elf, &copy.names))
		error = damaged(&copy, "its sections have no names");
	if (!error)
		error = relocate_all(&copy);
	if (error) {
		free(copy.bytes);
		return error;
	}
	return image_open_memory(copy.bytes, copy.size, image->path, ret);
}
