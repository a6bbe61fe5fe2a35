/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for JIT code with a jitdump. A module's offsets are file offsets of the code's bytes in the
 * dump, so code that was at one address at different times has different offsets. The dump may have
 * grown since the recording, but it must be the same file.
 */
#include "symbol/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "machine/modules.h"
#include "stored/stored_files.h"
#include "symbol/jit_files.h"
#include "symbol/process_file.h"

#define SIZE_MAX_BYTES ((off_t)64 << 30)

/* Returns PID of "…/jit-PID.dump". */
static uint32_t number_of(const char *path)
{
	const char *digits = strchr(path_base(path), '-');
	return digits ? (uint32_t)strtoul(digits + 1, NULL, 10) : 0;
}

static struct sp_error *read_own(const struct jitdump_request *request,
				 const struct jit_file_place *place, struct diagnosis *diagnosis,
				 const struct jitdump **ret)
{
	const struct jitdump *dump;
	TRY(jit_files_jitdump(request->files, place, diagnosis, &dump));
	if (dump && dump->pid != number_of(request->module->path))
		diagnosis_set(diagnosis, RESOLVER_NO_PERF_MAP, NULL,
			      "%s is of another process (%u): ignored", place->path, dump->pid);
	else
		*ret = dump;
	return NULL;
}

/* Reads the dump that the recording stores. */
static struct sp_error *open_stored(const struct jitdump_request *request,
				    struct diagnosis *diagnosis, const struct jitdump **ret)
{
	const struct stored_key key = binary_stored_key(request->module);
	CLEANUP_CLOSE int fd = -1;
	TRY(stored_open_fd(request->stored, &key, &fd));
	if (fd < 0)
		return NULL;
	const struct jit_file_place place = {.fd = fd, .path = request->module->path,
					     .stored = request->stored, .key = key};
	return read_own(request, &place, diagnosis, ret);
}

struct sp_error *jitdump_open(const struct jitdump_request *request, struct diagnosis *diagnosis,
			      const struct jitdump **ret)
{
	const struct module *module = request->module;
	const char *symfs = request->symfs;
	CLEANUP_FREE char *recorded = binary_recorded_path(module);
	CLEANUP_FREE char *path = NULL;
	CLEANUP_CLOSE int fd = -1;
	*ret = NULL;
	NEED(recorded);
	if (modules_is_perf_map(module->path))
		return NULL;
	const struct process_file file = {
		.ctx = request->ctx,
		.symfs = symfs,
		.pid = request->pid,
		.within = recorded,
		.here = recorded,
		.size_max = SIZE_MAX_BYTES,
		.host = request->host,
		.ino = module->ino,
	};
	const struct held_maps *held = jit_files_held(request->files);
	const int held_fd = held_maps_dump(held, request->pid, module->ino);
	if (held_fd < 0)
		TRY(process_file_open(&file, diagnosis, &fd, &path));
	if (held_fd >= 0) {
		const struct jit_file_place place = {
			.fd = held_fd, .path = recorded, .is_held = true};
		TRY(read_own(request, &place, diagnosis, ret));
	} else if (fd >= 0) {
		const struct jit_file_place place = {.fd = fd, .path = path, .root = symfs};
		TRY(read_own(request, &place, diagnosis, ret));
	}
	if (!*ret && request->stored)
		TRY(open_stored(request, diagnosis, ret));
	if (*ret)
		diagnosis_clear(diagnosis);
	else if (diagnosis->problem == RESOLVER_OK)
		diagnosis_set(diagnosis, RESOLVER_MISSING_FILE,
			      "keep it until the report, or use --symfs DIR with the recorded files",
			      "%s not found, which has the symbols of JIT code",
			      recorded);
	return NULL;
}

/* Opens the dump's file again. The result is -1 if it was replaced. */
static int open_again(const struct jitdump *dump, struct stat *status_ret)
{
	CLEANUP_CLOSE int fd = -1;
	if (dump->held_fd >= 0)
		fd = fcntl(dump->held_fd, F_DUPFD_CLOEXEC, 3);
	else if (dump->stored)
		sp_error_free(stored_open_fd(dump->stored, &dump->key, &fd));
	else
		sp_error_free(regular_file_open(dump->root, dump->path + strlen(dump->root ?: ""),
						REGULAR_FILE_NO_LINK, &fd, status_ret));
	if (fd < 0 || fstat(fd, status_ret) || status_ret->st_dev != dump->device ||
	    status_ret->st_ino != dump->inode)
		return -1;
	return take_fd(&fd);
}

