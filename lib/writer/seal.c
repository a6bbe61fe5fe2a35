/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/seal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "writer/spans.h"

static int put_at(const struct seal *seal, uint64_t offset, const void *bytes, size_t size)
{
	uint64_t done;
	struct iovec span = {(void *)(uintptr_t)bytes, size};
	return spans_write(seal->fd, (int64_t)offset, &span, 1, 0, size, &done);
}

int seal_sync(const struct seal *seal)
{
	return durable_file(seal->durability, seal->fd);
}

/* The header goes last: until then this is no perf.data file at all. */
int seal_begin(struct seal *seal)
{
	const struct record_buffer *bytes = &seal->start.bytes, *table = &seal->start.table;
	size_t header = sizeof(struct file_header);
	int errnum = put_at(seal, header, bytes->items + header, bytes->count - header);
	if (!errnum)
		errnum = put_at(seal, bytes->count, table->items, table->count);
	if (!errnum)
		errnum = put_at(seal, 0, bytes->items, header);
	if (errnum)
		return errnum;
	seal->committed = bytes->count;
	seal->bits_set = true;
	return 0;
}

uint64_t seal_hold(struct seal *seal, uint64_t end, const struct iovec *spans, uint64_t size)
{
	uint64_t at = end - seal->committed;
	if (!seal->bits_set || at >= seal->start.table.count)
		return 0;
	uint64_t held = seal->start.table.count - at;
	if (held > size)
		held = size;
	spans_copy(spans, seal->held + at, held);
	seal->held_size = at + held;
	return held;
}

void seal_drop(struct seal *seal, uint64_t end)
{
	if (seal->held_size > end - seal->committed)
		seal->held_size = end - seal->committed;
}

/* Before the table is overwritten. */
static int clear_bits(struct seal *seal)
{
	const uint64_t none[4] = {0};
	if (!seal->bits_set)
		return 0;
	int errnum = put_at(seal, offsetof(struct file_header, features), none, sizeof(none));
	seal->bits_set = errnum != 0;
	return errnum;
}

/* Size and bits together: whoever sees the bits sees the size they stand behind. */
static int patch_header(struct seal *seal, uint64_t end, const struct feature_bits *bits)
{
	struct file_header header = {.data.size = end - seal->start.data_offset};
	if (bits)
		memcpy(header.features, bits->words, sizeof(header.features));
	size_t from = offsetof(struct file_header, data.size);
	int errnum = put_at(seal, from, (const char *)&header + from, sizeof(header) - from);
	if (!errnum) {
		seal->committed = end;
		seal->bits_set = bits != NULL;
	}
	return errnum;
}

static int put_held(struct seal *seal)
{
	int errnum = put_at(seal, seal->committed, seal->held, seal->held_size);
	if (!errnum)
		seal->held_size = 0;
	return errnum;
}

/* Each step is on the disk before the next one begins. */
static int round_durably(struct seal *seal, uint64_t end)
{
	int errnum = 0;
	if (seal->bits_set) {
		errnum = clear_bits(seal);
		if (!errnum)
			errnum = seal_sync(seal);
	}
	if (!errnum)
		errnum = put_held(seal);
	if (!errnum)
		errnum = seal_sync(seal);
	if (!errnum)
		errnum = patch_header(seal, end, NULL);
	return errnum ? errnum : seal_sync(seal);
}

int seal_round(struct seal *seal, uint64_t end)
{
	const struct record_buffer *table = &seal->start.table;
	if (seal->durability)
		return seal->committed == end && !seal->bits_set ? 0 : round_durably(seal, end);
	if (seal->committed == end && seal->bits_set)
		return 0;
	bool apart = end - seal->committed >= table->count;
	/* The records at the start say the same: without a table nothing is lost. */
	bool has_table = apart && !put_at(seal, end, table->items, table->count);
	int errnum = clear_bits(seal);
	if (!errnum)
		errnum = put_held(seal);
	if (errnum)
		return errnum;
	if (!apart)
		has_table = !put_at(seal, end, table->items, table->count);
	return patch_header(seal, end, has_table ? &seal->start.bits : NULL);
}

/* The sections of a table at `end` with all payloads behind it. */
static struct sp_error *make_last_table(const struct feature_set *features, uint64_t end,
					struct record_buffer *sections,
					struct feature_bits *bits_ret)
{
	/* Their number gives their size, which says where the payloads will be. */
	struct sp_error *error = feature_set_sections(features, 0, sections, bits_ret);
	if (error)
		return error;
	uint64_t payloads = end + sections->count;
	sections->count = 0;
	return feature_set_sections(features, payloads, sections, bits_ret);
}

/* Of a file that is sealed up to there. */
static int put_last_table(struct seal *seal, uint64_t end, const struct feature_set *features,
			  uint64_t *file_end_ret)
{
	const struct record_buffer *payloads = &features->bytes;
	struct record_buffer sections = {0};
	struct feature_bits bits;
	struct sp_error *error = make_last_table(features, end, &sections, &bits);
	int errnum = error ? ENOMEM : 0;
	if (!errnum)
		errnum = put_at(seal, end + sections.count, payloads->items, payloads->count);
	if (!errnum)
		errnum = clear_bits(seal);
	if (!errnum)
		errnum = put_at(seal, end, sections.items, sections.count);
	if (!errnum)
		errnum = seal_sync(seal);
	if (!errnum)
		errnum = patch_header(seal, end, &bits);
	*file_end_ret = end + sections.count + payloads->count;
	vec_deinit(&sections);
	sp_error_free(error);
	return errnum;
}

int seal_last(struct seal *seal, uint64_t end, const struct feature_set *features,
	      uint64_t *file_end_ret)
{
	int errnum = seal_round(seal, end);
	if (!errnum)
		errnum = put_last_table(seal, end, features, file_end_ret);
	if (!errnum)
		return 0;
	(void)seal_round(seal, end);
	*file_end_ret = seal_end(seal);
	return errnum;
}

uint64_t seal_end(const struct seal *seal)
{
	return seal->committed + (seal->bits_set ? seal->start.table.count : 0);
}
