/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits the memory and time that an ELF file may cost, in proportion to its bytes on the disk.
 * Holes, sections that share their bytes, and compressed zeros take no space there.
 */
#ifndef ELF_EXTENT_H
#define ELF_EXTENT_H

#include "elf/image.h"

/*
 * Checks place and size of the header tables before libelf reads them: it allocates the size that
 * they claim. SP_ERROR_FORMAT if they reach past the end of the file, or are larger than any real
 * ones. A file that is not ELF passes.
 */
struct sp_error *extent_check_tables(const struct image *image) SP_MUST_CHECK;

/* Checks that the sections together are not larger than extent_read_max(). */
struct sp_error *extent_check_sections(const struct image *image) SP_MUST_CHECK;

/* Most bytes that may be read of the file: more than are on the disk, since linkers leave holes. */
uint64_t extent_read_max(const struct image *image);

/*
 * Size to which `packed` bytes may unpack. The worst of 2,160 sections of Debian's debug packages
 * grows 84 times (.debug_abbrev, 2 KB), and the worst large one 34 times.
 */
uint64_t extent_unpacked_max(uint64_t packed);

#endif
