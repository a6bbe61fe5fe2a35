/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The payloads of the features a recording is written with. */
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

/* A text as features have it: u32 size, and so many bytes, padded to 64. */
void feature_put_string(struct put *put, const char *text);

void feature_set_deinit(struct feature_set *set);

/* All that is known at the start; attrs are written with `attr_size`. */
struct sp_error *feature_set_start(struct feature_set *set, const struct writer_info *info,
				   const struct sp_event *events, size_t event_count,
				   uint32_t attr_size) SP_MUST_CHECK;

/* Adds what is known at the end: BUILD_ID, SAMPLE_TIME and further payloads. */
struct sp_error *feature_set_end(struct feature_set *set, const struct writer_end *end)
	SP_MUST_CHECK;

/* AUXTRACE: `count` pairs of u64, where a record is in the file, and its size. */
struct sp_error *feature_set_auxtrace(struct feature_set *set, const void *places,
				      size_t count) SP_MUST_CHECK;

/* Of a set with COMPRESSED: how well it went, which only the end knows. */
void feature_set_ratio(struct feature_set *set, uint32_t ratio);

/* Which features go into records: those that perf can take from there, of the file or stream. */
enum feature_place { FEATURES_OF_FILE, FEATURES_OF_STREAM };

/*
 * Appends a HEADER_FEATURE record for each feature that has its place there, but for those that
 * are larger than a record.
 */
struct sp_error *feature_set_records(const struct feature_set *set, enum feature_place place,
				     struct record_buffer *buffer) SP_MUST_CHECK;

/* Appends a HEADER_TRACING_DATA record, and the payload behind it, if there is that feature. */
struct sp_error *feature_set_tracing(const struct feature_set *set,
				     struct record_buffer *buffer) SP_MUST_CHECK;

/*
 * Appends the sections of a table, ascending; set->bytes lies (or will) at `payloads_offset`
 * of the file. *bits_ret is for the header.
 */
struct sp_error *feature_set_sections(const struct feature_set *set, uint64_t payloads_offset,
				      struct record_buffer *buffer,
				      struct feature_bits *bits_ret) SP_MUST_CHECK;

/* How much a build-id takes in the table. */
uint64_t feature_build_id_bytes(const char *filename);

/* Appends the HEADER_BUILD_ID record that says the same as an entry of BUILD_ID. */
struct sp_error *feature_build_id_record(const struct sp_build_id *build_id,
					 struct record_buffer *buffer) SP_MUST_CHECK;

#endif
