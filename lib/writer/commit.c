/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/commit.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "writer/spans.h"

static int put_at(const struct commit *commit, uint64_t offset, const void *bytes, size_t size)
{
	uint64_t done;
	struct iovec span = {(void *)(uintptr_t)bytes, size};
	return spans_write(commit->fd, offset, &(struct spans_part){&span, 1, 0, size}, &done);
}

int commit_sync(const struct commit *commit)
{
	return durable_sync_file(commit->durability, commit->fd);
}

/* Writes the header last, because the file is no perf.data file until then. */
int commit_begin(struct commit *commit)
{
	const struct record_buffer *bytes = &commit->start.bytes, *table = &commit->start.table;
	size_t header = sizeof(struct file_header);
	int errnum = put_at(commit, header, bytes->items + header, bytes->count - header);
	if (!errnum)
		errnum = put_at(commit, bytes->count, table->items, table->count);
	if (!errnum)
		errnum = put_at(commit, 0, bytes->items, header);
	if (errnum)
		return errnum;
	commit->committed = bytes->count;
	commit->bits_set = true;
	return 0;
}

uint64_t commit_hold_back(struct commit *commit, uint64_t end, const struct iovec *spans, uint64_t size)
{
	uint64_t at = end - commit->committed;
	if (!commit->bits_set || at >= commit->start.table.count)
		return 0;
	uint64_t held = commit->start.table.count - at;
	if (held > size)
		held = size;
	spans_copy(spans, commit->held + at, held);
	commit->held_size = at + held;
	return held;
}

void commit_drop(struct commit *commit, uint64_t end)
{
	if (commit->held_size > end - commit->committed)
		commit->held_size = end - commit->committed;
}

/* Clears the header's feature bits before the feature table is overwritten. */
static int clear_bits(struct commit *commit)
{
	const uint64_t none[4] = {0};
	if (!commit->bits_set)
		return 0;
	int errnum = put_at(commit, offsetof(struct file_header, features), none, sizeof(none));
	commit->bits_set = errnum != 0;
	return errnum;
}

/* Writes the data's size and the feature bits together, so that a reader sees both from one commit. */
static int patch_header(struct commit *commit, uint64_t end, const struct feature_bits *bits)
{
	struct file_header header = {.data.size = end - commit->start.data_offset};
	if (bits)
		memcpy(header.features, bits->words, sizeof(header.features));
	size_t from = offsetof(struct file_header, data.size);
	int errnum = put_at(commit, from, (const char *)&header + from, sizeof(header) - from);
	if (!errnum) {
		commit->committed = end;
		commit->bits_set = bits != NULL;
	}
	return errnum;
}

static int put_held(struct commit *commit)
{
	int errnum = put_at(commit, commit->committed, commit->held, commit->held_size);
	if (!errnum)
		commit->held_size = 0;
	return errnum;
}

/* Syncs each step to the disk before the next one. */
static int round_durably(struct commit *commit, uint64_t end)
{
	int errnum = 0;
	if (commit->bits_set) {
		errnum = clear_bits(commit);
		if (!errnum)
			errnum = commit_sync(commit);
	}
	if (!errnum)
		errnum = put_held(commit);
	if (!errnum)
		errnum = commit_sync(commit);
	if (!errnum)
		errnum = patch_header(commit, end, NULL);
	return errnum ? errnum : commit_sync(commit);
}

int commit_data(struct commit *commit, uint64_t end)
{
	const struct record_buffer *table = &commit->start.table;
	if (commit->durability)
		return commit->committed == end && !commit->bits_set ? 0 : round_durably(commit, end);
	if (commit->committed == end && commit->bits_set)
		return 0;
	bool apart = end - commit->committed >= table->count;
	/* An error is ignored, because the records at the start of the data have the same features. */
	bool has_table = apart && !put_at(commit, end, table->items, table->count);
	int errnum = clear_bits(commit);
	if (!errnum)
		errnum = put_held(commit);
	if (errnum)
		return errnum;
	if (!apart)
		has_table = !put_at(commit, end, table->items, table->count);
	return patch_header(commit, end, has_table ? &commit->start.bits : NULL);
}

/* Makes the entries of a feature table at `end`, which all payloads follow. */
static struct sp_error *make_last_table(const struct feature_set *features, uint64_t end,
					struct record_buffer *sections,
					struct feature_bits *bits_ret)
{
	/* The payloads follow the entries, so their offset depends on the number of entries. */
	TRY(feature_set_sections(features, 0, sections, bits_ret));
	uint64_t payloads = end + sections->count;
	sections->count = 0;
	return feature_set_sections(features, payloads, sections, bits_ret);
}

static int put_last_table(struct commit *commit, uint64_t end, const struct feature_set *features,
			  uint64_t *file_end_ret)
{
	const struct record_buffer *payloads = &features->bytes;
	struct record_buffer sections = {0};
	struct feature_bits bits;
	struct sp_error *error = make_last_table(features, end, &sections, &bits);
	int errnum = error ? ENOMEM : 0;
	if (!errnum)
		errnum = put_at(commit, end + sections.count, payloads->items, payloads->count);
	if (!errnum)
		errnum = clear_bits(commit);
	if (!errnum)
		errnum = put_at(commit, end, sections.items, sections.count);
	if (!errnum)
		errnum = commit_sync(commit);
	if (!errnum)
		errnum = patch_header(commit, end, &bits);
	*file_end_ret = end + sections.count + payloads->count;
	vec_deinit(&sections);
	sp_error_free(error);
	return errnum;
}

int commit_finish(struct commit *commit, uint64_t end, const struct feature_set *features,
		  uint64_t *file_end_ret)
{
	int errnum = commit_data(commit, end);
	if (!errnum)
		errnum = put_last_table(commit, end, features, file_end_ret);
	if (!errnum)
		return 0;
	(void)commit_data(commit, end);
	*file_end_ret = commit_end(commit);
	return errnum;
}

uint64_t commit_end(const struct commit *commit)
{
	return commit->committed + (commit->bits_set ? commit->start.table.count : 0);
}
