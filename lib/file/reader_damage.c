/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/reader_damage.h"

#include <stdarg.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "file/reader_struct.h"

/* Text of sp_reader_unfinished(). */
#define UNFINISHED "the recording was not ended: its recorder was killed, or is still at work"

/* Lists `error` as damage, at its own offset or else at `offset`. Other members are those of `like`. */
static void list(struct sp_reader *reader, uint64_t offset, const struct sp_error *error,
		 struct damage like)
{
	CLEANUP_FREE char *longer = NULL;
	const char *what = error_what(error, &offset);
	if (like.of_data && reader->data_path != reader->path)
		longer = format_text("%s (in the %s data)", what,
				     reader->info.compressed ? "inflated" : "joined");
	like.shown = (struct sp_damage){offset, longer ?: what};
	if (like.of_data && like.place != DAMAGE_NOWHERE)
		like.place = offset;
	damage_list_add(&reader->damage, &like);
}

void reader_list_damage(struct sp_reader *reader, uint64_t offset, const struct sp_error *error)
{
	list(reader, offset, error, (struct damage){.of_data = true});
}

void reader_add_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error)
{
	reader_list_damage(reader, offset, error);
	sp_error_free(error);
}

void reader_add_file_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error)
{
	list(reader, offset, error, (struct damage){.place = DAMAGE_OF_FILE});
	sp_error_free(error);
}

void reader_add_damage_text(struct sp_reader *reader, uint64_t offset, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	struct sp_error *error = what ? error_format(reader->path, offset, "%s", what)
				      : error_no_memory();
	reader_add_file_damage(reader, offset, error);
}

void reader_add_gap(struct sp_reader *reader, uint64_t offset, uint64_t place,
		    struct sp_error *error)
{
	list(reader, offset, error, (struct damage){.place = place, .between = true});
	sp_error_free(error);
}

void reader_add_no_data_size(struct sp_reader *reader, uint64_t offset, bool unfinished)
{
	struct sp_error *error =
		error_format(reader->path, offset, "%s; reading continues to the last complete record",
			     unfinished ? UNFINISHED : "the size of the data is missing");
	reader->lists_unfinished = unfinished;
	list(reader, offset, error,
	     (struct damage){.place = unfinished ? DAMAGE_AT_END : DAMAGE_OF_FILE});
	sp_error_free(error);
}

void reader_add_resized(struct sp_reader *reader, const struct raw_record *raw, size_t length,
			const char *path, bool of_data)
{
	if (damage_list_count_unlisted(&reader->damage, raw->offset))
		return;
	struct sp_error *error =
		error_format(path, raw->offset, "a record (%s) has size %zu, but its contents need "
			     "%zu: reading continues after the contents",
			     sp_record_type_name(raw->type), raw->size, length);
	list(reader, raw->offset, error,
	     (struct damage){.place = DAMAGE_NOWHERE, .of_data = of_data});
	sp_error_free(error);
}

void reader_add_resized_sample(struct sp_reader *reader, uint64_t offset, size_t size,
			       size_t fields)
{
	const struct raw_record raw = {.type = PERF_RECORD_SAMPLE, .size = size, .offset = offset};
	reader_add_resized(reader, &raw, fields, reader->data_path, true);
	atomic_store(&reader->exact, true);
}

bool reader_is_exact(const struct sp_reader *reader)
{
	return atomic_load(&reader->exact);
}

void reader_clear_data_damage(struct sp_reader *reader)
{
	damage_list_remove_data(&reader->damage);
}

size_t sp_reader_damage_count(const struct sp_reader *reader)
{
	return damage_list_count(&reader->damage);
}

const struct sp_damage *sp_reader_damage(const struct sp_reader *reader, size_t index)
{
	return damage_list_item(&reader->damage, index);
}

const char *sp_reader_unfinished(const struct sp_reader *reader)
{
	return reader->info.unfinished && !reader->lists_unfinished ? UNFINISHED : NULL;
}

const struct sp_damage *reader_unfinished_damage(const struct sp_reader *reader)
{
	const struct damage *places = reader->damage.places.items;
	for (size_t i = 0; reader->lists_unfinished && i < reader->damage.places.count; i++)
		if (places[i].place == DAMAGE_AT_END)
			return &places[i].shown;
	return NULL;
}
