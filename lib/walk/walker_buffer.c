/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data is read by pread(2). Measured on 566 MB of 568-byte and 1.19 GB of 8,440-byte records
 * in the page cache, this takes 40 and 75 ms; mappings take 62 to 76 and 96 to 110 ms, in windows
 * of 1 to 64 MiB, populated or not; and a mapping causes SIGBUS when the file shrinks or its disk
 * fails. The buffer is small enough for the second-level cache to have its bytes when records are
 * decoded: a report of 566 MB takes 430 ms of CPU time with 256 KiB, 510 with 1 MiB.
 *
 * Stack copies are an exception, because a report looks at a tenth of their bytes: if it is safe
 * (file_mapping.h), windows of the file take the place of the buffer. A report of 1.6 GB of copies
 * of 8 KB takes 0.70 of the time then.
 *
 * A record is never split: a buffer that ends inside one is filled again from that record's
 * start. Records thus stay aligned as they are in the file.
 */
#include "walk/walker_buffer.h"

#include <stdlib.h>
#include "base/ctx.h"
#include "base/error.h"
#include "base/io.h"
#include "file/reader_struct.h"

#define READ_SIZE ((size_t)1 << 18)

/*
 * Size of a window of the mapped file. Pages that were read stay in memory until the window is closed.
 */
#define WINDOW_SIZE ((uint64_t)4 << 20)

/* Size of the buffer for searches: one half is searched before the other is filled again. */
#define SEARCH_SIZE (2 * READ_SIZE)

bool walker_buffer_init(struct walker *walker, uint64_t offset, uint64_t size)
{
	walker->buffer_size = size < SEARCH_SIZE ? (size_t)size : SEARCH_SIZE;
	walker->buffer = aligned_alloc(4096, walker->buffer_size);
	walker->base_offset = offset;
	walker->base = walker->pos = walker->stop = walker->end = walker->buffer;
	return walker->buffer;
}

void walker_set_stop(struct walker *walker)
{
	uint64_t offset = walker->base_offset;
	uint64_t own = walker->begin_end > offset ? walker->begin_end - offset : 0;
	size_t size = walker->end - walker->base;
	walker->stop = own < size ? walker->base + own : walker->end;
}

/* Sets the walker's content: `bytes` has `size` bytes of the file from `offset` on. */
static void set_content(struct walker *walker, uint64_t offset, const uint8_t *bytes, size_t size)
{
	walker->base_offset = offset;
	walker->base = walker->pos = bytes;
	walker->end = bytes + size;
	walker_set_stop(walker);
}

void walker_close_window(struct walker *walker)
{
	if (walker->window.is_open)
		file_mapping_close(walker->mapping, walker->window.begin, walker->window.size);
	walker->window.is_open = false;
}

/* Opens the window that contains `offset`. Returns false if the file must be read instead. */
static bool open_window(struct walker *walker, uint64_t offset)
{
	uint64_t begin = offset & ~(MAPPING_ALIGN - 1);
	uint64_t size = walker->data_end - begin;
	walker_close_window(walker);
	if (!walker->mapping || offset < walker->unmapped_end)
		return false;
	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	const uint8_t *bytes = file_mapping_open(walker->mapping, begin, size);
	if (!bytes) {
		walker->unmapped_end = begin + size;
		return false;
	}
	walker->window.begin = begin;
	walker->window.size = size;
	walker->window.is_open = true;
	set_content(walker, offset, bytes + (offset - begin), size - (offset - begin));
	return true;
}

void walker_move(struct walker *walker, uint64_t offset)
{
	set_content(walker, offset, walker->buffer, 0);
}

struct sp_error *walker_fill(struct walker *walker, uint64_t offset, size_t most)
{
	uint64_t left = walker->data_end - offset;
	size_t size = left < most ? (size_t)left : most, got = 0;
	TRY(walker->reader ? ctx_check(walker->reader->ctx) : NULL);
	if (open_window(walker, offset))
		return NULL;
	int errnum = io_pread(walker->fd, walker->buffer, size, offset, &got);
	set_content(walker, offset, walker->buffer, got);
	if (errnum) {
		walker->finished = true;
		return error_prefix(error_os(errnum, "cannot read at offset 0x%llx",
					     (unsigned long long)offset), "%s", walker->path);
	}
	if (got < size) {
		walker->data_end = offset + got;
		return error_format(walker->path, offset + got,
				    "the file ends here; it was truncated after opening");
	}
	return NULL;
}

struct sp_error *walker_ensure(struct walker *walker, size_t need)
{
	uint64_t offset = walker_pos_offset(walker);
	uint64_t left = walker->data_end - offset;
	if (need > left)
		need = left;
	if ((size_t)(walker->end - walker->pos) >= need)
		return NULL;
	bool searching = need > RECORD_MAX + 1;
	size_t most = searching || walker->buffer_size < READ_SIZE ? walker->buffer_size : READ_SIZE;
	return walker_fill(walker, offset, most);
}

bool walker_records_begin(const struct walker *walker, const uint8_t *pos)
{
	uint64_t end = walker->base_offset + (uint64_t)(walker->end - walker->base);
	return records_begin(pos, walker->end, end == walker->data_end, walker->swap);
}
