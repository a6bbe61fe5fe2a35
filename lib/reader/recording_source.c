/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens a recording by its path. The result is a file that can be read at any offset: a plain file, a
 * copy of standard input, or the files of a directory of `perf record --threads`.
 */
#include "reader/recording_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/temp_file.h"

#define COPY_SIZE ((size_t)256 * 1024)

/* Time that a FIFO's writer may take to open it. */
#define WRITER_TIMEOUT_MS 10000

bool source_is_recording(const void *bytes, size_t size, bool *swap_ret)
{
	uint64_t magic;
	if (size < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	*swap_ret = magic == __builtin_bswap64(FILE_MAGIC);
	return *swap_ret || magic == FILE_MAGIC || !memcmp(bytes, FILE_MAGIC_V1, sizeof(magic));
}

/*
 * Copies a stream to a temporary file. If its first bytes are no recording's, nothing more is copied.
 */
static struct sp_error *copy_stream(const char *path, int fd, struct temp_file *temp)
{
	CLEANUP_FREE uint8_t *buffer = malloc(COPY_SIZE);
	struct sp_error *error = buffer ? NULL : error_no_memory();
	bool swap, first = true;
	while (!error) {
		size_t got;
		int errnum = io_read(fd, buffer, first ? 8 : COPY_SIZE, &got);
		if (errnum)
			return error_os(errnum, "cannot read %s", path);
		if (!got || (first && !source_is_recording(buffer, got, &swap)))
			return temp_file_append(temp, buffer, got);
		first = false;
		error = temp_file_append(temp, buffer, got);
	}
	return error;
}

static struct sp_error *copy_to_temp_file(struct sp_reader *reader)
{
	CLEANUP(temp_file_deinit) struct temp_file temp = TEMP_FILE_NONE;
	int fd;
	TRY(temp_file_init(&temp));
	TRY(copy_stream(reader->path, reader->fd, &temp));
	TRY(temp_file_finish(&temp, &fd));
	close(reader->fd);
	reader->fd = fd;
	reader->file_size = temp.size;
	return NULL;
}

/* Opens a file in the recording's directory, which may belong to another user. */
static struct sp_error *open_member(int directory, const char *path, int *fd_ret,
				    struct stat *status_ret)
{
	CLEANUP_FREE char *shown = format_text("cannot open %s", path);
	NEED(shown);
	return regular_file_open_at(directory, strrchr(path, '/') + 1, 0, shown, fd_ret,
				    status_ret);
}

/* Opens the file `data` of a directory in place of the directory itself. */
static struct sp_error *open_in_directory(struct sp_reader *reader)
{
	struct stat status;
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_FREE char *path = format_text("%s/data", reader->path);
	TRY(path ? open_member(reader->fd, path, &fd, &status) : error_no_memory());
	reader->directory_fd = reader->fd;
	reader->fd = take_fd(&fd);
	reader->file_size = status.st_size;
	reader->info.mode = SP_READER_DIRECTORY;
	return NULL;
}

/* Returns whether a process has the FIFO open for writing; true if that is unknown. */
static bool has_writer(int fd)
{
	int copy[2];
	if (pipe2(copy, O_CLOEXEC))
		return true;
	ssize_t got = tee(fd, copy[1], 1, SPLICE_F_NONBLOCK);
	close(copy[0]);
	close(copy[1]);
	return got;
}

/*
 * Opens a file by the name that the user gave. It may wait for a FIFO, but opens no device, because
 * the name may be another user's link. A FIFO of that user could fill the disk with its copy.
 */
static struct sp_error *open_named(struct sp_reader *reader, struct stat *status_ret)
{
	CLEANUP_FREE char *shown = format_text("cannot open %s", reader->path);
	NEED(shown);
	TRY(regular_file_open_at(AT_FDCWD, reader->path, REGULAR_FILE_OR_PIPE, shown, &reader->fd,
				 status_ret));
	if (!S_ISFIFO(status_ret->st_mode))
		return NULL;
	if (status_ret->st_uid && status_ret->st_uid != geteuid())
		return error_set_remedy(error_new(SP_ERROR_PERMISSION,
						  "cannot open %s: the FIFO "
						  "belongs to user %u",
						  reader->path, status_ret->st_uid),
					"if you trust its writer: cat %s | sprof report -i -",
					reader->path);
	/* Waits for a FIFO's first byte or end. Fails if no process opens it for writing. */
	struct pollfd poll_fd = {.fd = reader->fd, .events = POLLIN};
	if (!poll(&poll_fd, 1, WRITER_TIMEOUT_MS) && !has_writer(reader->fd))
		return error_set_remedy(error_new(SP_ERROR_INVALID,
						  "cannot read %s: no program writes to "
						  "this FIFO",
						  reader->path),
					"start the program that writes to it first");
	int flags = fcntl(reader->fd, F_GETFL);
	if (flags < 0 || fcntl(reader->fd, F_SETFL, flags & ~O_NONBLOCK))
		return error_os(errno, "cannot read %s", reader->path);
	return NULL;
}

static struct sp_error *stat_open_file(struct sp_reader *reader, struct stat *status_ret)
{
	if (fstat(reader->fd, status_ret))
		return error_os(errno, "cannot open %s", reader->path);
	return NULL;
}

struct sp_error *source_open(struct sp_reader *reader)
{
	struct stat status;
	TRY(reader->fd < 0 ? open_named(reader, &status) : stat_open_file(reader, &status));
	if (S_ISDIR(status.st_mode))
		return open_in_directory(reader);
	if (!S_ISREG(status.st_mode))
		return copy_to_temp_file(reader);
	reader->file_size = status.st_size;
	return NULL;
}

/* Returns the number in "data.NUMBER", a file of perf's directories; -1 for other names. */
static long part_number(const char *name)
{
	long number = 0;
	if (strncmp(name, "data.", 5) || !name[5] || (name[5] == '0' && name[6]))
		return -1;
	for (name += 5; *name; name++) {
		if (*name < '0' || *name > '9' || number > 1000000)
			return -1;
		number = number * 10 + (*name - '0');
	}
	return number;
}

static int compare_numbers(const void *a, const void *b)
{
	const long *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

static struct sp_error *add_part(struct sp_reader *reader, long number, struct source_parts *parts)
{
	struct stat status;
	CLEANUP_FREE char *path = format_text("%s/data.%ld", reader->path, number);
	NEED(path);
	CLEANUP_CLOSE int fd = -1;
	TRY(open_member(reader->directory_fd, path, &fd, &status));
	const char *kept = reader_copy_text(reader, path, strlen(path));
	NEED(kept && vec_reserve(parts, parts->count + 1));
	parts->items[parts->count++] = (struct flat_source){
		.fd = take_fd(&fd), .extent = {0, (uint64_t)status.st_size}, .path = kept};
	return NULL;
}

struct sp_error *source_list_parts(struct sp_reader *reader, struct source_parts *parts)
{
	VEC(long) numbers = {0};
	struct sp_error *error = NULL;
	int fd = openat(reader->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(cleanup_closedir) DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	if (!directory && fd >= 0)
		close(fd);
	if (!directory)
		return error_os(errno, "cannot list %s", reader->path);
	for (struct dirent *entry; !error && (entry = readdir(directory));) {
		long number = part_number(entry->d_name);
		if (number < 0)
			continue;
		if (vec_reserve(&numbers, numbers.count + 1))
			numbers.items[numbers.count++] = number;
		else
			error = error_no_memory();
	}
	vec_sort(&numbers, compare_numbers);
	for (size_t i = 0; !error && i < numbers.count; i++)
		error = add_part(reader, numbers.items[i], parts);
	vec_deinit(&numbers);
	return error;
}

void source_parts_deinit(struct source_parts *parts)
{
	vec_each (part, parts)
		close(part->fd);
	vec_deinit(parts);
}
