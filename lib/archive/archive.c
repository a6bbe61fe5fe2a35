/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Appends stored names to a recording. Analyses with a log in their resolvers find the names
 * (symbol/module_names.h): one of functions and lines, and others if samples have branches or data
 * addresses. All new bytes are made in memory, and written at the end in one step.
 */
#include <sprof/archive.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sprof/reader.h>
#include "archive/function_code.h"
#include "archive/hidden_arguments.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "base/sized.h"
#include "capture/recorder.h"
#include "file/reader_struct.h"
#include "stacks/dump_unwind.h"
#include "stored/chunks.h"
#include "stored/stored.h"
#include "stored/stored_names.h"
#include "symbol/kept_names.h"
#include "symbol/resolver.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

DEFINE_CLEANUP(struct sp_reader *, sp_reader_free)
DEFINE_CLEANUP(struct sp_names *, sp_names_free)

/* An archive being made. */
struct archive_writer {
	struct sp_ctx *ctx;
	struct sp_archive_options options;
	struct sp_reader *reader;   /* the recording, for its events and its file */
	struct stat status;         /* the file when it was opened */
	struct stored_names names;  /* found names */
	size_t shown_arguments;     /* command lines that could not be hidden */
	size_t denied;              /* files that could not be read for lack of rights */
	struct record_buffer bytes; /* records to append */
};

static void archive_deinit(struct archive_writer *archive)
{
	stored_names_deinit(&archive->names);
	vec_deinit(&archive->bytes);
	sp_reader_free(archive->reader);
}

/* -- Names ----------------------------------------------------------------- */

/* Keys of the analyses. Lines are among them all: without, frames of different lines are one. */
static const enum sp_key code_keys[] = {SP_KEY_FUNCTION, SP_KEY_SRCLINE};
static const enum sp_key function_keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
static const enum sp_key branch_keys[] = {SP_KEY_SYMBOL_FROM, SP_KEY_SYMBOL_TO, SP_KEY_SRCLINE_FROM,
					  SP_KEY_SRCLINE_TO};
static const enum sp_key data_keys[] = {SP_KEY_SYMBOL_DADDR, SP_KEY_SRCLINE};

/* Runs an analysis. Its resolver logs to `names`. */
static struct sp_error *run(const struct archive_writer *archive, struct sp_names *names,
			    const struct sp_analysis_rows *rows, bool branches)
{
	const struct sp_analysis_tree tree = {
		.size = sizeof(tree),
		/* A tree would ask for sources without lines: a module knows one kind at a time. */
		.order = branches || rows->annotate ? SP_TREE_NONE : SP_TREE_CALLER,
		.least = 1,
	};
	const struct sp_analysis_samples samples = {.size = sizeof(samples), .branches = branches};
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = rows,
		.tree = &tree,
		.samples = &samples,
		.files = archive->options.files,
		.threads = archive->options.threads,
		.names = names,
	};
	CLEANUP(cleanup_sp_reader_free) struct sp_reader *reader = NULL;
	struct sp_analysis *analysis = NULL;
	/* Its path may name another recording by now. */
	struct sp_error *error = sp_reader_open_fd(archive->ctx, archive->reader->fd,
						   sp_reader_info(archive->reader)->path, &reader);
	if (!error)
		error = sp_analysis_run(archive->ctx, reader, &options, &analysis);
	if (!error && rows->annotate)
		error = function_code_log(analysis);
	sp_analysis_free(analysis);
	return error;
}

/* Returns whether any event's samples have one of these fields. */
static bool samples_have(const struct sp_reader *reader, uint64_t fields)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (sp_reader_event(reader, i)->attr.sample_type & fields)
			return true;
	return false;
}

/* Returns whether stacks are unwound when the recording is read, which needs the files. */
static bool has_stack_copies(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (dump_unwind_has_dump(&sp_reader_event(reader, i)->attr))
			return true;
	return false;
}

static struct sp_error *run_all(const struct archive_writer *archive, struct sp_names *names)
{
	const struct {
		struct sp_analysis_rows rows;
		bool wanted, branches;
	} runs[] = {
		{{.keys = code_keys, .key_count = 2, .children = true}, true, false},
		{{.keys = branch_keys, .key_count = 4},
		 samples_have(archive->reader, PERF_SAMPLE_BRANCH_STACK), true},
		{{.keys = data_keys, .key_count = 2},
		 samples_have(archive->reader, PERF_SAMPLE_ADDR), false},
		{{.keys = function_keys, .key_count = 2, .annotate = true},
		 archive->options.code, false},
	};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(runs) && !error; i++) {
		struct sp_analysis_rows rows = runs[i].rows;
		rows.size = sizeof(rows);
		if (runs[i].wanted)
			error = run(archive, names, &rows, runs[i].branches);
	}
	return error;
}

