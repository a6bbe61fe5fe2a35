/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call frame information of one ELF file: .eh_frame with its sorted table, and .debug_frame.
 * Zeroed it is empty. Constant between the calls that read: for any thread.
 */
#ifndef ELF_CALL_FRAMES_H
#define ELF_CALL_FRAMES_H

#include "elf/cfi.h"
#include "elf/image.h"

struct call_frames {
	struct image_bytes header_bytes, eh_bytes, debug_bytes;
	struct cfi_table eh, debug;
};

void call_frames_deinit(struct call_frames *frames);

/*
 * Reads .eh_frame of an image whose file is open. Big-endian files have none. Fails where a
 * section is damaged, or when out of memory. Sections that could be read are used: with a
 * damaged .eh_frame_hdr, .eh_frame is indexed instead.
 */
struct sp_error *call_frames_read_eh(struct call_frames *frames,
				     const struct image *image) SP_MUST_CHECK;

/* Whether the image has a .debug_frame with content; a debugfile_wanted_fn. */
bool call_frames_has_debug(const struct image *image);

/* The same of .debug_frame. The image must live as long as the frames; its file need not. */
struct sp_error *call_frames_read_debug(struct call_frames *frames,
					const struct image *image) SP_MUST_CHECK;

/* Bytes of memory that the sections take. */
size_t call_frames_size(const struct call_frames *frames);

#endif
