/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the reader. lib/reader sets it while opening; afterwards only the damage changes. */
#pragma once

#include <stdatomic.h>
#include "base/arena.h"
#include "base/vec.h"
#include "file/damage.h"
#include "file/file_format.h"
#include "file/file_mapping.h"
#include "record/decode.h"
#include "record/record_length.h"

struct feature_payload {
	bool present;
	struct sp_bytes bytes; /* contents, in the reader's arena */
	uint64_t offset;       /* offset in the file, for messages */
};

struct sp_reader {
	struct sp_ctx *ctx;
	const char *path;      /* path of the file, for messages */
	const char *data_path; /* path of data_fd, for messages */
	int fd;                /* the file, or the temporary file to which a stream was copied */
	int data_fd;           /* file with the flat records: fd, or a temporary file */
	int directory_fd;      /* the recording's directory; -1: it is a file */
	uint64_t file_size;    /* size of the file `fd`, without chunks (stored/chunks.h) at its end */
	uint64_t whole_size;   /* size with them */
	bool swap;
	bool pipe_format;
	struct reader_extent extent;
	struct reader_extent packed; /* place of the records in `fd`, if data_fd is a flat copy */
	uint64_t cut_at;   /* offset of the damage "the file ends before the data does"; 0: none */
	atomic_bool exact; /* result of reader_is_exact(): walkers compare sizes of samples with their
			    * fields */
	bool lists_unfinished;  /* `damage` has an item that states that the recording is unfinished */
	bool features_in_front; /* the feature table has payloads before the data */
	bool features_behind;   /* the feature table has payloads after the data */
	uint64_t features_end;  /* end of the last payload in the feature table */
	bool has_feature_records;
	uint8_t header[sizeof(struct file_header)]; /* the file's first bytes when it was opened */
	struct arena arena; /* owns all members below that are not vectors */
	VEC(struct sp_event) events;
	struct feature_payload features[FILE_FEATURE_BITS];
	uint64_t loaded;  /* bytes read so far, at most the file's size */
	bool no_memory;   /* memory was exhausted: something is missing above */
	struct sp_file_info info;
	struct record_layout layout;
	const uint16_t *sum_of; /* index: event in `events`; value: its sum in layout.events; NULL:
				 * layout.events is `events` */
	struct file_mapping mapping; /* mapped windows of data_fd, for walkers */
	struct lengths lengths; /* lengths of records, for any event until the events are known */

	struct damage_list damage;

	/* walker of sp_reader_next() */
	struct walker *walker;
	struct decoder *decoder;
	struct sp_record record;
};