/* Finds out what the recording already stores, which a new archive must keep. */
static struct sp_error *find_stored(const struct sp_reader *reader, bool *files_ret, bool *code_ret)
{
	struct stored *stored = NULL;
	struct sp_error *error = stored_open(reader->fd, reader->whole_size, reader->path, &stored);
	const struct stored_names *names = stored ? stored_names_of(stored) : NULL;
	*files_ret = *code_ret = false;
	for (size_t i = 0; names && i < names->count; i++) {
		const struct stored_module *module = &names->items[i];
		*files_ret |= module->file && module->key.kind == MODULE_FILE;
		vec_each (code, &module->codes)
			*code_ret |= code->size > SP_CODE_MAX;
	}
	stored_free(stored);
	return error;
}

static struct sp_error *find_names(struct archive_writer *archive)
{
	CLEANUP(cleanup_sp_names_free) struct sp_names *names = NULL;
	bool files, code;
	TRY(sp_names_new(&names));
	struct sp_error *error = find_stored(archive->reader, &files, &code);
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	/* Damaged ones are replaced. */
	sp_error_free(error);
	files |= archive->options.binaries || has_stack_copies(archive->reader);
	archive->options.code |= code;
	archive->names.file_limit = archive->options.files_limit;
	kept_names_set_store(names, &archive->names, files);
	kept_names_set_jit_memory(names, archive->options.jit_limit);
	if (archive->options.capture)
		kept_names_set_held(names, capture_held_files(archive->options.capture),
				    archive->options.capture->maps);
	error = run_all(archive, names);
	archive->denied = kept_names_denied(names);
	return error || kept_names_stored_all(names) ? error : error_no_memory();
}

/* -- The file -------------------------------------------------------------- */

/* Returns whether another process has the file open for writing, as far as the file system knows. */
static bool is_being_written(int fd)
{
	/* A lease that is broken at once must not end the process: SIGURG is ignored by default. */
	if (fcntl(fd, F_SETSIG, SIGURG))
		return false;
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* Refuses recordings of other users: names would tell them about files that they may not read. */
static struct sp_error *check_owner(const struct archive_writer *archive)
{
	uid_t owner = archive->status.st_uid;
	if (archive->options.capture || owner == 0 || owner == geteuid())
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_PERMISSION,
					  "%s belongs to user %u, who would "
					  "get names from files that you may read",
					  archive->reader->path, owner),
				"store names as that user, or in a copy that only you may read");
}

/* Opens the reader's file for writing, whatever its path now names, and locks it. */
static struct sp_error *open_to_write(const struct sp_reader *reader, int *ret)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", reader->fd);
	/* O_NONBLOCK: do not wait for another process's lease. */
	CLEANUP_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_os(errno, "cannot write to %s", reader->path);
	if (flock(fd, LOCK_EX | LOCK_NB))
		return error_set_remedy(error_os(errno, "cannot lock %s", reader->path),
					"try again when no other process stores names in it");
	*ret = take_fd(&fd);
	return NULL;
}

/*
 * Makes the bytes the file's last ones, from `offset` on. The first header is written last, so that a
 * reader meanwhile finds no chunk, instead of an incomplete one. In a stream, where zeros are no record,
 * all is written in order. Returns 0 or the errno.
 */
static int write_at(int fd, const struct record_buffer *bytes, uint64_t offset, bool stream)
{
	static const uint8_t none[HEADER_SIZE];
	if (stream && ftruncate(fd, offset))
		return errno;
	if (stream)
		return io_pwrite(fd, bytes->items, bytes->count, offset);
	int errnum = io_pwrite(fd, none, HEADER_SIZE, offset);
	if (!errnum)
		errnum = io_pwrite(fd, bytes->items + HEADER_SIZE, bytes->count - HEADER_SIZE,
				   offset + HEADER_SIZE);
	if (!errnum && ftruncate(fd, offset + bytes->count))
		errnum = errno;
	return errnum ?: io_pwrite(fd, bytes->items, HEADER_SIZE, offset);
}

static bool has_changed(const struct stat *before, const struct stat *now)
{
	return before->st_size != now->st_size || before->st_mtim.tv_sec != now->st_mtim.tv_sec ||
	       before->st_mtim.tv_nsec != now->st_mtim.tv_nsec;
}

