/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds damage that sp_reader_damage() returns. Threads may add at the same time. Functions take
 * ownership of a struct sp_error, except reader_list_damage().
 */
#pragma once

#include <sprof/reader.h>
#include "record/raw.h"

/* Adds damage at an offset of the flat data, found while reading records. */
void reader_add_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error);
void reader_list_damage(struct sp_reader *reader, uint64_t offset, const struct sp_error *error);

/* Adds damage at an offset of the file itself. */
void reader_add_file_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error);
void reader_add_damage_text(struct sp_reader *reader, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds damage of records that are not copied into the flat data, which ends at `place` so far. */
void reader_add_gap(struct sp_reader *reader, uint64_t offset, uint64_t place,
		    struct sp_error *error);

/*
 * Adds that the header, at `offset`, has no size of the data. `unfinished` is whether the recorder was
 * killed or still records.
 */
void reader_add_no_data_size(struct sp_reader *reader, uint64_t offset, bool unfinished);

/*
 * Adds a record with a header.size larger than its contents, and other records after the contents.
 * `path` is the file, or its flat data. No record is missing.
 */
void reader_add_resized(struct sp_reader *reader, const struct raw_record *raw, size_t length,
			const char *path, bool of_data);

/*
 * Adds a sample of the flat data with too large a size, like reader_add_resized(). From then on,
 * walkers decode all samples.
 */
void reader_add_resized_sample(struct sp_reader *reader, uint64_t offset, size_t size,
			       size_t fields);

/*
 * Returns whether a sample was found with a size that includes other records. Code that skipped
 * samples by their sizes must read the data again, after reader_clear_data_damage().
 */
bool reader_is_exact(const struct sp_reader *reader);
void reader_clear_data_damage(struct sp_reader *reader);

/*
 * Returns the item of sp_reader_damage() that states that the recording is unfinished; NULL if there is
 * none.
 */
const struct sp_damage *reader_unfinished_damage(const struct sp_reader *reader);
