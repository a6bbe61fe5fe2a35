/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line is "START-END rwxp OFFSET MAJ:MIN INO   PATH". In PATH, the kernel escapes only newlines,
 * as \012, and appends " (deleted)" if the file was unlinked or replaced.
 */
#include "proc/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "base/vec.h"
#include "proc/proc_text.h"

/* Same as struct procmap_query, which linux/fs.h has since Linux 6.11. */
struct map_query {
	uint64_t size;
	uint64_t query_flags, query_addr;	       /* in */
	uint64_t start, end, flags, page_size, offset; /* out */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size; /* in and out */
	uint64_t name_addr, build_id_addr; /* in */
};
_Static_assert(sizeof(struct map_query) == 104, "the kernel's struct procmap_query");

#define QUERY _IOWR('f', 17, struct map_query)
#define QUERY_READABLE 0x01
#define QUERY_WRITABLE 0x02
#define QUERY_EXECUTABLE 0x04
#define QUERY_SHARED 0x08
#define QUERY_COVERING_OR_NEXT 0x10

static const char deleted[] = " (deleted)";
#define DELETED_SIZE (sizeof(deleted) - 1)
/* The kernel's records have it in place of a path above PATH_MAX. */
static const char too_long[] = "//toolong";
#define BUILD_ID_LIMIT 20

/* Result of a query. */
struct query_result {
	struct map_query query;
	uint8_t build_id[BUILD_ID_LIMIT];
	char name[PATH_MAX + DELETED_SIZE + 1];
};

/* Size of an answer without its name. */
#define ANSWER_BYTES offsetof(struct query_result, name)

struct maps {
	enum maps_filter filter;
	struct maps_entry entry;
	size_t left; /* number of mappings that may still be returned */
	/* Used when reading text. */
	char *text; /* text to free; NULL: the caller's */
	char *file; /* for messages */
	struct cursor cursor;
	VEC(char) path;
	/* Used with PROCMAP_QUERY. */
	bool by_queries;
	int fd;	      /* -1: the cursor has the answers */
	int answered; /* errno (or 0) of a query with a result still to be returned; -1: none */
	struct query_result answer;
};

/* Request to a proxy, and its result. The descriptor is that of memory with the text or answers. */
struct maps_job {
	char file[64];
	bool by_queries; /* in: try them; out: they were made */
	size_t left;     /* mappings that are wanted */
	int errnum;
	size_t used;
	uint8_t room[512 << 10];
};
_Static_assert(sizeof(struct maps_job) <= PROXY_BYTES, "a job fits the memory of a proxy");

/* Sets the entry's path to `path`, and removes " (deleted)" from it in place. */
static void set_path(struct maps_entry *entry, char *path, size_t size)
{
	entry->deleted = size > DELETED_SIZE && path[0] == '/' &&
			 memcmp(path + size - DELETED_SIZE, deleted, DELETED_SIZE) == 0;
	if (entry->deleted)
		size -= DELETED_SIZE;
	path[size] = 0;
	entry->path = path;
}

/* Queries the executable mapping at or after `address`. Returns 0, ENOENT: none, or an errno. */
static int query_mapping(int fd, uint64_t address, struct query_result *ret)
{
	struct map_query *query = &ret->query;
	memset(ret->build_id, 0, sizeof(ret->build_id));
	*query = (struct map_query){
		.size = sizeof(*query),
		.query_flags = QUERY_EXECUTABLE | QUERY_COVERING_OR_NEXT,
		.query_addr = address,
		.name_size = sizeof(ret->name) - 1,
		.build_id_size = sizeof(ret->build_id),
		.name_addr = (uint64_t)(uintptr_t)ret->name,
		.build_id_addr = (uint64_t)(uintptr_t)ret->build_id,
	};
	int errnum = ioctl(fd, QUERY, query) < 0 ? errno : 0;
	if (errnum == ENAMETOOLONG) {
		query->name_size = query->name_addr = 0;
		errnum = ioctl(fd, QUERY, query) < 0 ? errno : 0;
		memcpy(ret->name, too_long, sizeof(too_long));
		query->name_size = sizeof(too_long);
	}
	if (errnum)
		return errnum;
	return query->build_id_size > sizeof(ret->build_id) ||
	       query->name_size > sizeof(ret->name) ? EPROTO : 0;
}

