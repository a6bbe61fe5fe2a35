/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for JIT code with a perf map: the one that the recorder holds; else /tmp/perf-PID.map in
 * the process's mount namespace (and by its pid there) if the process still runs, or in /tmp here.
 * Runtimes that never map memory both writable and executable (.NET) have their code in a memfd.
 */
#include "symbol/process_perfmap.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/io.h"
#include "machine/modules.h"
#include "proc/proc_tasks.h"
#include "stored/stored.h"
#include "stored/stored_files.h"
#include "symbol/process_file.h"

/* Limit of a map's size: 100 bytes a line for five million functions. */
#define SIZE_MAX_BYTES ((off_t)512 << 20)

#define WRITE_ONE                                                                                  \
	"let the runtime write a perf map: node --perf-basic-prof, "                               \
	"java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, PYTHONPERFSUPPORT=1, "        \
	"DOTNET_PerfMapEnabled=1"

#define MEMFD "/memfd:"

/* Opens the process's file, unless the recorder holds it open. */
static struct sp_error *open_file(const struct process_perfmap *process,
				  const struct held_map *held, struct diagnosis *diagnosis,
				  int *fd_ret, char **path_ret)
{
	uint32_t number = held ? held->number : process->pid;
	char within[48], here[48];
	snprintf(within, sizeof(within), "/tmp/perf-%u.map",
		 held ? number : tasks_inner_id(process->ctx, process->pid));
	snprintf(here, sizeof(here), "/tmp/perf-%u.map", number);
	const struct process_file file = {
		.ctx = process->ctx,
		.symfs = process->symfs,
		.host = process->host,
		.pid = process->pid,
		.within = within,
		.here = here,
		.size_max = SIZE_MAX_BYTES,
		.ino = held ? held->inode : 0,
	};
	if (!held || held->fd < 0)
		return process_file_open(&file, diagnosis, fd_ret, path_ret);
	*fd_ret = fcntl(held->fd, F_DUPFD_CLOEXEC, 3);
	*path_ret = strdup(here);
	return *path_ret ? NULL : error_no_memory();
}

/* Returns whether the writer of the map has ended, as far as is known. */
static bool is_ended(const struct process_perfmap *process, const struct held_map *held)
{
	uid_t owner;
	if (held)
		return held->ended;
	return (process->symfs && *process->symfs) || process->host == HOST_OTHER ||
	       !tasks_owner(process->ctx, process->pid, &owner);
}

struct sp_error *process_perfmap_open(const struct process_perfmap *process,
				      struct diagnosis *diagnosis, const struct perfmap **ret)
{
	CLEANUP_FREE char *path = NULL;
	CLEANUP_CLOSE int fd = -1;
	const struct held_map *held = held_maps_find(jit_files_held(process->files), process->pid);
	held = held && held->found ? held : NULL;
	struct sp_error *error = open_file(process, held, diagnosis, &fd, &path);
	if (error || fd < 0)
		return error;
	const struct jit_file_place place = {
		.fd = fd, .path = path, .held = held, .ended = is_ended(process, held)};
	error = jit_files_perfmap(process->files, &place, diagnosis, ret);
	size_t bad = *ret ? perfmap_bad_lines(*ret) : 0;
	size_t unread = *ret ? perfmap_unread_lines(*ret) : 0;
	if (*ret)
		diagnosis_clear(diagnosis); /* set by an earlier candidate */
	if (bad)
		diagnosis_set(diagnosis, RESOLVER_NO_PERF_MAP, NULL,
			      "%s: %zu line%s ignored (not START SIZE NAME, in hexadecimal)",
			      path, bad, bad == 1 ? "" : "s");
	if (unread)
		diagnosis_set(diagnosis, RESOLVER_NO_PERF_MAP, NULL,
			      "%s: too many lines; the last %zu are ignored", path, unread);
	return error;
}

