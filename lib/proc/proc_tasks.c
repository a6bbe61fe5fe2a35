/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/proc_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

/* Longest stat line: 52 numbers of up to 20 digits, and a name. */
#define STAT_LIMIT 2048

bool task_list_has(const struct task_list *list, uint32_t tid)
{
	return list->count &&
	       bsearch(&tid, list->items, list->count, sizeof(tid), u32_compare) != NULL;
}

/* Parses a directory entry's name; false if it is not a number. */
static bool parse_number(const char *name, uint32_t *ret)
{
	struct cursor cursor = cursor_make(name, strlen(name), false, NULL, 0);
	uint32_t number;
	if (!text_decimal_u32(&cursor, &number) || cursor_left(&cursor))
		return false;
	*ret = number;
	return true;
}

/* Lists a directory's entries that have numbers as names. */
static struct sp_error *list_numbers(const char *path, struct task_list *list)
{
	CLEANUP(cleanup_closedir) DIR *directory = opendir(path);
	list->count = 0;
	if (!directory)
		return error_os(errno, "%s", path);
	for (;;) {
		uint32_t number;
		errno = 0;
		const struct dirent *entry = readdir(directory);
		if (!entry && errno)
			return error_os(errno, "%s", path);
		if (!entry)
			break;
		if (!parse_number(entry->d_name, &number))
			continue;
		NEED(vec_append(list, number));
	}
	list->count = u32_sort_unique(list->items, list->count);
	return NULL;
}

struct sp_error *tasks_list(const struct sp_ctx *ctx, uint32_t pid, struct task_list *list)
{
	CLEANUP_FREE char *path = format_text("%s/proc/%u/task", ctx_root(ctx), pid);
	NEED(path);
	TRY(list_numbers(path, list));
	/* An empty list: the process ended after its directory was opened. */
	return list->count ? NULL : error_os(ESRCH, "process %u", pid);
}

struct sp_error *tasks_list_processes(const struct sp_ctx *ctx, struct task_list *list)
{
	CLEANUP_FREE char *path = format_text("%s/proc", ctx_root(ctx));
	NEED(path);
	return list_numbers(path, list);
}

/* Removes known ids from *fresh, and adds the others to *known. */
static struct sp_error *add_fresh(struct task_list *known, struct task_list *fresh)
{
	size_t kept = 0;
	vec_each (item, fresh)
		if (!task_list_has(known, *item))
			fresh->items[kept++] = *item;
	fresh->count = kept;
	if (!kept)
		return NULL;
	NEED(vec_reserve(known, known->count + kept));
	memcpy(known->items + known->count, fresh->items, kept * sizeof(*fresh->items));
	known->count += kept;
	known->count = u32_sort_unique(known->items, known->count);
	return NULL;
}

struct sp_error *tasks_relist(const struct sp_ctx *ctx, uint32_t pid, struct task_list *known,
			      struct task_list *fresh)
{
	TRY(tasks_list(ctx, pid, fresh));
	return add_fresh(known, fresh);
}

struct sp_error *tasks_relist_processes(const struct sp_ctx *ctx, struct task_list *known,
					struct task_list *fresh)
{
	TRY(tasks_list_processes(ctx, fresh));
	return add_fresh(known, fresh);
}

/* Copies a comm and unescapes it: the kernel writes a newline as \n and a backslash as \\. */
static void copy_comm(char *to, size_t room, const char *from, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; i < size && used + 1 < room; i++) {
		bool escaped = from[i] == '\\' && i + 1 < size &&
			       (from[i + 1] == 'n' || from[i + 1] == '\\');
		if (escaped)
			i++;
		to[used++] = escaped && from[i] == 'n' ? '\n' : from[i];
	}
	to[used] = 0;
}

/* Stores the value of one field of the stat line, counted from 1. Most fields are ignored. */
static void store_field(struct task_stat *stat, unsigned int field, uint64_t value, bool negative)
{
	switch (field) {
	case 4:
		stat->ppid = value;
		break;
	case 9:
		stat->flags = value;
		break;
	case 14: /* in user space */
	case 15: /* in the kernel */
		stat->cpu_ticks += value;
		break;
	case 22:
		stat->start_ticks = value;
		break;
	case 39:
		stat->last_cpu = negative || value > INT32_MAX ? -1 : (int32_t)value;
		break;
	}
}

/* Parses "PID (COMM) STATE NUMBER...". COMM ends at the last ')', because it may contain ") ". */
struct sp_error *task_stat_parse(const void *text, size_t size, const char *path,
				 struct task_stat *ret)
{
	struct cursor cursor = cursor_make(text, size, false, path, 0);
	struct task_stat stat = {.last_cpu = -1};
	const char *open = size ? memchr(text, '(', size) : NULL;
	const char *close = size ? memrchr(text, ')', size) : NULL;
	uint8_t state;
	if (!text_decimal_u32(&cursor, &stat.tid) || !open || !close || close < open)
		return cursor_error(&cursor, "not a stat line");
	copy_comm(stat.comm, sizeof(stat.comm), open + 1, (size_t)(close - open) - 1);
	cursor.pos = (const uint8_t *)close + 1;
	if (!text_char(&cursor, ' ') || !cursor_u8(&cursor, &state))
		return cursor_error(&cursor, "stat line without a state");
	stat.state = state;
	unsigned int field = 4;
	for (; text_char(&cursor, ' '); field++) {
		uint64_t value;
		bool negative = text_char(&cursor, '-');
		if (!text_decimal(&cursor, &value))
			return cursor_error(&cursor, "field %u of the stat line is no number",
					    field);
		store_field(&stat, field, value, negative);
	}
	/* All kernels have the fields up to the start time (22). */
	if (field <= 22)
		return cursor_error(&cursor, "stat line of %u fields", field - 1);
	*ret = stat;
	return NULL;
}