/* Writes the answers in the job's buffer, and empties it. */
static int write_room(struct maps_job *job, int to)
{
	int errnum = io_write(to, job->room, job->used);
	job->used = 0;
	return errnum;
}

/* Writes all answers. Returns 0 or an errno. `job->by_queries`: whether they are supported. */
static int write_answers(struct maps_job *job, int from, int to)
{
	uint64_t address = 0;
	int errnum = 0;
	for (; !errnum && job->left; job->left--) {
		struct query_result *answer =
			(struct query_result *)(void *)(job->room + job->used);
		errnum = query_mapping(from, address, answer);
		if (errnum)
			break;
		address = answer->query.end;
		job->used += (ANSWER_BYTES + answer->query.name_size + 7) & ~(size_t)7;
		if (sizeof(job->room) - job->used < sizeof(*answer) + 8)
			errnum = write_room(job, to);
	}
	job->by_queries = address || errnum == ENOENT;
	if (!job->by_queries)
		return 0;
	return !errnum || errnum == ENOENT || errnum == ESRCH ? write_room(job, to) : errnum;
}

/* Writes the text. It has the wanted mappings, and perhaps more. */
static int write_text(struct maps_job *job, int from, int to)
{
	int errnum = 0;
	do {
		errnum = io_read(from, job->room, sizeof(job->room), &job->used);
		/* ESRCH: the task exists but has no memory (a kernel thread or a zombie). */
		for (size_t i = 0; i < job->used && !errnum && job->left; i++)
			job->left -= job->room[i] == '\n';
	} while (!errnum && job->used && !(errnum = write_room(job, to)) && job->left);
	return errnum == ESRCH ? 0 : errnum;
}

static int read_maps(void *bytes)
{
	struct maps_job *job = bytes;
	CLEANUP_CLOSE int from = open(job->file, O_RDONLY | O_CLOEXEC);
	CLEANUP_CLOSE int to = from < 0 ? -1 : memfd_create("sprof-maps", MFD_CLOEXEC);
	job->errnum = to < 0 ? errno : 0;
	job->used = 0;
	if (!job->errnum && job->by_queries)
		job->errnum = write_answers(job, from, to);
	if (!job->errnum && !job->by_queries)
		job->errnum = write_text(job, from, to);
	return job->errnum ? -1 : take_fd(&to);
}

static bool parse_address_range(struct cursor *line, struct maps_entry *entry)
{
	return text_hex(line, &entry->start) && text_char(line, '-') &&
	       text_hex(line, &entry->end) && text_char(line, ' ') && entry->start < entry->end;
}

static bool parse_permissions(struct cursor *line, struct maps_entry *entry)
{
	const uint8_t *letters;
	if (!cursor_bytes(line, 4, &letters) || !text_char(line, ' '))
		return false;
	entry->prot = (letters[0] == 'r' ? PROT_READ : 0) | (letters[1] == 'w' ? PROT_WRITE : 0) |
		      (letters[2] == 'x' ? PROT_EXEC : 0);
	entry->flags = letters[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	return true;
}

static bool parse_file(struct cursor *line, struct maps_entry *entry)
{
	uint64_t maj, min;
	if (!text_hex(line, &entry->file_offset) || !text_char(line, ' ') ||
	    !text_hex(line, &maj) || !text_char(line, ':') || !text_hex(line, &min) ||
	    !text_char(line, ' ') || !text_decimal(line, &entry->ino) || maj > UINT32_MAX ||
	    min > UINT32_MAX)
		return false;
	entry->maj = maj;
	entry->min = min;
	return true;
}

/* Reads the next line that passes the filter; *found_ret is false at the end. */
static struct sp_error *next_line(struct maps *maps, bool *found_ret)
{
	struct cursor line;
	*found_ret = false;
	while (text_line(&maps->cursor, &line)) {
		maps->entry = (struct maps_entry){0};
		if (!parse_address_range(&line, &maps->entry) ||
		    !parse_permissions(&line, &maps->entry) || !parse_file(&line, &maps->entry))
			return cursor_error(&line, "not a line of maps");
		if (maps->filter == MAPS_EXECUTABLE && !(maps->entry.prot & PROT_EXEC))
			continue;
		*found_ret = true;
		/* The path is the rest of the line: unescape it. */
		text_blanks(&line);
		size_t size = cursor_left(&line), used = 0;
		NEED(vec_reserve(&maps->path, size + 1));
		while (cursor_left(&line)) {
			bool escaped = cursor_left(&line) >= 4 && memcmp(line.pos, "\\012", 4) == 0;
			maps->path.items[used++] = escaped ? '\n' : (char)*line.pos;
			line.pos += escaped ? 4 : 1;
		}
		set_path(&maps->entry, maps->path.items, used);
		return NULL;
	}
	return NULL;
}

static struct maps *maps_new(enum maps_filter filter)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	if (!maps)
		return NULL;
	maps->filter = filter;
	maps->fd = -1;
	maps->answered = -1;
	maps->left = SIZE_MAX;
	return maps;
}

