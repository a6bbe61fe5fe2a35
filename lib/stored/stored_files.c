/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/stored_files.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/diagnosis.h"
#include "base/io.h"
#include "base/leb128.h"

/* Limit on a file's bytes that are stored, and on its claimed size. */
#define STORED_MAX ((uint64_t)1 << 30)
#define WHOLE_MAX ((uint64_t)64 << 20)
#define FILE_MAX ((uint64_t)1 << 40)

struct file_run {
	uint64_t offset, size;
};

struct file_runs {
	VEC(struct file_run);
};

static void runs_deinit(struct file_runs *runs)
{
	vec_deinit(runs);
}

/* -- Writing --------------------------------------------------------------- */

static bool is_debug_section(const char *name)
{
	return (!strncmp(name, ".debug_", 7) && strcmp(name, ".debug_frame") != 0) ||
	       !strncmp(name, ".zdebug_", 8) || !strncmp(name, ".gnu.debuglto_", 14);
}

DEFINE_ORDER(compare_runs, struct file_run, offset)

/* Lists the file ranges of debug information, by offset. */
static bool list_debug(const struct image *image, struct file_runs *ret)
{
	size_t names;
	if (elf_getshdrstrndx(image->elf, &names))
		return true;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(image->elf, names, header.sh_name) : NULL;
		if (!name || header.sh_type == SHT_NOBITS || header.sh_flags & SHF_ALLOC ||
		    !is_debug_section(name))
			continue;
		if (!vec_append(ret, (struct file_run){header.sh_offset, header.sh_size}))
			return false;
	}
	vec_sort(ret, compare_runs);
	return true;
}

/* Lists the ranges of the file without debug information. Returns false when out of memory. */
static bool list_runs(const struct image *image, struct file_runs *ret)
{
	CLEANUP(runs_deinit) struct file_runs debug = {0};
	uint64_t at = 0;
	if (!list_debug(image, &debug))
		return false;
	for (size_t i = 0; i <= debug.count && at < image->size; i++) {
		uint64_t end = i < debug.count ? debug.items[i].offset : image->size;
		if (end > image->size)
			end = image->size;
		struct file_run *slot = end > at ? vec_push(ret) : NULL;
		if (end > at && !slot)
			return false;
		if (slot)
			*slot = (struct file_run){at, end - at};
		if (i < debug.count && debug.items[i].offset + debug.items[i].size > at)
			at = debug.items[i].offset + debug.items[i].size;
	}
	return true;
}

static bool put_number(struct record_buffer *data, uint64_t value)
{
	if (!vec_reserve(data, data->count + ULEB_SIZE))
		return false;
	data->count += uleb_encode(value, data->items + data->count);
	return true;
}

static bool put_runs(struct record_buffer *data, const struct image *image,
		     const struct file_runs *runs)
{
	uint64_t end = 0;
	bool good = put_number(data, image->size) && put_number(data, runs->count);
	for (size_t i = 0; i < runs->count && good; i++) {
		good = put_number(data, runs->items[i].offset - end) &&
		       put_number(data, runs->items[i].size);
		end = runs->items[i].offset + runs->items[i].size;
	}
	return good;
}

static struct sp_error *put_bytes(struct record_buffer *data, const struct image *image,
				  const struct file_run *run)
{
	struct image_bytes bytes = {0};
	TRY(image_range_bytes(image, run->offset, run->size, &bytes));
	bool good = vec_reserve(data, data->count + bytes.size);
	if (good) {
		memcpy(data->items + data->count, bytes.bytes, bytes.size);
		data->count += bytes.size;
	}
	image_bytes_release(&bytes);
	return good ? NULL : error_no_memory();
}

/* Returns whether a file of that size may be stored, too. If not, the module states it. */
static bool has_room(struct stored_names *names, struct stored_module *module, uint64_t size,
		     uint64_t limit)
{
	bool fits = size <= limit && (!names->file_limit ||
				      size <= names->file_limit - names->file_bytes);
	module->left_out = fits ? 0 : size;
	return fits;
}

static struct sp_error *encode_file(struct stored_names *names, struct stored_module *module,
				    const struct image *image, struct record_buffer *data)
{
	CLEANUP(runs_deinit) struct file_runs runs = {0};
	uint64_t all = 0;
	NEED(list_runs(image, &runs) && put_runs(data, image, &runs));
	vec_each (run, &runs)
		all += run->size;
	if (!has_room(names, module, all, STORED_MAX))
		return error_new(SP_ERROR_LIMIT, "%s is too large to store", image->path);
	struct sp_error *error = NULL;
	for (size_t i = 0; i < runs.count && !error; i++)
		error = put_bytes(data, image, &runs.items[i]);
	if (!error)
		names->file_bytes += all;
	return error;
}

