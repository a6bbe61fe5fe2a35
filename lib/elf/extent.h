/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits the memory and time that an ELF file may cost, in proportion to its bytes on the disk.
 * A hostile file can claim more than that by holes, overlapping sections and compressed zeros.
 */
#pragma once

#include "elf/image.h"

/*
 * Checks place and size of the header tables before libelf reads them: it allocates the size that
 * they claim. SP_ERROR_FORMAT if they reach past the end of the file, or are larger than any real
 * ones. A file that is not ELF passes.
 */
struct sp_error *extent_check_tables(const struct image *image) SP_MUST_CHECK;

/* Checks that the sections together are not larger than extent_read_max(). */
struct sp_error *extent_check_sections(const struct image *image) SP_MUST_CHECK;

/* Limit of bytes read from the file. It exceeds the bytes on the disk, because linkers leave holes. */
uint64_t extent_read_max(const struct image *image);

/*
 * Largest size to which `packed` compressed bytes may unpack. Of 2,160 sections of Debian's debug
 * packages, the worst grows 84 times (.debug_abbrev, 2 KB), and the worst large one 34 times.
 */
uint64_t extent_unpacked_max(uint64_t packed);
