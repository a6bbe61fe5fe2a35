/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's state: filled by lib/reader while opening, constant afterwards but for damage. */
#ifndef FILE_READER_STRUCT_H
#define FILE_READER_STRUCT_H

#include <stdatomic.h>
#include "base/arena.h"
#include "base/vec.h"
#include "file/damage.h"
#include "file/format.h"
#include "file/mapping.h"
#include "record/decode.h"
#include "record/length.h"

struct feature_payload {
	bool present;
	struct sp_bytes bytes; /* in the reader's arena */
	uint64_t offset;       /* in the file, for messages */
};

struct sp_reader {
	struct sp_ctx *ctx;
	const char *path;      /* for messages */
	const char *data_path; /* the same for data_fd */
	int fd;                /* the file, or the temporary file that a stream was copied to */
	int data_fd;           /* fd, or a temporary file with the flat records */
	int directory_fd;      /* -1: none */
	uint64_t file_size;    /* size of fd's file */
	bool swap;
	bool pipe_format;
	struct reader_extent extent;
	uint64_t cut_at;   /* offset of the damage "the data ends too early"; 0: none */
	atomic_bool exact; /* reader_is_exact(): walkers compare samples' sizes with their fields */
	bool lists_unfinished;  /* `damage` has an item about it */
	bool features_in_front; /* the table has payloads before the data … */
	bool features_behind;   /* … or after it */
	bool has_feature_records;
	struct arena arena; /* has everything below that is not a vec */
	VEC(struct sp_event) events;
	struct feature_payload features[FILE_FEATURE_BITS];
	uint64_t loaded;  /* bytes read so far; never more than the file holds */
	bool no_memory;   /* something of the above is missing */
	struct sp_file_info info;
	struct record_layout layout;
	struct mapping mapping; /* windows of data_fd, for walkers */
	struct lengths lengths; /* for any event, until the events are known */

	struct damage_list damage;

	/* sp_reader_next() */
	struct walker *walker;
	struct decoder *decoder;
	struct sp_record record;
};

#endif