/* Appends the chunk. A file that could not be read is left out. */
static struct sp_error *add_chunk(struct stored_names *names, struct stored_module *module,
				  const struct record_buffer *data, struct sp_error *error)
{
	if (!error)
		error = chunk_encode(&names->files, CHUNK_FILE, data->items, data->count);
	if (!error)
		module->file = ++names->file_count;
	return error_if_no_memory(error);
}

struct sp_error *stored_file_add_whole(struct stored_names *names, struct stored_module *module,
				       int fd, uint64_t size)
{
	struct record_buffer data = {0};
	size_t got;
	if (!has_room(names, module, size, WHOLE_MAX))
		return NULL;
	bool good = put_number(&data, size) && put_number(&data, 1) && put_number(&data, 0) &&
		    put_number(&data, size) && vec_reserve(&data, data.count + size);
	struct sp_error *error = good ? NULL : error_no_memory();
	int errnum = good ? io_pread(fd, data.items + data.count, size, 0, &got) : 0;
	if (errnum || (good && got < size))
		error = error_os(errnum ?: EIO, "cannot read a file to store");
	data.count += good ? size : 0;
	names->file_bytes += error ? 0 : size;
	error = add_chunk(names, module, &data, error);
	vec_deinit(&data);
	return error;
}

struct sp_error *stored_file_add(struct stored_names *names, struct stored_module *module,
				 const struct image *image)
{
	struct record_buffer data = {0};
	struct sp_error *error = add_chunk(names, module, &data,
					   encode_file(names, module, image, &data));
	vec_deinit(&data);
	return error;
}

/* -- Reading --------------------------------------------------------------- */

/* Reads the next run: its place in the file. */
static bool get_run(struct cursor *cursor, uint64_t file_size, uint64_t end, struct file_run *ret)
{
	uint64_t step;
	if (!cursor_uleb(cursor, &step) || !cursor_uleb(cursor, &ret->size) ||
	    step > file_size - end || ret->size > file_size - end - step)
		return false;
	ret->offset = end + step;
	return true;
}

#define PAGE UINT64_C(4096)

/*
 * Returns whether the runs take little more memory than the data: a run of one byte takes a page. Files
 * have few runs.
 */
static bool memory_is_bounded(struct cursor cursor, uint64_t file_size, uint64_t count)
{
	uint64_t limit = 2 * cursor_left(&cursor) + (256 << 10), memory = 0, end = 0;
	for (uint64_t i = 0; i < count && memory <= limit; i++) {
		struct file_run run;
		if (!get_run(&cursor, file_size, end, &run))
			return false;
		end = run.offset + run.size;
		if (run.size)
			memory += (end + PAGE - 1) / PAGE * PAGE - run.offset / PAGE * PAGE;
	}
	return memory <= limit;
}

/* Writes the runs to the file. `cursor` is at the first run. Returns false if they are damaged. */
static bool write_runs(struct cursor *cursor, uint64_t file_size, uint64_t count, int fd)
{
	struct cursor bytes = *cursor;
	for (uint64_t i = 0; i < 2 * count; i++)
		if (!cursor_skip_leb(&bytes))
			return false;
	uint64_t end = 0;
	for (uint64_t i = 0; i < count; i++) {
		struct file_run run;
		const uint8_t *from;
		if (!get_run(cursor, file_size, end, &run) || run.size > cursor_left(&bytes) ||
		    !cursor_bytes(&bytes, run.size, &from) ||
		    pwrite(fd, from, run.size, run.offset) != (ssize_t)run.size)
			return false;
		end = run.offset + run.size;
	}
	return true;
}

struct sp_error *stored_file_decode(const uint8_t *data, size_t size, const char *path, int *fd_ret)
{
	struct cursor cursor = cursor_make(data, size, false, path, 0);
	uint64_t file_size, count;
	CLEANUP_CLOSE int fd = memfd_create("sprof-stored", MFD_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot make a file in memory");
	if (!cursor_uleb(&cursor, &file_size) || file_size > FILE_MAX ||
	    !cursor_uleb(&cursor, &count) || count > cursor_left(&cursor) / 2 ||
	    !memory_is_bounded(cursor, file_size, count) || ftruncate(fd, file_size) ||
	    !write_runs(&cursor, file_size, count, fd))
		return error_new(SP_ERROR_FORMAT, "%s: a stored file is damaged", path);
	*fd_ret = take_fd(&fd);
	return NULL;
}
