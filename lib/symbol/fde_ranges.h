/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions without a symbol, found by call frame information: an FDE's range is one function, or the
 * cold part of one. The sections are read on first use.
 */
#pragma once

#include "binary/binary.h"
#include "elf/call_frames.h"

/* A zeroed struct is empty. */
struct fde_ranges {
	bool eh_read, debug_read;
	struct image *debug_image; /* the file with .debug_frame, which may be mapped from it; or NULL */
	struct call_frames frames;
};

/* Vaddrs [start, start + size). */
struct range {
	uint64_t start, size;
};

void ranges_deinit(struct fde_ranges *ranges);

/*
 * Finds the FDE's range that contains a vaddr of `image`, the module's file. ret->size is 0 if
 * there is none; ret->start is then the start of the nearest one below, or 0. Unreadable sections
 * are logged. Fails only when out of memory.
 */
struct sp_error *ranges_find(struct fde_ranges *ranges, const struct binary_env *env,
			     const struct module *module, const struct image *image,
			     uint64_t vaddr, struct range *ret) SP_MUST_CHECK;

/*
 * Narrows `gap`, which contains the vaddr, to the code between the FDEs before and after it. Call
 * it after ranges_find() found none.
 */
void ranges_narrow(const struct fde_ranges *ranges, const struct image *image, uint64_t vaddr,
		   struct range *gap);
