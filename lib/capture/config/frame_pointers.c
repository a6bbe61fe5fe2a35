/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/survey.h"

#include "unwind/cfi_row.h"

/* Number of functions to look at: enough, in under a millisecond. */
#define FUNCTIONS_MAX 4000

static bool mostly_framed(const struct unwind_arch *arch, const struct cfi_section *section)
{
	size_t functions = 0, framed = 0;
	struct cfi_entry entry;
	for (uint64_t at = 0; functions < FUNCTIONS_MAX && cfi_next(section, &at, &entry);) {
		functions++;
		framed += cfi_sets_frame_pointer(arch, &entry);
	}
	return functions && framed * 2 >= functions;
}

bool image_keeps_frame_pointers(struct image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image, ".eh_frame", &header);
	const struct unwind_arch *arch = arch_of_machine(image->machine);
	/* Stacks of 32-bit programs are not taken by frame pointers without being asked to. */
	if (!section || !arch || arch->word != 8 || image->swap)
		return false;
	struct image_bytes bytes;
	struct sp_error *error = image_section_bytes(image, section, &bytes);
	if (error) {
		sp_error_free(error);
		return false;
	}
	const struct cfi_section frames = {
		.bytes = {.bytes = bytes.bytes, .size = bytes.size, .vaddr = header.sh_addr},
		.word = image->is_64bit ? 8 : 4,
	};
	bool keeps = mostly_framed(arch, &frames);
	image_bytes_release(&bytes);
	return keeps;
}