/* Reads bytes of the file. Returns false if it was replaced, or is too short. */
static bool read_bytes(const struct jitdump *dump, uint64_t offset, size_t size, uint8_t *ret)
{
	struct stat status;
	CLEANUP_CLOSE int fd = open_again(dump, &status);
	size_t done;
	return fd >= 0 && io_pread(fd, ret, size, offset, &done) == 0 && done == size;
}

struct sp_error *jitdump_store(const struct jitdump_request *request, struct stored_names *names,
			       struct stored_module *module)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	const struct jitdump *dump;
	struct stat status;
	struct sp_error *error = jitdump_open(request, &why, &dump);
	CLEANUP_CLOSE int fd = dump ? open_again(dump, &status) : -1;
	if (error || fd < 0)
		return error;
	return stored_file_add_whole(names, module, fd, status.st_size);
}

bool jitdump_read_frames(const struct jitdump *dump, const struct jitdump_code *code, uint8_t *ret)
{
	return code->frames_size &&
	       read_bytes(dump, code->frames_offset, code->frames_size, ret);
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	const struct jitdump *dump = NULL;
	if (module->kind != MODULE_JIT)
		return NULL;
	const struct jitdump_request request = {
		.ctx = env->ctx,
		.symfs = env->options.symfs,
		.host = env->binary.provenance.host,
		.module = module,
		.pid = pid ?: module->pid,
		.stored = env->binary.stored,
		.files = env->jit,
	};
	struct sp_error *error = jitdump_open(&request, diagnosis, &dump);
	*ret = (void *)(uintptr_t)dump;
	return error;
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	const struct jitdump *dump = opened;
	(void)diagnosis;
	const struct jitdump_code *code = jitdump_find(dump, location->offset);
	if (!code)
		return false;
	*ret = (struct found){
		.key = code->file_offset,
		.raw_name = code->name,
		.start = code->file_offset,
		.size = code->size,
	};
	return true;
}

static bool names_have_lines(void *opened, const struct source_env *env,
			     const struct module *module)
{
	(void)env, (void)module;
	return ((const struct jitdump *)opened)->lines.count > 0;
}

/*
 * Returns the key of a frame: places in one function share it, and if lines matter, places in one line.
 */
static uint64_t frame_key(const struct jitdump_code *code, const struct jitdump_line *line,
			  bool lines)
{
	uint64_t key = hash_pair(code->file_offset, lines);
	return lines ? hash_pair(hash_pair(key, (uintptr_t)line->file), line->line) : key;
}

static struct sp_error *names_frames(void *opened, const uint64_t *offsets, size_t count,
				     struct arena *arena, struct source_frames *ret)
{
	const struct jitdump *dump = opened;
	struct u64map known = {0};
	bool good = true;
	CLEANUP_FREE const struct source_frame **made = calloc(count + 1, sizeof(*made));
	for (size_t i = 0; made && good && i < count; i++) {
		const struct jitdump_code *code = jitdump_find(dump, offsets[i]);
		const struct jitdump_line *line =
			code ? jitdump_line_at(dump, code, offsets[i]) : NULL;
		bool added;
		if (!line)
			continue;
		const uint32_t *number = u64map_put(&known, frame_key(code, line, ret->lines),
						    ret->distinct, &added);
		struct source_frame *frame =
			number && added ? arena_alloc(arena, sizeof(*frame)) : NULL;
		good = number && (frame || !added);
		if (frame) {
			*frame = (struct source_frame){
				.name = code->name,
				.raw_name = code->name,
				.file = line->file,
				.start = code->file_offset,
				.line = line->line,
				.number = *number,
			};
			made[ret->distinct++] = frame;
		}
		ret->items[i] = good ? made[*number] : NULL;
	}
	u64map_deinit(&known);
	return made && good ? NULL : error_no_memory();
}

/* Reads bytes of one function, and zeros after its end, where the dump has other data. */
static bool names_read_code(void *opened, uint64_t offset, uint64_t from, size_t size,
			    uint8_t *ret, uint16_t *machine_ret)
{
	const struct jitdump *dump = opened;
	const struct jitdump_code *code = jitdump_find(dump, offset);
	if (!code || from < code->file_offset || from - code->file_offset >= code->size)
		return false;
	uint64_t left = code->size - (from - code->file_offset);
	size_t wanted = size < left ? size : (size_t)left;
	*machine_ret = dump->machine;
	memset(ret, 0, size);
	return read_bytes(dump, from, wanted, ret);
}

const struct source source_jitdump = {
	.name = "jitdump",
	.open = names_open,
	.find = names_find,
	.has_lines = names_have_lines,
	.frames = names_frames,
	.read_code = names_read_code,
};
