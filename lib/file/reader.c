/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a recording, whatever its container, ends with the same three things:
 * a flat run of records in one file (data_fd and extent), the events, and the
 * features. Damage on the way is noted and passed over; only a file without
 * events cannot be opened.
 */
#include "file/reader_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "file/walker.h"

DEFINE_CLEANUP(struct sp_reader *, sp_reader_free)

void reader_set_swap(struct sp_reader *reader, bool swap)
{
	reader->swap = swap;
	reader->info.big_endian = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

struct cursor reader_cursor(const struct sp_reader *reader, const void *bytes, size_t size,
			    uint64_t offset)
{
	return cursor_make(bytes, size, reader->swap, reader->path, offset);
}

char *reader_copy_text(struct sp_reader *reader, const void *bytes, size_t size)
{
	char *text = arena_copy_string(&reader->arena, bytes, size);
	if (!text)
		reader->no_memory = true;
	return text;
}

struct sp_error *reader_load(struct sp_reader *reader, uint64_t offset, uint64_t size,
			     const uint8_t **ret)
{
	size_t got = 0;
	assert(offset <= reader->file_size && size <= reader->file_size - offset);
	/* Nothing is in the file twice, unless it was made to exhaust memory. */
	if (size > reader->file_size - reader->loaded)
		return error_format(reader->path, offset,
				    "%llu bytes that overlap with others of the header",
				    (unsigned long long)size);
	reader->loaded += size;
	uint8_t *bytes = arena_alloc(&reader->arena, size);
	if (!bytes)
		return error_no_memory();
	int errnum = io_pread(reader->fd, bytes, size, (off_t)offset, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", reader->path);
	if (got < size)
		return error_format(reader->path, offset + got,
				    "the file ends here; it was longer when it was opened");
	*ret = bytes;
	return NULL;
}

/* Where `offset` is or would be in the list of damage, which is sorted. */
static size_t damage_place(const struct sp_reader *reader, uint64_t offset)
{
	size_t low = 0, high = reader->damage.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (reader->damage.items[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Called with the lock held. Damage met twice (in two passes) is listed once. */
static void damage_insert(struct sp_reader *reader, uint64_t offset, const char *what)
{
	size_t place = damage_place(reader, offset);
	for (size_t i = place; i < reader->damage.count; i++) {
		if (reader->damage.items[i].offset != offset)
			break;
		if (!strcmp(reader->damage.items[i].what, what))
			return;
	}
	if (reader->damage.count >= DAMAGE_LISTED) {
		reader->damage_unlisted++;
		return;
	}
	char *copy = strdup(what);
	if (!copy || !vec_reserve(&reader->damage, reader->damage.count + 1)) {
		free(copy);
		reader->damage_unlisted++;
		return;
	}
	struct sp_damage *items = reader->damage.items;
	memmove(&items[place + 1], &items[place],
		(reader->damage.count++ - place) * sizeof(*items));
	items[place] = (struct sp_damage){offset, copy};
}

void reader_add_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error)
{
	pthread_mutex_lock(&reader->damage_lock);
	damage_insert(reader, offset, sp_error_message(error));
	pthread_mutex_unlock(&reader->damage_lock);
	sp_error_free(error);
}

void reader_note(struct sp_reader *reader, uint64_t offset, const char *format, ...)
{
	CLEANUP_FREE char *what = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&what, format, args) < 0)
		what = NULL;
	va_end(args);
	struct sp_error *error = what ? error_format(reader->path, offset, "%s", what)
				      : error_no_memory();
	reader_add_damage(reader, offset, error);
}

static struct sp_error *open_file(struct sp_reader *reader)
{
	struct stat status;
	reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0 || fstat(reader->fd, &status))
		return error_os(errno, "cannot open %s", reader->path);
	reader->file_size = (uint64_t)status.st_size;
	return NULL;
}

static struct sp_error *open_with_header(struct sp_reader *reader)
{
	struct header_info header;
	struct sp_error *error = header_read(reader, &header);
	if (error)
		return error;
	reader->data_fd = reader->fd;
	reader->extent = (struct reader_extent){header.data.offset,
						header.data.offset + header.data.size};
	error = features_read_table(reader, &header);
	if (error)
		return error;
	struct sp_error *no_events = header_read_events(reader, &header);
	if (no_events && sp_error_code(no_events) != SP_ERROR_FORMAT)
		return no_events;
	error = features_interpret(reader);
	if (error || !reader->events.count) {
		if (!error)
			return no_events;
		sp_error_free(no_events);
		return error;
	}
	if (no_events)
		reader_add_damage(reader, 24, no_events);
	return NULL;
}

static struct sp_error *identify(struct sp_reader *reader)
{
	uint64_t magic = 0;
	size_t got;
	int errnum = io_pread(reader->fd, &magic, sizeof(magic), 0, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", reader->path);
	if (got < sizeof(magic))
		return error_format(reader->path, 0, "not a perf.data file: it has %llu bytes",
				    (unsigned long long)reader->file_size);
	if (magic == FILE_MAGIC || !memcmp(&magic, FILE_MAGIC_V1, sizeof(magic)))
		reader_set_swap(reader, false);
	else if (magic == __builtin_bswap64(FILE_MAGIC))
		reader_set_swap(reader, true);
	else
		return error_format(reader->path, 0,
				    "not a perf.data file: it does not begin with PERFILE2");
	return NULL;
}

static struct sp_error *reader_fill(struct sp_reader *reader)
{
	struct sp_error *error = open_file(reader);
	if (!error)
		error = identify(reader);
	if (!error)
		error = open_with_header(reader);
	if (error)
		return error;
	reader->layout = (struct record_layout){
		.events = reader->events.items,
		.event_count = reader->events.count,
		.swap = reader->swap,
		.path = reader->path,
	};
	return NULL;
}

struct sp_error *sp_reader_open(struct sp_ctx *ctx, const char *path, struct sp_reader **ret)
{
	CLEANUP(cleanup_sp_reader_free) struct sp_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return error_no_memory();
	reader->ctx = ctx;
	reader->fd = reader->data_fd = -1;
	pthread_mutex_init(&reader->damage_lock, NULL);
	reader->path = reader_copy_text(reader, path, strlen(path));
	if (!reader->path)
		return error_no_memory();
	reader->info.path = reader->path;
	struct sp_error *error = reader_fill(reader);
	if (!error)
		*ret = take_ptr(reader);
	return error;
}

void sp_reader_free(struct sp_reader *reader)
{
	if (!reader)
		return;
	walker_free(reader->walker);
	decoder_free(reader->decoder);
	if (reader->data_fd >= 0 && reader->data_fd != reader->fd)
		close(reader->data_fd);
	if (reader->fd >= 0)
		close(reader->fd);
	for (size_t i = 0; i < reader->damage.count; i++)
		free((char *)(uintptr_t)reader->damage.items[i].what);
	vec_deinit(&reader->damage);
	vec_deinit(&reader->events);
	arena_deinit(&reader->arena);
	pthread_mutex_destroy(&reader->damage_lock);
	free(reader);
}

static struct sp_error *start(struct sp_reader *reader)
{
	struct sp_error *error = NULL;
	if (!reader->decoder)
		error = decoder_new(&reader->layout, &reader->decoder);
	if (!error && !reader->walker)
		error = walker_new(reader, reader->extent, &reader->walker);
	return error;
}

/* The damage is listed as well as returned. */
static struct sp_error *damage_met(struct sp_reader *reader, uint64_t offset,
				   struct sp_error *error)
{
	if (sp_error_code(error) != SP_ERROR_NO_MEMORY) {
		pthread_mutex_lock(&reader->damage_lock);
		damage_insert(reader, offset, sp_error_message(error));
		pthread_mutex_unlock(&reader->damage_lock);
	}
	return error;
}

struct sp_error *sp_reader_next(struct sp_reader *reader, const struct sp_record **ret)
{
	struct raw_record raw = {0};
	struct sp_error *error = start(reader);
	if (error)
		return error;
	uint64_t offset = walker_offset(reader->walker);
	error = walker_next(reader->walker, &raw);
	if (!error && raw.bytes) {
		offset = raw.offset;
		error = decoder_decode(reader->decoder, &raw, &reader->record);
	}
	if (error)
		return damage_met(reader, offset, error);
	*ret = raw.bytes ? &reader->record : NULL;
	return NULL;
}

void sp_reader_rewind(struct sp_reader *reader)
{
	walker_free(reader->walker);
	reader->walker = NULL;
}

size_t sp_reader_event_count(const struct sp_reader *reader)
{
	return reader->events.count;
}

const struct sp_event *sp_reader_event(const struct sp_reader *reader, size_t index)
{
	assert(index < reader->events.count);
	return &reader->events.items[index];
}

const struct sp_file_info *sp_reader_info(const struct sp_reader *reader)
{
	return &reader->info;
}

struct sp_bytes sp_reader_feature(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FEATURE_BITS ? reader->features[bit].bytes : (struct sp_bytes){0};
}

bool sp_reader_has_feature(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FEATURE_BITS && reader->features[bit].present;
}

size_t sp_reader_damage_count(const struct sp_reader *reader)
{
	return reader->damage.count;
}

const struct sp_damage *sp_reader_damage(const struct sp_reader *reader, size_t index)
{
	assert(index < reader->damage.count);
	return &reader->damage.items[index];
}

struct reader_extent reader_extent(const struct sp_reader *reader)
{
	return reader->extent;
}

const struct record_layout *reader_layout(const struct sp_reader *reader)
{
	return &reader->layout;
}
