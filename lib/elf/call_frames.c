/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/call_frames.h"

#include <endian.h>
#include "elf/extent.h"

/* More than any real .eh_frame or .debug_frame. */
#define FRAMES_SIZE_MAX ((uint64_t)256 << 20)

void call_frames_deinit(struct call_frames *frames)
{
	cfi_table_deinit(&frames->eh);
	cfi_table_deinit(&frames->debug);
	image_bytes_release(&frames->header_bytes);
	image_bytes_release(&frames->eh_bytes);
	image_bytes_release(&frames->debug_bytes);
	*frames = (struct call_frames){0};
}

static bool is_big_endian(const struct image *image)
{
	return image->swap == (BYTE_ORDER == LITTLE_ENDIAN);
}

static struct cfi_bytes cfi_bytes(const struct image_bytes *bytes, uint64_t vaddr)
{
	return (struct cfi_bytes){.bytes = bytes->bytes, .size = bytes->size, .vaddr = vaddr};
}

/* Reads .eh_frame_hdr by its segment, which also files without section headers have. */
static struct sp_error *read_header(const struct image *image, struct image_bytes *bytes,
				    struct cfi_bytes *ret)
{
	size_t count;
	if (elf_getphdrnum(image->elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->elf, i, &header) || header.p_type != PT_GNU_EH_FRAME ||
		    header.p_filesz == 0)
			continue;
		struct sp_error *error =
			image_range_bytes(image, header.p_offset, header.p_filesz, bytes);
		if (!error)
			*ret = cfi_bytes(bytes, header.p_vaddr);
		return error;
	}
	return NULL;
}

/* Reads .eh_frame's address from .eh_frame_hdr, for files without section headers. */
static bool pointed_at(const struct image *image, const struct cfi_bytes *header, uint64_t *ret)
{
	struct cfi_section section = {.bytes = *header, .word = image->is_64bit ? 8 : 4};
	size_t offset = 4;
	if (header->size < 4 || header->bytes[0] != 1)
		return false;
	return cfi_read_address(&section, &offset, header->bytes[1], ret);
}

static struct sp_error *read_section(const struct image *image, const struct cfi_bytes *header,
				     struct image_bytes *bytes, struct cfi_bytes *ret)
{
	GElf_Shdr section_header;
	Elf_Scn *section = image_section(image, ".eh_frame", &section_header);
	uint64_t vaddr, offset, size;
	struct sp_error *error = NULL;
	if (section) {
		vaddr = section_header.sh_addr;
		if (section_header.sh_type == SHT_NOBITS || section_header.sh_size == 0)
			return NULL;
		if (section_header.sh_size > FRAMES_SIZE_MAX)
			return error_new(SP_ERROR_FORMAT, "%s: .eh_frame is too large",
					 image->path);
		error = image_section_bytes(image, section, bytes);
	} else if (pointed_at(image, header, &vaddr) &&
		   image_range_at(image, vaddr, &offset, &size)) {
		error = image_range_bytes(image, offset, size, bytes);
	} else {
		return NULL;
	}
	if (!error)
		*ret = cfi_bytes(bytes, vaddr);
	return error;
}

struct sp_error *call_frames_read_eh(struct call_frames *frames, const struct image *image)
{
	struct cfi_section section = {.word = image->is_64bit ? 8 : 4};
	struct cfi_bytes header = {0};
	if (is_big_endian(image))
		return NULL;
	struct sp_error *damage = read_header(image, &frames->header_bytes, &header);
	struct sp_error *error =
		read_section(image, &header, &frames->eh_bytes, &section.bytes);
	if (!error && section.bytes.size > FRAMES_SIZE_MAX)
		error = error_new(SP_ERROR_FORMAT, "%s: .eh_frame is too large", image->path);
	if (!error && section.bytes.size > 0)
		error = cfi_table_init(&frames->eh, &section, &header, &image->code);
	return error_first(error, damage);
}

bool call_frames_has_debug(const struct image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".debug_frame", &header);
	return section && header.sh_type != SHT_NOBITS && header.sh_size > 0;
}

/* Reads .debug_frame. If it is compressed, it is unpacked by libelf, and the image owns the bytes. */
static struct sp_error *read_debug_section(const struct image *image, struct image_bytes *bytes,
					   struct cfi_bytes *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".debug_frame", &header);
	if (section && (header.sh_flags & SHF_COMPRESSED)) {
		GElf_Chdr compressed;
		if (!gelf_getchdr(section, &compressed) ||
		    compressed.ch_size > FRAMES_SIZE_MAX ||
		    compressed.ch_size > extent_unpacked_max(header.sh_size) ||
		    elf_compress(section, 0, 0) < 0)
			return error_new(SP_ERROR_FORMAT,
					 "%s: .debug_frame cannot be uncompressed: %s",
					 image->path, elf_errmsg(-1));
		Elf_Data *data = image_section_data(section);
		if (data)
			*ret = (struct cfi_bytes){.bytes = data->d_buf, .size = data->d_size};
		return NULL;
	}
	TRY(image_section_bytes(image, section, bytes));
	*ret = cfi_bytes(bytes, 0);
	return NULL;
}

struct sp_error *call_frames_read_debug(struct call_frames *frames, const struct image *image)
{
	struct cfi_section section = {.word = image->is_64bit ? 8 : 4, .is_debug = true};
	struct cfi_bytes none = {0};
	if (is_big_endian(image))
		return NULL;
	TRY(read_debug_section(image, &frames->debug_bytes, &section.bytes));
	if (section.bytes.size > 0 && section.bytes.size <= FRAMES_SIZE_MAX)
		TRY(cfi_table_init(&frames->debug, &section, &none, &image->code));
	return NULL;
}

size_t call_frames_size(const struct call_frames *frames)
{
	return frames->header_bytes.size + frames->eh_bytes.size + frames->debug_bytes.size;
}
