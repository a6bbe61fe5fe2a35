/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call frame information of one ELF file: .eh_frame with its sorted table, and .debug_frame.
 * A zeroed struct is empty. Any thread may read it while no call_frames_read_…() runs.
 */
#pragma once

#include "elf/cfi.h"
#include "elf/image.h"

struct call_frames {
	struct image_bytes header_bytes, eh_bytes, debug_bytes;
	struct cfi_table eh, debug;
};

void call_frames_deinit(struct call_frames *frames);

/*
 * Reads .eh_frame of an image with an open file. Does nothing for big-endian files. Fails if a
 * section is damaged, or when out of memory. Readable sections are used also then: if .eh_frame_hdr
 * cannot be read, an index of .eh_frame is made.
 */
struct sp_error *call_frames_read_eh(struct call_frames *frames,
				     const struct image *image) SP_MUST_CHECK;

/* Returns whether the image has a .debug_frame that is not empty. It is a debugfile_wanted_fn. */
bool call_frames_has_debug(const struct image *image);

/* Reads .debug_frame likewise. The image must outlive the frames; its file may be closed before. */
struct sp_error *call_frames_read_debug(struct call_frames *frames,
					const struct image *image) SP_MUST_CHECK;

/* Sum of the sections' sizes in memory, in bytes. */
size_t call_frames_size(const struct call_frames *frames);
