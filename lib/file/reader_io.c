/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/reader_io.h"

#include <assert.h>
#include "base/io.h"
#include "file/reader_struct.h"

struct reader_extent reader_extent(const struct sp_reader *reader)
{
	return reader->extent;
}

const struct record_layout *reader_layout(const struct sp_reader *reader)
{
	return &reader->layout;
}

/* Reads all of the bytes. */
static struct sp_error *read_at(int fd, const char *path, uint64_t offset, void *to, size_t size)
{
	size_t got;
	int errnum = io_pread(fd, to, size, offset, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", path);
	if (got < size)
		return error_format(path, offset + got,
				    "the file ends here; it was truncated after opening");
	return NULL;
}

struct sp_error *reader_read(const struct sp_reader *reader, uint64_t offset, void *to,
			     size_t size)
{
	return read_at(reader->data_fd, reader->data_path, offset, to, size);
}

void reader_map(struct sp_reader *reader)
{
	file_mapping_begin(&reader->mapping, reader->data_fd);
}

void reader_unmap(struct sp_reader *reader)
{
	file_mapping_end(&reader->mapping);
}

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
	assert(offset <= reader->file_size && size <= reader->file_size - offset);
	/* A correct file stores nothing twice, so its parts together are not larger than the file. */
	if (size > reader->file_size - reader->loaded)
		return error_format(reader->path, offset,
				    "%llu bytes overlap with other parts of the header",
				    (unsigned long long)size);
	reader->loaded += size;
	uint8_t *bytes = arena_alloc(&reader->arena, size);
	NEED(bytes);
	TRY(read_at(reader->fd, reader->path, offset, bytes, size));
	*ret = bytes;
	return NULL;
}