/* Replaces the file's chunks by the new bytes; after a failure, the file has none. */
static struct sp_error *append(struct archive_writer *archive)
{
	const struct sp_reader *reader = archive->reader;
	struct stat status;
	CLEANUP_CLOSE int fd = -1;
	CLEANUP(chunks_deinit) struct stored_chunks before = {0};
	TRY(open_to_write(reader, &fd));
	if (fstat(fd, &status))
		return error_os(errno, "cannot read %s", reader->path);
	if (has_changed(&archive->status, &status))
		return error_new(SP_ERROR_UNSUPPORTED, "%s was changed while its names were looked up; "
				 "store them again", reader->path);
	if (archive->options.hide_arguments)
		TRY(arguments_hide(archive->reader, fd, &archive->shown_arguments));
	TRY(chunks_list(fd, status.st_size, reader->path, &before));
	if (!archive->names.count && !before.count)
		return NULL;
	uint64_t limit = archive->options.size_limit;
	if (limit && before.begin + archive->bytes.count > limit)
		return error_new(SP_ERROR_LIMIT, "names do not fit in %s: its limit is %llu bytes",
				 reader->path, (unsigned long long)limit);
	sigset_t all, mask;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	int errnum = write_at(fd, &archive->bytes, before.begin, reader->pipe_format);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (!errnum)
		return NULL;
	if (ftruncate(fd, before.begin))
		errnum = errno;
	return error_os(errnum, "cannot store names in %s", reader->path);
}

static void buffer_deinit(struct record_buffer *buffer)
{
	vec_deinit(buffer);
}

/* -- The archive ----------------------------------------------------------- */

/* Makes all chunks. Those of files exist already, and are not copied. */
static struct sp_error *encode(struct archive_writer *archive)
{
	CLEANUP(buffer_deinit) struct record_buffer data = {0};
	archive->bytes = archive->names.files;
	archive->names.files = (struct record_buffer){0};
	TRY(stored_names_encode(&archive->names, &data));
	TRY(chunk_encode(&archive->bytes, CHUNK_NAMES, data.items, data.count));
	return chunks_encode_end(&archive->bytes);
}

/* Counts names; `bytes` are those of their chunks. */
static struct sp_archive_summary summary_of(const struct stored_names *names, uint64_t bytes)
{
	struct sp_archive_summary summary = {.bytes = bytes};
	vec_each (module, names) {
		summary.modules += module->points.count != 0;
		summary.addresses += module->points.count;
		summary.files += module->file != 0;
		summary.left_out += module->left_out ||
				    module->symbols_problem.problem == RESOLVER_TOO_LARGE;
		summary.left_out_bytes += module->left_out;
	}
	return summary;
}

static struct sp_error *make(struct archive_writer *archive, const char *path)
{
	TRY(sp_reader_open(archive->ctx, path, &archive->reader));
	if (fstat(archive->reader->fd, &archive->status))
		return error_os(errno, "cannot read %s", path);

	/* Refuses recordings that are not one plain file of that path. */
	struct stat named;
	const struct sp_reader *reader = archive->reader;
	const struct stat *opened = &archive->status;
	const struct sp_file_info *info = sp_reader_info(reader);
	if (info->mode == SP_READER_DIRECTORY)
		return error_new(SP_ERROR_UNSUPPORTED,
				 "%s is a directory: names can only be stored in a file",
				 info->path);
	if (!strcmp(info->path, "-") || stat(info->path, &named) ||
	    named.st_ino != opened->st_ino || named.st_dev != opened->st_dev)
		return error_new(SP_ERROR_UNSUPPORTED,
				 "%s is not a plain recording: names cannot be stored "
				 "in pipes and compressed files",
				 info->path);
	if (reader->pipe_format && info->big_endian)
		return error_new(SP_ERROR_UNSUPPORTED, "%s is a big-endian stream: names cannot be "
				 "stored in it", info->path);
	if (access(info->path, W_OK))
		return error_os(errno, "cannot write to %s", info->path);
	if (is_being_written(reader->fd))
		return error_new(SP_ERROR_UNSUPPORTED,
				 "%s is still being written: store names when its "
				 "recorder has ended",
				 info->path);
	TRY(check_owner(archive));
	TRY(find_names(archive));
	TRY(encode(archive));
	if (archive->options.before_write)
		archive->options.before_write();
	return append(archive);
}

struct sp_error *sp_archive(struct sp_ctx *ctx, const char *path,
			    const struct sp_archive_options *options, struct sp_archive_summary *ret)
{
	CLEANUP(archive_deinit) struct archive_writer archive = {.ctx = ctx};
	TRY(sized_copy(&archive.options, sizeof(archive.options), options));
	struct sp_error *error = make(&archive, path);
	if (!error && ret)
		*ret = summary_of(&archive.names, archive.bytes.count);
	if (!error && ret) {
		ret->denied = archive.denied;
		ret->shown_arguments = archive.shown_arguments;
	}
	return error;
}

struct sp_error *sp_archive_read(const struct sp_reader *reader, struct sp_archive_summary *ret)
{
	struct stored *stored = NULL;
	*ret = (struct sp_archive_summary){0};
	struct sp_error *error = stored_open(reader->fd, reader->whole_size, reader->path, &stored);
	if (!error && stored)
		*ret = summary_of(stored_names_of(stored), reader->whole_size - reader->file_size);
	stored_free(stored);
	return error;
}
