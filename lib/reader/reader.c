/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a recording, whatever its container, ends with the same three things:
 * a flat run of records in one file (data_fd and extent), the events, and the
 * features. Damage on the way is noted and passed over; only a file without
 * events cannot be opened.
 */
#include "file/reader_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "reader/source.h"
#include "walk/walker.h"

/* How much of a file is looked through for records that say more of it. */
#define SCAN_SIZE ((uint64_t)1 << 20)

/* Where the header has the size of the data. */
#define DATA_SIZE_AT 48

/* The one text of it: sp_reader_unfinished(). */
#define UNFINISHED "the recording was not ended: its recorder was killed, or is still at work"

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
				    "%llu bytes overlap with other parts of the header",
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
				    "the file ends here; it was truncated after opening");
	*ret = bytes;
	return NULL;
}

/* Where `offset` is or would be in the list of damage, which is sorted. */
static size_t damage_place(const struct sp_reader *reader, uint64_t offset)
{
	size_t low = 0, high = reader->damage.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (reader->damage.items[middle].shown.offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One more place than are listed: the last item says how many there are. */
static void damage_uncounted(struct sp_reader *reader, uint64_t offset)
{
	if (!reader->damage_unlisted++)
		reader->damage_more.offset = offset;
	snprintf(reader->damage_more_what, sizeof(reader->damage_more_what),
		 "%llu more places are damaged",
		 (unsigned long long)reader->damage_unlisted);
	reader->damage_more.what = reader->damage_more_what;
}

/* Damage met twice (in two passes) is listed once. */
static void damage_insert(struct sp_reader *reader, struct damage damage)
{
	uint64_t offset = damage.shown.offset;
	size_t place = damage_place(reader, offset);
	for (; place < reader->damage.count; place++) {
		if (reader->damage.items[place].shown.offset != offset)
			break;
		if (!strcmp(reader->damage.items[place].shown.what, damage.shown.what))
			return;
	}
	char *copy = reader->damage.count < DAMAGE_LISTED ? strdup(damage.shown.what) : NULL;
	if (!copy || !vec_reserve(&reader->damage, reader->damage.count + 1)) {
		free(copy);
		damage_uncounted(reader, offset);
		return;
	}
	struct damage *items = reader->damage.items;
	memmove(&items[place + 1], &items[place],
		(reader->damage.count++ - place) * sizeof(*items));
	damage.shown.what = copy;
	items[place] = damage;
}

/* Whether there are so many places that of one more nothing is said, which then is counted. */
static bool damage_counted(struct sp_reader *reader, uint64_t offset)
{
	pthread_mutex_lock(&reader->damage_lock);
	size_t place = damage_place(reader, offset);
	bool full = reader->damage.count >= DAMAGE_LISTED && place == reader->damage.count;
	if (full)
		damage_uncounted(reader, offset);
	pthread_mutex_unlock(&reader->damage_lock);
	return full;
}

/* As `like`, at the error's offset. If it is `of_data`, that may not be the file's. */
static void damage_list(struct sp_reader *reader, uint64_t offset, const struct sp_error *error,
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
	pthread_mutex_lock(&reader->damage_lock);
	damage_insert(reader, like);
	pthread_mutex_unlock(&reader->damage_lock);
}

struct sp_error *reader_read(const struct sp_reader *reader, uint64_t offset, void *to,
			     size_t size)
{
	size_t got;
	int errnum = io_pread(reader->data_fd, to, size, (off_t)offset, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", reader->data_path);
	if (got < size)
		return error_format(reader->data_path, offset + got,
				    "the file ends here; it was truncated after opening");
	return NULL;
}

void reader_add_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error)
{
	damage_list(reader, offset, error, (struct damage){.of_data = true});
	sp_error_free(error);
}

void reader_add_file_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error)
{
	damage_list(reader, offset, error, (struct damage){.place = DAMAGE_OF_FILE});
	sp_error_free(error);
}

void reader_add_gap(struct sp_reader *reader, uint64_t offset, uint64_t place,
		    struct sp_error *error)
{
	damage_list(reader, offset, error, (struct damage){.place = place, .between = true});
	sp_error_free(error);
}

void reader_add_resized(struct sp_reader *reader, const struct raw_record *raw, size_t length,
			const char *path, bool of_data)
{
	if (damage_counted(reader, raw->offset))
		return;
	struct sp_error *error =
		error_format(path, raw->offset, "a record (%s) has size %zu, but its contents need "
			     "%zu: reading continues after the contents",
			     sp_record_type_name(raw->type), raw->size, length);
	damage_list(reader, raw->offset, error,
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

void reader_forget_damage(struct sp_reader *reader)
{
	size_t kept = 0;
	for (size_t i = 0; i < reader->damage.count; i++) {
		struct damage *damage = &reader->damage.items[i];
		if (damage->of_data)
			free((char *)(uintptr_t)damage->shown.what);
		else
			reader->damage.items[kept++] = *damage;
	}
	reader->damage.count = kept;
	reader->damage_unlisted = 0;
}

void reader_note(struct sp_reader *reader, uint64_t offset, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	struct sp_error *error = what ? error_format(reader->path, offset, "%s", what)
				      : error_no_memory();
	reader_add_file_damage(reader, offset, error);
}

/* Where the records of `extent`, and of the parts of a directory, have to be copied flat. */
static struct sp_error *flatten(struct sp_reader *reader)
{
	struct source_parts parts = {0};
	struct sp_error *error = NULL;
	struct flat_source first = {reader->fd, reader->extent, reader->path};
	reader->lengths = lengths_of(reader->events.items, reader->events.count);
	if (reader->info.mode == SP_READER_DIRECTORY)
		error = source_list_parts(reader, &parts);
	bool needed = reader->info.compressed || parts.count;
	if (!error && needed)
		error = reader_flatten(reader, &first, &parts);
	source_parts_deinit(&parts);
	if (error || !needed)
		return error;
	/* Offsets are no longer those of the file: messages must say so. */
	CLEANUP_FREE char *name = format_text("%s (%s)", reader->path,
					      reader->info.compressed ? "inflated" : "joined");
	reader->data_path = name ? reader_copy_text(reader, name, strlen(name)) : NULL;
	return reader->data_path ? NULL : error_no_memory();
}

/* Whether there is a compressed record at all: perf stat record claims it without. */
static struct sp_error *find_compressed(struct sp_reader *reader)
{
	struct walker *walker;
	struct raw_record raw = {0};
	struct sp_error *error = walker_new_at(reader->fd, reader->path, reader->swap,
					       reader->extent, reader->extent.end, &walker);
	if (error)
		return error;
	walker_hold_sizes(walker, &reader->lengths, NULL);
	while (!reader->info.compressed) {
		/* Damage is met again by whoever reads the records. */
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		reader->info.compressed = !error && (raw.type == SP_RECORD_COMPRESSED ||
						     raw.type == SP_RECORD_COMPRESSED2);
		sp_error_free(error);
	}
	walker_free(walker);
	return NULL;
}

static bool has_bit(const struct header_info *header, enum file_feature bit)
{
	return header->features[bit / 64] >> bit % 64 & 1;
}

/* The records at the start of a file's data: as far as one read of the walker goes. */
static struct sp_error *scan_beginning(struct sp_reader *reader)
{
	struct reader_extent beginning = reader->extent;
	if (beginning.end - beginning.begin > SCAN_SIZE)
		beginning.end = beginning.begin + SCAN_SIZE;
	return reader_scan(reader, beginning);
}

/*
 * A recorder that lives to its end puts the payloads of all features behind the data. Before that
 * sprof has them in front of it, and for a few microseconds none; perf has not written the
 * size of the data.
 */
static bool is_unfinished(const struct sp_reader *reader, const struct header_info *header)
{
	if (reader->cut_at || reader->info.mode != SP_READER_FILE)
		return false;
	if (header->data_never_ended)
		return !reader->features_behind;
	bool no_table = !reader->features_in_front && !reader->features_behind;
	return (reader->features_in_front && !reader->features_behind) ||
	       (no_table && reader->has_feature_records);
}

/*
 * Of a recorder that writes the size of the data last, perf's. What it writes with it, the features,
 * may be there all the same: then only the size is wrong.
 */
static void note_no_size(struct sp_reader *reader, const struct header_info *header)
{
	if (!header->data_never_ended || header->data.offset == reader->file_size)
		return;
	reader->says_unfinished = is_unfinished(reader, header);
	struct sp_error *error =
		error_format(reader->path, DATA_SIZE_AT, "%s; reading continues to the last complete record",
			     reader->says_unfinished ? UNFINISHED : "the size of the data is missing");
	damage_list(reader, DATA_SIZE_AT, error,
		    (struct damage){.place = reader->says_unfinished ? DAMAGE_AT_END : DAMAGE_OF_FILE});
	sp_error_free(error);
}

static struct sp_error *open_with_header(struct sp_reader *reader)
{
	struct header_info header;
	CLEANUP(cleanup_sp_error_free) struct sp_error *no_events = NULL;
	struct sp_error *error = header_read(reader, &header);
	if (error)
		return error;
	reader->extent = (struct reader_extent){header.data.offset,
						header.data.offset + header.data.size};
	no_events = header_read_events(reader, &header);
	if (no_events && sp_error_code(no_events) != SP_ERROR_FORMAT)
		return take_ptr(no_events);
	error = features_read_table(reader, &header);
	if (!error)
		error = scan_beginning(reader);
	if (!error)
		error = features_interpret(reader);
	if (!error && !reader->events.count)
		error = take_ptr(no_events);
	if (!error && no_events)
		reader_add_file_damage(reader, 24, take_ptr(no_events));
	if (!error && has_bit(&header, FEATURE_COMPRESSED))
		error = find_compressed(reader);
	reader->info.unfinished = !error && is_unfinished(reader, &header);
	if (!error)
		note_no_size(reader, &header);
	if (!error)
		error = flatten(reader);
	return error;
}

static struct sp_error *open_stream(struct sp_reader *reader)
{
	reader->extent = (struct reader_extent){FILE_PIPE_HEADER_SIZE, reader->file_size};
	if (reader->info.mode == SP_READER_FILE)
		reader->info.mode = SP_READER_PIPE;
	struct sp_error *error = reader_scan(reader, reader->extent);
	if (!error)
		error = features_interpret(reader);
	if (!error && !reader->events.count)
		error = error_format(reader->path, reader->file_size,
				     "the stream ends without an event description");
	if (!error)
		error = flatten(reader);
	return error;
}

static struct sp_error *identify(struct sp_reader *reader)
{
	uint8_t bytes[FILE_PIPE_HEADER_SIZE];
	size_t got;
	uint64_t header_size = 0;
	bool swap;
	int errnum = io_pread(reader->fd, bytes, sizeof(bytes), 0, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", reader->path);
	if (!source_is_recording(bytes, got, &swap))
		return error_format(reader->path, 0,
				    "not a perf.data file: it does not begin with PERFILE2");
	reader_set_swap(reader, swap);
	struct cursor cursor = reader_cursor(reader, bytes, got, 0);
	if (!cursor_skip(&cursor, 8) || !cursor_u64(&cursor, &header_size))
		return cursor_error(&cursor, "the file header is cut short");
	reader->pipe_format = header_size == FILE_PIPE_HEADER_SIZE;
	return NULL;
}

static struct sp_error *reader_fill(struct sp_reader *reader)
{
	struct sp_error *error = source_open(reader);
	if (!error)
		error = identify(reader);
	if (!error)
		error = reader->pipe_format ? open_stream(reader) : open_with_header(reader);
	if (error)
		return error;
	if (reader->data_fd < 0)
		reader->data_fd = reader->fd;
	reader->layout = (struct record_layout){
		.events = reader->events.items,
		.event_count = reader->events.count,
		.swap = reader->swap,
		.path = reader->data_path,
	};
	return NULL;
}

struct sp_error *sp_reader_open(struct sp_ctx *ctx, const char *path, struct sp_reader **ret)
{
	CLEANUP(cleanup_sp_reader_free) struct sp_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return error_no_memory();
	reader->ctx = ctx;
	reader->fd = reader->data_fd = reader->directory_fd = -1;
	pthread_mutex_init(&reader->damage_lock, NULL);
	reader->lengths = lengths_of_any();
	reader->info.path = reader_copy_text(reader, path, strlen(path));
	if (!reader->info.path)
		return error_no_memory();
	reader->path = strcmp(path, "-") ? reader->info.path : "standard input";
	reader->data_path = reader->path;
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
	if (reader->directory_fd >= 0)
		close(reader->directory_fd);
	for (size_t i = 0; i < reader->damage.count; i++)
		free((char *)(uintptr_t)reader->damage.items[i].shown.what);
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
	enum sp_error_code code = sp_error_code(error);
	if (code != SP_ERROR_NO_MEMORY && code != SP_ERROR_CANCELLED)
		damage_list(reader, offset, error, (struct damage){.of_data = true});
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
		if (!error)
			walker_doubt(reader->walker, &raw, decoder_excess(reader->decoder));
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

uint64_t reader_feature_offset(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FEATURE_BITS ? reader->features[bit].offset : 0;
}

bool sp_reader_has_feature(const struct sp_reader *reader, unsigned int bit)
{
	return bit < FEATURE_BITS && reader->features[bit].present;
}

size_t sp_reader_damage_count(const struct sp_reader *reader)
{
	return reader->damage.count + (reader->damage_unlisted > 0);
}

const struct sp_damage *sp_reader_damage(const struct sp_reader *reader, size_t index)
{
	if (index == reader->damage.count && reader->damage_unlisted)
		return &reader->damage_more;
	assert(index < reader->damage.count);
	return &reader->damage.items[index].shown;
}

const char *sp_reader_unfinished(const struct sp_reader *reader)
{
	return reader->info.unfinished && !reader->says_unfinished ? UNFINISHED : NULL;
}

const struct sp_damage *reader_unfinished_damage(const struct sp_reader *reader)
{
	for (size_t i = 0; reader->says_unfinished && i < reader->damage.count; i++)
		if (reader->damage.items[i].place == DAMAGE_AT_END)
			return &reader->damage.items[i].shown;
	return NULL;
}

struct reader_extent reader_extent(const struct sp_reader *reader)
{
	return reader->extent;
}

const struct record_layout *reader_layout(const struct sp_reader *reader)
{
	return &reader->layout;
}
