/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of code that no symbol covers, by call frame information: the range of an FDE is
 * one function, or the cold part of one. Sections are read when they are first needed.
 */
#ifndef SYMBOL_RANGES_H
#define SYMBOL_RANGES_H

#include "binary/binary.h"
#include "elf/call_frames.h"

/* Zeroed it is empty. */
struct ranges {
	bool eh_read, debug_read;
	struct image *debug_image; /* has .debug_frame, whose bytes may be its own; or NULL */
	struct call_frames frames;
};

void ranges_deinit(struct ranges *ranges);

/*
 * The range of code in the module's file, `image`, that covers a vaddr; *size_ret is 0 where
 * there is none. Sections that cannot be read are logged. Fails only when out of memory.
 */
struct sp_error *ranges_find(struct ranges *ranges, const struct binary_env *env,
			     const struct module *module, const struct image *image,
			     uint64_t vaddr, uint64_t *start_ret, uint64_t *size_ret) SP_MUST_CHECK;

#endif