/*
 * Opens the file for queries and makes the first one. False if the kernel does not support them: it
 * then fails with another errno than ENOENT.
 */
static bool open_queries(struct maps *maps)
{
	maps->fd = open(maps->file, O_RDONLY | O_CLOEXEC);
	if (maps->fd < 0)
		return false;
	maps->answered = query_mapping(maps->fd, 0, &maps->answer);
	maps->by_queries = maps->answered == 0 || maps->answered == ENOENT;
	if (maps->by_queries)
		return true;
	close(maps->fd);
	maps->fd = -1;
	return false;
}

static struct sp_error *open_text(struct maps *maps)
{
	size_t size = 0;
	int errnum = io_read_file(maps->file, &maps->text, &size);
	/* ESRCH: the task exists but has no memory (a kernel thread or a zombie). */
	if (errnum && errnum != ESRCH)
		return error_os(errnum, "%s", maps->file);
	maps->cursor = cursor_make(maps->text ?: "", size, false, maps->file, 0);
	return NULL;
}

/* The process may hold a lock while it waits, or have mapped a file that does not answer. */
static struct sp_error *open_by_proxy(struct maps *maps, struct proxies *proxies, uint32_t pid)
{
	struct proxy *proxy = proxy_get(proxies, pid);
	struct maps_job *job = proxy ? proxy_bytes(proxy) : NULL;
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	size_t size = 0;
	if (job) {
		snprintf(job->file, sizeof(job->file), "%s", maps->file);
		job->by_queries = maps->filter == MAPS_EXECUTABLE;
		job->left = maps->left;
	}
	if (!job || !proxy_call(proxies, proxy, read_maps, &fd))
		return error_new(SP_ERROR_PERMISSION, "%s: not read: the process, or others, wait "
				 "for a file system that does not answer", maps->file);
	int errnum = job->errnum;
	maps->by_queries = job->by_queries;
	proxy_release(proxies, proxy);
	if (!errnum && (fstat(fd, &status) || !(maps->text = malloc((size_t)status.st_size + 1))))
		errnum = ENOMEM;
	if (!errnum)
		errnum = io_pread(fd, maps->text, status.st_size, 0, &size);
	if (errnum)
		return error_os(errnum, "%s", maps->file);
	maps->cursor = cursor_make(maps->text, size, false, maps->file, 0);
	return NULL;
}

struct sp_error *maps_open(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
			   enum maps_filter filter, struct maps **ret)
{
	return maps_open_first(ctx, pid, tid, filter, SIZE_MAX, ret);
}

struct sp_error *maps_open_first(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
				 enum maps_filter filter, size_t limit, struct maps **ret)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = maps_new(filter);
	NEED(maps);
	maps->left = limit;
	maps->file = tid ? format_text("%s/proc/%u/task/%u/maps", ctx_root(ctx), pid, tid)
			 : format_text("%s/proc/%u/maps", ctx_root(ctx), pid);
	NEED(maps->file);
	struct proxies *proxies = ctx_proxies(ctx);
	if (proxies_are_on(proxies))
		TRY(open_by_proxy(maps, proxies, pid));
	else if (filter != MAPS_EXECUTABLE || !open_queries(maps))
		TRY(open_text(maps));
	*ret = take_ptr(maps);
	return NULL;
}

struct sp_error *maps_parse(const void *text, size_t size, const char *path,
			    enum maps_filter filter, struct maps **ret)
{
	struct maps *maps = maps_new(filter);
	NEED(maps);
	maps->cursor = cursor_make(text, size, false, path, 0);
	*ret = maps;
	return NULL;
}

