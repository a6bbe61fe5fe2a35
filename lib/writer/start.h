/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First bytes of a recording: header, events and features. */
#ifndef WRITER_START_H
#define WRITER_START_H

#include "writer/features_write.h"

/* Bytes at the start of a file; commit.h describes the layout. */
struct file_start {
	struct record_buffer bytes; /* bytes from the header up to the first record of the data */
	uint64_t data_offset;
	struct record_buffer table; /* entries of a feature table for the payloads in `bytes` */
	struct feature_bits bits;   /* feature bits of that table */
};

/* Makes a file's start with the features of feature_set_start(). *start must be zeroed. */
struct sp_error *file_start_make(struct file_start *start, const struct sp_event *events,
				 size_t count, uint32_t attr_size,
				 const struct feature_set *features) SP_MUST_CHECK;
void file_start_deinit(struct file_start *start);

/* Makes the start of a stream in perf's pipe format. */
struct sp_error *stream_start_make(struct record_buffer *bytes, const struct sp_event *events,
				   size_t count, uint32_t attr_size,
				   const struct feature_set *features) SP_MUST_CHECK;

#endif
