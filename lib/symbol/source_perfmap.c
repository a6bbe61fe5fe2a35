/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for JIT code with a perf map. It reads /tmp/perf-PID.map in the process's mount namespace (and
 * by its pid there) if the process still runs, else in /tmp here. Runtimes that never map memory both
 * writable and executable (.NET) have their code in a memfd.
 */
#include "symbol/source.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "symbol/jit_files.h"
#include "symbol/process_file.h"

/* Limit of a map's size: 100 bytes a line for five million functions. */
#define SIZE_MAX_BYTES ((off_t)512 << 20)

#define WRITE_ONE                                                                                  \
	"let the runtime write a perf map: node --perf-basic-prof, "                               \
	"java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, PYTHONPERFSUPPORT=1, "        \
	"DOTNET_PerfMapEnabled=1"

#define MEMFD "/memfd:"

static void names_close(void *opened)
{
	(void)opened; /* belongs to the env */
}

static struct sp_error *find_map(const struct source_env *env, uint32_t pid,
				 struct diagnosis *diagnosis, const struct perfmap **ret)
{
	char within[48], here[48];
	CLEANUP_FREE char *path = NULL;
	CLEANUP_CLOSE int fd = -1;
	snprintf(within, sizeof(within), "/tmp/perf-%u.map", process_file_number(env->ctx, pid));
	snprintf(here, sizeof(here), "/tmp/perf-%u.map", pid);
	const struct process_file file = {
		.ctx = env->ctx,
		.symfs = env->options.symfs,
		.host = env->binary.provenance.host,
		.pid = pid,
		.within = within,
		.here = here,
		.size_max = SIZE_MAX_BYTES,
	};
	struct sp_error *error = process_file_open(&file, diagnosis, &fd, &path);
	if (error || fd < 0)
		return error;
	const struct jit_file_place place = {.fd = fd, .path = path};
	error = jit_files_perfmap(env->jit, &place, diagnosis, ret);
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

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	bool memfd = module->kind == MODULE_FILE && !strncmp(module->path, MEMFD, strlen(MEMFD));
	if (module->kind != MODULE_ANONYMOUS && !memfd)
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

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	(void)diagnosis;
	struct perfmap_entry entry;
	uint64_t ip = location->ip;
	if (!perfmap_find(opened, ip, &entry))
		return false;
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
	.close = names_close,
};