void maps_free(struct maps *maps)
{
	if (!maps)
		return;
	if (maps->fd >= 0)
		close(maps->fd);
	vec_deinit(&maps->path);
	free(maps->text);
	free(maps->file);
	free(maps);
}

/* Reads an answer of a proxy. Returns 0 or ENOENT. */
static int read_answer(struct maps *maps)
{
	const uint8_t *head, *name;
	if (!cursor_bytes(&maps->cursor, ANSWER_BYTES, &head))
		return ENOENT;
	memcpy(&maps->answer, head, ANSWER_BYTES);
	size_t whole = (ANSWER_BYTES + maps->answer.query.name_size + 7) & ~(size_t)7;
	if (!cursor_bytes(&maps->cursor, whole - ANSWER_BYTES, &name))
		return ENOENT;
	memcpy(maps->answer.name, name, maps->answer.query.name_size);
	return 0;
}

static struct sp_error *next_answer(struct maps *maps, bool *found_ret)
{
	if (maps->fd < 0)
		maps->answered = read_answer(maps);
	else if (maps->answered < 0)
		maps->answered = query_mapping(maps->fd, maps->entry.end, &maps->answer);
	*found_ret = maps->answered == 0;
	if (maps->answered == 0) {
		/* Sets the entry to the answer. */
		struct maps_entry *entry = &maps->entry;
		const struct map_query *query = &maps->answer.query;
		*entry = (struct maps_entry){
			.start = query->start,
			.end = query->end,
			.file_offset = query->offset,
			.prot = (query->flags & QUERY_READABLE ? PROT_READ : 0) |
				(query->flags & QUERY_WRITABLE ? PROT_WRITE : 0) |
				(query->flags & QUERY_EXECUTABLE ? PROT_EXEC : 0),
			.flags = query->flags & QUERY_SHARED ? MAP_SHARED : MAP_PRIVATE,
			.maj = query->dev_major,
			.min = query->dev_minor,
			.ino = query->inode,
			.build_id_size = query->build_id_size,
		};
		memcpy(entry->build_id, maps->answer.build_id, query->build_id_size);
		set_path(entry, maps->answer.name,
			 query->name_size ? strnlen(maps->answer.name, query->name_size) : 0);
		maps->answered = -1;
		return NULL;
	}
	/* ESRCH: the process has ended. */
	if (maps->answered == ENOENT || maps->answered == ESRCH)
		return NULL;
	return error_os(maps->answered, "%s", maps->file);
}

struct sp_error *maps_next(struct maps *maps, const struct maps_entry **ret)
{
	bool found = false;
	if (maps->left)
		TRY(maps->by_queries ? next_answer(maps, &found) : next_line(maps, &found));
	maps->left -= found;
	*ret = found ? &maps->entry : NULL;
	return NULL;
}

int maps_start_of(uint32_t pid, uint64_t address, uint64_t *start_ret)
{
	char path[32];
	struct map_query query = {.size = sizeof(query), .query_addr = address};
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, QUERY, &query) < 0)
		return errno;
	*start_ret = query.start;
	return 0;
}

struct sp_error *maps_entry_mmap(const struct maps_entry *entry, uint32_t pid, struct sp_mmap *ret,
				 char **room_ret)
{
	/* Names that programs give their memory are not in the kernel's records. */
	bool is_anonymous = !*entry->path || strncmp(entry->path, "[anon", 5) == 0;
	bool is_long = strlen(entry->path) >= PATH_MAX;
	bool is_deleted = !is_anonymous && !is_long && entry->deleted;
	*room_ret = is_deleted ? format_text("%s (deleted)", entry->path) : NULL;
	if (is_deleted && !*room_ret)
		return error_no_memory();
	*ret = (struct sp_mmap){
		.pid = pid,
		.tid = pid,
		.start = entry->start,
		.size = entry->end - entry->start,
		.file_offset = entry->file_offset,
		.filename = is_anonymous ? "//anon" : is_long ? too_long
			    : is_deleted ? *room_ret : entry->path,
		.prot = entry->prot,
		.flags = entry->flags,
		.maj = entry->maj,
		.min = entry->min,
		.ino = entry->ino,
		.build_id_size = entry->build_id_size,
	};
	memcpy(ret->build_id, entry->build_id, entry->build_id_size);
	return NULL;
}