/* Reads the file NAME in an open directory and parses it as a stat line. */
static struct sp_error *read_stat(int directory, const char *name, struct task_stat *ret)
{
	char text[STAT_LIMIT];
	size_t size;
	CLEANUP_CLOSE int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	int errnum = fd < 0 ? errno : io_read(fd, text, sizeof(text), &size);
	if (errnum)
		return error_os(errnum, "%s", name);
	return task_stat_parse(text, size, name, ret);
}

struct sp_error *tasks_stat(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
			    struct task_stat *ret)
{
	CLEANUP_FREE char *path = format_text("%s/proc/%u/task/%u/stat", ctx_root(ctx), pid, tid);
	NEED(path);
	return read_stat(AT_FDCWD, path, ret);
}

struct sp_error *tasks_stat_process(const struct sp_ctx *ctx, uint32_t pid, struct task_stat *ret)
{
	CLEANUP_FREE char *path = format_text("%s/proc/%u/stat", ctx_root(ctx), pid);
	NEED(path);
	return read_stat(AT_FDCWD, path, ret);
}

struct sp_error *tasks_stat_all(const struct sp_ctx *ctx, uint32_t pid,
				const struct task_list *list, struct task_stat **stats_ret,
				size_t *count_ret)
{
	CLEANUP_FREE char *path = format_text("%s/proc/%u/task", ctx_root(ctx), pid);
	CLEANUP_FREE struct task_stat *stats = calloc(list->count + 1, sizeof(*stats));
	size_t count = 0;
	NEED(stats && path);
	CLEANUP_CLOSE int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return error_os(errno, "%s", path);
	vec_each (item, list) {
		char name[32];
		snprintf(name, sizeof(name), "%u/stat", *item);
		CLEANUP(cleanup_sp_error_free)
		struct sp_error *error = read_stat(directory, name, &stats[count]);
		if (!error)
			count++;
		else if (sp_error_code(error) != SP_ERROR_NOT_FOUND)
			return take_ptr(error);
	}
	*stats_ret = take_ptr(stats);
	*count_ret = count;
	return NULL;
}

/* Reads the number after "NAME:" in a status file. Returns 0 or an errno; EINVAL: no such line. */
static int status_number(const struct sp_ctx *ctx, uint32_t tid, const char *name, uint32_t *ret)
{
	char path[32];
	CLEANUP_FREE char *text = NULL;
	size_t size, length = strlen(name);
	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	int errnum = sysfs_read(ctx, path, &text, &size);
	if (errnum)
		return errnum;
	struct cursor cursor = cursor_make(text, size, false, path, 0), line;
	while (text_line(&cursor, &line)) {
		if (cursor_left(&line) < length || memcmp(line.pos, name, length) != 0)
			continue;
		line.pos += length;
		text_blanks(&line);
		if (text_decimal_u32(&line, ret))
			return 0;
	}
	return EINVAL;
}

struct sp_error *tasks_process_of(const struct sp_ctx *ctx, uint32_t tid, uint32_t *pid_ret)
{
	int errnum = status_number(ctx, tid, "Tgid:", pid_ret);
	if (errnum == EINVAL)
		return error_new(SP_ERROR_FORMAT, "/proc/%u/status: no line Tgid", tid);
	return errnum ? error_os(errnum, "/proc/%u/status", tid) : NULL;
}

bool tasks_owner(const struct sp_ctx *ctx, uint32_t pid, uint32_t *uid_ret)
{
	return !status_number(ctx, pid, "Uid:", uid_ret);
}

static bool differs(const char *a, const char *b)
{
	struct stat left, right;
	return !stat(a, &left) && !stat(b, &right) &&
	       (left.st_dev != right.st_dev || left.st_ino != right.st_ino);
}

/* Paths to compare, and whether they differ from sprof's. */
struct root_job {
	char root[PATH_MAX], mounts[PATH_MAX];
	bool other;
};

static int compare_roots(void *bytes)
{
	struct root_job *job = bytes;
	job->other = differs(job->root, "/proc/self/root") ||
		     differs(job->mounts, "/proc/self/ns/mnt");
	return -1;
}

bool tasks_has_other_root(const struct sp_ctx *ctx, uint32_t pid)
{
	struct root_job job;
	snprintf(job.root, sizeof(job.root), "%s/proc/%u/root", ctx_root(ctx), pid);
	snprintf(job.mounts, sizeof(job.mounts), "%s/proc/%u/ns/mnt", ctx_root(ctx), pid);
	/* The root directory may be on a file system that does not answer. */
	return proxy_run(ctx_proxies(ctx), pid, compare_roots, &job, sizeof(job), NULL) &&
	       job.other;
}

uint32_t tasks_inner_id(const struct sp_ctx *ctx, uint32_t tid)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FREE char *path = format_text("%s/proc/%u/status", ctx_root(ctx), tid);
	size_t size;
	if (!path || io_read_file(path, &text, &size))
		return tid;
	char *line = strstr(text, "\nNSpid:");
	if (!line)
		return tid;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	const char *last = strrchr(line, '\t');
	unsigned long number = last ? strtoul(last + 1, NULL, 10) : 0;
	return number > 0 && number < UINT32_MAX ? (uint32_t)number : tid;
}
