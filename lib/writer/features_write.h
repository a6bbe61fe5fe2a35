/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads of the features that a recording is written with. */
#ifndef WRITER_FEATURES_WRITE_H
#define WRITER_FEATURES_WRITE_H

#include "file/format.h"
#include "record/put.h"
#include "writer/writer_info.h"

/* Payloads in the order they were added. Zeroed: empty. */
struct feature_set {
	struct record_buffer bytes;
	struct {
		size_t begin, end;
		bool present;
	} at[FILE_FEATURE_BITS];
};

/* Writes a text as in features: u32 size, then bytes, padded with NULs to a multiple of 64. */
void feature_put_string(struct put *put, const char *text);

void feature_set_deinit(struct feature_set *set);

/* Adds all features of the start. Attrs are written with `attr_size`. */
struct sp_error *feature_set_start(struct feature_set *set, const struct writer_info *info,
				   const struct sp_event *events, size_t event_count,
				   uint32_t attr_size) SP_MUST_CHECK;

/* Adds the features of the end: BUILD_ID, SAMPLE_TIME and further payloads. */
struct sp_error *feature_set_end(struct feature_set *set, const struct writer_end *end)
	SP_MUST_CHECK;

/* Adds AUXTRACE: `count` pairs of u64, a record's offset in the file and its size. */
struct sp_error *feature_set_auxtrace(struct feature_set *set, const void *places,
				      size_t count) SP_MUST_CHECK;

/* Sets the ratio in COMPRESSED, which the set must have. */
void feature_set_ratio(struct feature_set *set, uint32_t ratio);

/* Selects features for records: those that perf can read from records of a file, or a stream. */
enum feature_place { FEATURES_OF_FILE, FEATURES_OF_STREAM };

/*
 * Appends a HEADER_FEATURE record for each selected feature that fits a record.
 */
struct sp_error *feature_set_records(const struct feature_set *set, enum feature_place place,
				     struct record_buffer *buffer) SP_MUST_CHECK;

/* Appends a HEADER_TRACING_DATA record and its payload, if the set has that feature. */
struct sp_error *feature_set_tracing(const struct feature_set *set,
				     struct record_buffer *buffer) SP_MUST_CHECK;

/*
 * Appends the sections of a table, ascending; set->bytes lies (or will) at `payloads_offset`
 * of the file. *bits_ret is for the header.
 */
struct sp_error *feature_set_sections(const struct feature_set *set, uint64_t payloads_offset,
				      struct record_buffer *buffer,
				      struct feature_bits *bits_ret) SP_MUST_CHECK;

/* Bytes that a build-id needs in BUILD_ID. */
uint64_t feature_build_id_bytes(const char *filename);

/* Appends a HEADER_BUILD_ID record with the content of an entry of BUILD_ID. */
struct sp_error *feature_build_id_record(const struct sp_build_id *build_id,
					 struct record_buffer *buffer) SP_MUST_CHECK;

#endif
