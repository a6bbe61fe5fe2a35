/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First bytes of a recording: header, events and features. */
#ifndef WRITER_START_H
#define WRITER_START_H

#include "writer/features_write.h"

/* Layout: see commit.h. */
struct file_start {
	struct record_buffer bytes; /* from the header to the first records */
	uint64_t data_offset;
	struct record_buffer table; /* sections of the payloads that are in `bytes` */
	struct feature_bits bits;   /* bits for that table */
};

/* `start` zeroed; the features are those of feature_set_start(). */
struct sp_error *file_start_make(struct file_start *start, const struct sp_event *events,
				 size_t count, uint32_t attr_size,
				 const struct feature_set *features) SP_MUST_CHECK;
void file_start_deinit(struct file_start *start);

/* The beginning of a stream in perf's pipe format. */
struct sp_error *stream_start_make(struct record_buffer *bytes, const struct sp_event *events,
				   size_t count, uint32_t attr_size,
				   const struct feature_set *features) SP_MUST_CHECK;

#endif
