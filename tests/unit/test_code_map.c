/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vaddrs of a file's code: by its sections, else by its segments, else everywhere. */
#include "test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "elf/cfi.h"
#include "elf/image.h"
#include "files.h"

static struct image *made(const char *flags)
{
	struct image *image;
	files_run("echo 'int main(void) { return 0; }' >code.c && $CC -fPIE %s code.c -o code",
		  flags);
	ok_or_fail(image_open(files_path("code"), &image));
	return image;
}

static bool has(const struct image *image, uint64_t vaddr)
{
	return code_map_has(&image->code, vaddr);
}

TEST(code_is_in_executable_sections)
{
	struct image *image = made("-pie -Wl,-z,noseparate-code");
	GElf_Shdr text, data;
	ck_assert_ptr_nonnull(image_section(image, ".text", &text));
	ck_assert_ptr_nonnull(image_section(image, ".dynsym", &data));
	ck_assert(image->code.by_sections);
	ck_assert(has(image, text.sh_addr) && has(image, text.sh_addr + text.sh_size - 1));
	ck_assert(code_map_holds(&image->code, text.sh_addr, text.sh_size));
	ck_assert(!code_map_holds(&image->code, text.sh_addr, text.sh_size + 0x10000));
	/* In the executable segment, but no code. */
	ck_assert(!has(image, 0) && !has(image, 64) && !has(image, data.sh_addr));
	image_free(image);
}

TEST(code_is_in_executable_segments_without_section_headers)
{
	struct image *image = made("-pie -Wl,-z,noseparate-code"), *bare;
	size_t size = image->size, done;
	uint8_t *bytes = malloc(size);
	FILE *file = fopen(files_path("code"), "rb");
	ck_assert(bytes && file);
	done = fread(bytes, 1, size, file);
	fclose(file);
	ck_assert_uint_eq(done, size);
	if (image->is_64bit)
		((Elf64_Ehdr *)(void *)bytes)->e_shoff = ((Elf64_Ehdr *)(void *)bytes)->e_shnum = 0;
	else
		((Elf32_Ehdr *)(void *)bytes)->e_shoff = ((Elf32_Ehdr *)(void *)bytes)->e_shnum = 0;
	ok_or_fail(image_open_memory(bytes, size, "bare", &bare));
	ck_assert(!bare->code.by_sections);
	ck_assert(!has(bare, 0) && !has(bare, 1));
	ck_assert(!has(bare, UINT64_MAX) && !has(bare, UINT64_MAX - 1));
	ck_assert(has(bare, image->code.largest.start) && has(bare, image->code.largest.end - 1));
	ck_assert(!has(bare, (uint64_t)1 << 40));
	image_free(bare);
	image_free(image);
}

TEST(code_is_anywhere_in_relocatable_files)
{
	struct image *image = made("-c");
	uint64_t last = image->is_64bit ? UINT64_MAX : UINT32_MAX;
	ck_assert(!has(image, 0) && !has(image, 1) && !has(image, last) && !has(image, last - 1));
	ck_assert(has(image, 2) && has(image, last - 2));
	image_free(image);
}

TEST(fdes_of_removed_code_are_ignored)
{
	/* A CIE, and FDEs of 32 bytes from 0, 0x20, 1, -2 and 0x30 of .debug_frame. */
	static const uint8_t cie[] = {0x0c, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
				      3, 0, 1, 0x78, 16, 0, 0, 0};
	static const uint64_t starts[] = {0, 0x20, 1, UINT64_MAX - 1, 0x30};
	static const struct code_map code = {.largest = {0x2c, 0x100}};
	uint8_t bytes[sizeof(cie) + 5 * 24] = {0};
	memcpy(bytes, cie, sizeof(cie));
	for (size_t i = 0; i < 5; i++) {
		uint8_t *fde = bytes + sizeof(cie) + i * 24;
		fde[0] = 20;
		memcpy(fde + 8, &starts[i], sizeof(starts[i]));
		fde[16] = 32;
	}
	struct cfi_section section = {
		.bytes = {bytes, sizeof(bytes), 0},
		.word = 8,
		.is_debug = true,
	};
	struct cfi_bytes none = {0};
	struct cfi_table table;
	struct cfi_entry entry;
	ok_or_fail(cfi_table_init(&table, &section, &none, &code));
	ck_assert_uint_eq(table.index.count, 1);
	ck_assert(cfi_find(&table, 0x38, &entry));
	ck_assert_uint_eq(entry.start, 0x30);
	ck_assert(!cfi_find(&table, 0x2f, &entry));
	cfi_table_deinit(&table);
}
