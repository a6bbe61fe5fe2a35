/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files: headers, segments, build-id, symbol tables, the image in .gnu_debugdata. */
#include <stdlib.h>
#include <string.h>
#include "elf/debugfile.h"
#include "elf/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_tables(const struct image *image)
{
	static const enum symtab_kind kinds[] = {SYMTAB_FULL, SYMTAB_DYNAMIC};
	for (size_t i = 0; i < 2; i++) {
		struct elf_symbols symbols = {0};
		size_t length = 0;
		sp_error_free(symtab_read(image, image, kinds[i], &symbols));
		for (size_t j = 0; j < symbols.count; j++)
			length += strlen(symbols.items[j].name);
		__asm__ volatile("" : : "r"(length));
		vec_deinit(&symbols);
	}
	uint64_t vaddr;
	for (size_t i = 0; i < image->loads.count; i++)
		image_vaddr(image, image->loads.items[i].file_offset, &vaddr);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);
	memcpy(copy, bytes, size);
	struct image *image = NULL, *embedded = NULL;
	struct sp_error *error = image_open_memory(copy, size, "fuzz", &image);
	if (!error) {
		read_tables(image);
		error = debugfile_embedded(image, &embedded);
	}
	if (embedded)
		read_tables(embedded);
	sp_error_free(error);
	image_free(embedded);
	image_free(image);
	return 0;
}