static struct sp_error *find_map(const struct source_env *env, uint32_t pid,
				 struct diagnosis *diagnosis, const struct perfmap **ret)
{
	const struct process_perfmap process = {
		.ctx = env->ctx,
		.symfs = env->options.symfs,
		.host = env->binary.provenance.host,
		.pid = pid,
		.files = env->jit,
	};
	return process_perfmap_open(&process, diagnosis, ret);
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	bool memfd = module->kind == MODULE_FILE && !strncmp(module->path, MEMFD, strlen(MEMFD));
	bool timed = module->kind == MODULE_JIT && modules_is_perf_map(module->path);
	if (module->kind != MODULE_ANONYMOUS && !memfd && !(timed && jit_files_held(env->jit)))
		return NULL;
	const struct perfmap *found = NULL;
	pid = pid ?: module->pid;
	TRY(find_map(env, pid, diagnosis, &found));
	bool is_silent = !found && (diagnosis->problem == RESOLVER_OK || memfd);
	/* Few runtimes have their code in the stack, the heap or shared memory. */
	if (is_silent && !module->is_generated)
		diagnosis_set(diagnosis, RESOLVER_NO_SYMBOLS, NULL, "memory without a file");
	else if (is_silent)
		diagnosis_set(diagnosis, RESOLVER_NO_PERF_MAP, WRITE_ONE,
			      "JIT code: /tmp/perf-%u.map not found", pid);
	*ret = (void *)(uintptr_t)found;
	return NULL;
}

/* Appends the timed entries to a file. Returns false after an error. */
static bool write_timed(int fd, const struct perfmap *map)
{
	for (size_t i = 0; i < perfmap_timed_count(map); i++) {
		struct perfmap_timed timed = perfmap_timed(map, i);
		const uint64_t fields[] = {htole64(timed.time_ns), htole64(timed.start),
					   htole64(timed.size), htole64(timed.offset)};
		if (io_write(fd, fields, sizeof(fields)))
			return false;
	}
	return true;
}

struct sp_error *perfmap_store_timed(const struct source_env *env, const struct module *module,
				    struct stored_names *names, struct stored_module *stored)
{
	const struct stored_key key = binary_stored_key(module);
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	CLEANUP_CLOSE int fd = -1;
	const struct perfmap *map = NULL;
	struct stat status;
	if (jit_files_held(env->jit))
		TRY(find_map(env, module->pid, &why, &map));
	if (map)
		fd = memfd_create("sprof-timed", MFD_CLOEXEC);
	else if (env->binary.stored)
		TRY(stored_open_fd(env->binary.stored, &key, &fd));
	if (fd < 0 || (map && !write_timed(fd, map)) || fstat(fd, &status))
		return NULL;
	return stored_file_add_whole(names, stored, fd, status.st_size);
}

bool perfmap_read_timed(struct cursor *bytes, struct perfmap_timed *ret)
{
	return cursor_u64(bytes, &ret->time_ns) && cursor_u64(bytes, &ret->start) &&
	       cursor_u64(bytes, &ret->size) && cursor_u64(bytes, &ret->offset);
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	struct perfmap_entry entry;
	uint64_t ip = location->ip;
	bool found = location->module->kind == MODULE_JIT ?
			     perfmap_find_timed(opened, location->offset, &entry) :
			     perfmap_find(opened, ip, &entry);
	if (!found)
		return false;
	if (diagnosis->problem == RESOLVER_OK && perfmap_is_ambiguous(opened, ip))
		diagnosis_set(diagnosis, RESOLVER_UNPROVEN, NULL,
			      "the perf map has several names for one address, and only a recorder "
			      "can note their times: the last is shown");
	*ret = (struct found){
		.key = entry.line,
		.raw_name = entry.name,
		.start = location->offset - (ip - entry.start),
		.size = entry.end - entry.start,
	};
	return true;
}

const struct source source_perfmap = {
	.name = "perfmap",
	.open = names_open,
	.find = names_find,
};
