/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/sysfs.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "proc/proc_text.h"

/* CPU numbers must be lower: more than any kernel supports. "0-4294967295" would fill the memory. */
#define CPU_LIMIT 65536u

int sysfs_read(const struct sp_ctx *ctx, const char *path, char **text_ret, size_t *size_ret)
{
	CLEANUP_FREE char *whole = format_text("%s%s", ctx_root(ctx), path);
	if (!whole)
		return ENOMEM;
	return io_read_file(whole, text_ret, size_ret);
}

char *sysfs_line(const struct sp_ctx *ctx, const char *path)
{
	CLEANUP_FREE char *text = NULL;
	if (sysfs_read(ctx, path, &text, NULL))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return *text ? take_ptr(text) : NULL;
}

struct sp_error *sysfs_read_i64(const struct sp_ctx *ctx, const char *path, int64_t *ret)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	int errnum = sysfs_read(ctx, path, &text, &size);
	if (errnum)
		return error_os(errnum, "%s", path);
	struct cursor cursor = cursor_make(text, size, false, path, 0);
	uint64_t value;
	text_blanks(&cursor);
	bool negative = text_char(&cursor, '-');
	if (!text_decimal(&cursor, &value) || value > INT64_MAX)
		return cursor_error(&cursor, "not a number");
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return NULL;
}

/* Reads "3" or "0-3"; false if it is neither. */
static bool parse_range(struct cursor *cursor, uint32_t *first, uint32_t *last)
{
	if (!text_decimal_u32(cursor, first) || *first >= CPU_LIMIT)
		return false;
	*last = *first;
	if (!text_char(cursor, '-'))
		return true;
	return text_decimal_u32(cursor, last) && *last < CPU_LIMIT && *last >= *first;
}

static struct sp_error *list_error(const char *text, const struct cursor *cursor)
{
	struct sp_error *error =
		error_new(SP_ERROR_INVALID, "\"%s\" is not a list of CPUs (at character %zu)", text,
			  (size_t)(cursor->pos - cursor->begin) + 1);
	return error_set_remedy(error, "give numbers and ranges, as in 0-3,5");
}

struct sp_error *cpu_list_parse(struct cpu_list *list, const char *text)
{
	struct cursor cursor = cursor_make(text, strlen(text), false, NULL, 0);
	size_t before = list->count;
	while (cursor_left(&cursor) && *cursor.pos != '\n') {
		uint32_t first, last;
		if (!parse_range(&cursor, &first, &last)) {
			list->count = before;
			return list_error(text, &cursor);
		}
		if (!vec_reserve(list, list->count + (last - first + 1))) {
			list->count = before;
			return error_no_memory();
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			list->items[list->count++] = cpu;
		/* A comma at the end is an error. */
		if (!text_char(&cursor, ','))
			break;
		if (!cursor_left(&cursor)) {
			list->count = before;
			return list_error(text, &cursor);
		}
	}
	text_char(&cursor, '\n');
	if (cursor_left(&cursor) || list->count == before) {
		list->count = before;
		return list_error(text, &cursor);
	}
	list->count = u32_sort_unique(list->items, list->count);
	return NULL;
}

struct sp_error *sysfs_cpus_online(const struct sp_ctx *ctx, struct cpu_list *list)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	CLEANUP_FREE char *text = NULL;
	int errnum = sysfs_read(ctx, path, &text, NULL);
	if (errnum)
		return error_os(errnum, "%s", path);
	return error_prefix(cpu_list_parse(list, text), "%s", path);
}

size_t notes_build_id(const void *notes, size_t size, uint8_t ret[20])
{
	struct cursor cursor = cursor_make(notes, size, false, NULL, 0);
	uint32_t name_size, desc_size, type;
	const uint8_t *name, *desc;
	while (cursor_u32(&cursor, &name_size) && cursor_u32(&cursor, &desc_size) &&
	       cursor_u32(&cursor, &type)) {
		uint64_t name_room = ((uint64_t)name_size + 3) & ~(uint64_t)3;
		uint64_t desc_room = ((uint64_t)desc_size + 3) & ~(uint64_t)3;
		if (!cursor_bytes(&cursor, name_room, &name))
			return 0;
		/* The last note may lack its padding. */
		if (desc_room > cursor_left(&cursor))
			desc_room = desc_size;
		if (!cursor_bytes(&cursor, desc_room, &desc))
			return 0;
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0)
			continue;
		if (!desc_size || desc_size > 20)
			return 0;
		memcpy(ret, desc, desc_size);
		return desc_size;
	}
	return 0;
}

struct sp_error *sysfs_kernel_build_id(const struct sp_ctx *ctx, uint8_t ret[20], size_t *size_ret)
{
	static const char path[] = "/sys/kernel/notes";
	CLEANUP_FREE char *notes = NULL;
	size_t size;
	int errnum = sysfs_read(ctx, path, &notes, &size);
	if (errnum == ENOENT) {
		*size_ret = 0;
		return NULL;
	}
	if (errnum)
		return error_os(errnum, "%s", path);
	*size_ret = notes_build_id(notes, size, ret);
	return NULL;
}
