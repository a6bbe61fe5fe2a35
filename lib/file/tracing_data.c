/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/tracing_data.h"

#include <string.h>
#include "base/cursor.h"

struct tracing_data_reader {
	struct cursor cursor;
	const struct trace_visitor *visitor;
};

static struct sp_error *damaged(const struct tracing_data_reader *reading, const char *what)
{
	return cursor_error(&reading->cursor, "tracing data: %s does not fit", what);
}

static struct sp_error *read_text(struct tracing_data_reader *reading, enum trace_file kind,
				  const char *system, uint64_t size, const char *what)
{
	const uint8_t *text;
	if (size > cursor_left(&reading->cursor) || !cursor_bytes(&reading->cursor, size, &text))
		return damaged(reading, what);
	const struct trace_visitor *visitor = reading->visitor;
	NEED(!visitor->file || visitor->file(visitor->arg, kind, system, (const char *)text, size));
	return NULL;
}

/* Reads a file: u64 size, text */
static struct sp_error *read_file(struct tracing_data_reader *reading, enum trace_file kind,
				  const char *system, const char *what)
{
	uint64_t size;
	if (!cursor_u64(&reading->cursor, &size))
		return damaged(reading, what);
	return read_text(reading, kind, system, size, what);
}

/* Reads a file: u32 size, text */
static struct sp_error *read_short_file(struct tracing_data_reader *reading, enum trace_file kind,
					const char *what)
{
	uint32_t size;
	if (!cursor_u32(&reading->cursor, &size))
		return damaged(reading, what);
	return read_text(reading, kind, NULL, size, what);
}

/* Reads a named file: NAME\0 u64 size, text */
static struct sp_error *read_named(struct tracing_data_reader *reading, const char *name)
{
	const char *found;
	if (!cursor_text(&reading->cursor, &found) || strcmp(found, name) != 0)
		return damaged(reading, name);
	bool page = !strcmp(name, "header_page");
	return read_file(reading, page ? TRACE_HEADER_PAGE : TRACE_HEADER_EVENT, NULL, name);
}

static struct sp_error *read_formats(struct tracing_data_reader *reading, enum trace_file kind,
				     const char *system)
{
	uint32_t count;
	struct sp_error *error = NULL;
	if (!cursor_u32(&reading->cursor, &count))
		return damaged(reading, "the number of formats");
	for (uint32_t i = 0; !error && i < count; i++)
		error = read_file(reading, kind, system, "a format");
	return error;
}

static struct sp_error *read_systems(struct tracing_data_reader *reading)
{
	uint32_t count;
	struct sp_error *error = NULL;
	if (!cursor_u32(&reading->cursor, &count))
		return damaged(reading, "the number of systems");
	for (uint32_t i = 0; !error && i < count; i++) {
		const char *system;
		if (!cursor_text(&reading->cursor, &system))
			return damaged(reading, "a system's name");
		error = read_formats(reading, TRACE_FORMAT, system);
	}
	return error;
}

static struct sp_error *read_header(struct tracing_data_reader *reading, bool *has_tasks_ret)
{
	static const uint8_t magic[10] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	struct cursor *cursor = &reading->cursor;
	struct trace_header header;
	const uint8_t *found;
	const char *version;
	uint8_t big_endian;
	if (!cursor_bytes(cursor, sizeof(magic), &found) || memcmp(found, magic, sizeof(magic)))
		return cursor_error(cursor, "tracing data does not begin as such does");
	if (!cursor_text(cursor, &version) || !cursor_u8(cursor, &big_endian) ||
	    !cursor_u8(cursor, &header.long_size))
		return damaged(reading, "the header");
	*has_tasks_ret = strcmp(version, "0.6") >= 0;
	header.big_endian = big_endian;
	cursor->swap = header.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (!cursor_u32(cursor, &header.page_size))
		return damaged(reading, "the header");
	if (header.long_size != 4 && header.long_size != 8)
		return cursor_error(cursor, "tracing data of a machine with longs of %u bytes",
				    header.long_size);
	const struct trace_visitor *visitor = reading->visitor;
	NEED(!visitor->header || visitor->header(visitor->arg, &header));
	return NULL;
}

struct sp_error *trace_container_read(const struct sp_bytes *blob, const char *path,
				      const struct trace_visitor *visitor)
{
	struct tracing_data_reader reading = {
		.cursor = cursor_make(blob->bytes, blob->size, false, path, 0),
		.visitor = visitor,
	};
	bool has_tasks = false;
	TRY(read_header(&reading, &has_tasks));
	TRY(read_named(&reading, "header_page"));
	TRY(read_named(&reading, "header_event"));
	TRY(read_formats(&reading, TRACE_FTRACE_FORMAT, NULL));
	TRY(read_systems(&reading));
	TRY(read_short_file(&reading, TRACE_KALLSYMS, "kallsyms"));
	TRY(read_short_file(&reading, TRACE_PRINTK_FORMATS, "printk_formats"));
	if (!has_tasks || !cursor_left(&reading.cursor))
		return NULL;
	return read_file(&reading, TRACE_TASKS, NULL, "names of tasks");
}
