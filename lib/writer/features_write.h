/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the payloads of the features of a recording. */
#pragma once

#include "file/file_format.h"
#include "record/put.h"
#include "writer/writer_info.h"

/* Payloads in the order in which they were added. A zeroed set is empty. */
struct feature_set {
	struct record_buffer bytes;
	struct {
		size_t begin, end;
		bool present;
	} at[FILE_FEATURE_BITS];
};

/* Writes a text as features have it: u32 size, then the bytes, padded with NULs to a multiple of 64. */
void feature_put_string(struct put *put, const char *text);

void feature_set_deinit(struct feature_set *set);

/*
 * Adds the features that are known at the start. `attr_size` is the size of the events' attrs in the
 * file.
 */
struct sp_error *feature_set_start(struct feature_set *set, const struct writer_info *info,
				   const struct sp_event *events, size_t event_count,
				   uint32_t attr_size) SP_MUST_CHECK;

/* Adds the features that are known at the end: BUILD_ID, SAMPLE_TIME and other payloads. */
struct sp_error *feature_set_end(struct feature_set *set, const struct writer_end *end)
	SP_MUST_CHECK;

/* Adds feature AUXTRACE: `count` pairs of u64, the offset in the file and the size of a record. */
struct sp_error *feature_set_auxtrace(struct feature_set *set, const void *places,
				      size_t count) SP_MUST_CHECK;

/* Sets the compression ratio in feature COMPRESSED, which the set must have. */
void feature_set_ratio(struct feature_set *set, uint32_t ratio);

/* Destination of feature records, which decides what perf can read from them. */
enum feature_place { FEATURES_OF_FILE, FEATURES_OF_STREAM };

/*
 * Appends a HEADER_FEATURE record for each feature that the destination can have and that fits a
 * record.
 */
struct sp_error *feature_set_records(const struct feature_set *set, enum feature_place place,
				     struct record_buffer *buffer) SP_MUST_CHECK;

/* Appends a HEADER_TRACING_DATA record and its payload, if the set has that feature. */
struct sp_error *feature_set_tracing(const struct feature_set *set,
				     struct record_buffer *buffer) SP_MUST_CHECK;

/*
 * Appends the entries of a feature table, in ascending order of bits. set->bytes is or will be at
 * `payloads_offset` of the file. *bits_ret are the bits for the header.
 */
struct sp_error *feature_set_sections(const struct feature_set *set, uint64_t payloads_offset,
				      struct record_buffer *buffer,
				      struct feature_bits *bits_ret) SP_MUST_CHECK;

/* Returns the size of a build-id's entry in feature BUILD_ID. */
uint64_t feature_build_id_bytes(const char *filename);

/* Appends a HEADER_BUILD_ID record, with the same content as an entry of feature BUILD_ID. */
struct sp_error *feature_build_id_record(const struct sp_build_id *build_id,
					 struct record_buffer *buffer) SP_MUST_CHECK;
