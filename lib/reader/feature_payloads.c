/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/feature_payloads.h"

#include "file/reader_io.h"
#include "file/reader_struct.h"

void features_put(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
		  uint64_t offset)
{
	if (bit < FILE_FEATURE_BITS && !reader->features[bit].present)
		reader->features[bit] = (struct feature_payload){true, payload, offset};
}

struct sp_error *features_add(struct sp_reader *reader, uint64_t bit, struct sp_bytes payload,
			      uint64_t offset)
{
	if (bit >= FILE_FEATURE_BITS || reader->features[bit].present)
		return NULL;
	uint8_t *copy = arena_alloc(&reader->arena, payload.size);
	NEED(copy);
	memcpy(copy, payload.bytes, payload.size);
	features_put(reader, bit, (struct sp_bytes){copy, payload.size}, offset);
	return NULL;
}

/* Old versions of perf left empty payloads for features that they could not determine. */
bool feature_is_present(const struct sp_reader *reader, enum file_feature bit)
{
	return reader->features[bit].present && reader->features[bit].bytes.size;
}

struct cursor feature_cursor(const struct sp_reader *reader, enum file_feature bit)
{
	const struct feature_payload *feature = &reader->features[bit];
	return reader_cursor(reader, feature->bytes.bytes, feature->bytes.size, feature->offset);
}

bool feature_text(struct sp_reader *reader, struct cursor *cursor, const char **ret)
{
	uint32_t size;
	const uint8_t *bytes;
	struct cursor at = *cursor;
	if (!cursor_u32(&at, &size) || !cursor_bytes(&at, size, &bytes))
		return false;
	*ret = reader_copy_text(reader, bytes, strnlen((const char *)bytes, size)) ?: "";
	*cursor = at;
	return true;
}

struct sp_bytes reader_feature(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FILE_FEATURE_BITS ? reader->features[bit].bytes : (struct sp_bytes){0};
}

bool sp_reader_has_feature(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FILE_FEATURE_BITS && reader->features[bit].present;
}

uint64_t reader_feature_offset(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FILE_FEATURE_BITS ? reader->features[bit].offset : 0;
}
