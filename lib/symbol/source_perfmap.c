/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that was made at run time, by the perf map its process wrote: in the
 * process's own /tmp by its own number while it lives (containers), else in /tmp
 * here. Anybody may put a file into /tmp, so it counts only if it is no link and
 * belongs to the process's user, to this one, or to root. Runtimes that never map
 * memory writable and executable at once (.NET) have their code in a memfd.
 */
#include "symbol/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "elf/image.h"
#include "symbol/perfmap.h"

/* 100 bytes a line for five million functions. */
#define SIZE_MAX_BYTES ((off_t)512 << 20)

#define WRITE_ONE                                                                                  \
	"let the runtime write one: java -XX:+DumpPerfMapAtExit, "                                 \
	"node --perf-basic-prof, PYTHONPERFSUPPORT=1, dotnet DOTNET_PerfMapEnabled=1"

#define MEMFD "/memfd:"

struct search {
	const struct source_env *env;
	const struct module *module;
	uint32_t pid;
	bool alive;
	uid_t owner; /* of the process, while it lives */
	struct diagnosis *diagnosis;
	struct perfmap *found;
};

static void names_close(void *opened)
{
	perfmap_free(opened);
}

static bool is_trusted(const struct search *search, const struct stat *status, const char *path)
{
	uid_t uid = status->st_uid;
	if (uid == 0 || uid == geteuid() || (search->alive && uid == search->owner))
		return true;
	diagnosis_set(search->diagnosis, RESOLVER_NO_PERF_MAP,
		      "report as that user or while the process runs, or make the file yours if "
		      "you trust it",
		      "%s belongs to user %u, who need not be the process's: not used", path,
		      (unsigned int)uid);
	return false;
}

/* The whole of it, which may grow meanwhile. */
static struct sp_error *read_map(struct search *search, int fd, const struct stat *status)
{
	size_t capacity = (size_t)status->st_size + 4096, size = 0;
	CLEANUP_FREE char *text = malloc(capacity);
	if (!text)
		return error_no_memory();
	if (io_read(fd, text, capacity, &size))
		return NULL;
	return perfmap_parse(text, size, &search->found);
}

static struct sp_error *use_fd(struct search *search, int opened, const char *path)
{
	CLEANUP_CLOSE int fd = opened;
	struct stat status;
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    !is_trusted(search, &status, path))
		return NULL;
	if (status.st_size > SIZE_MAX_BYTES) {
		diagnosis_set(search->diagnosis, RESOLVER_DAMAGED_FILE, NULL,
			      "%s is too large for a perf map", path);
		return NULL;
	}
	return read_map(search, fd, &status);
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)

/* The process's number in the innermost namespace: the last word of "NSpid:". */
static uint32_t number_within(const struct search *search)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FREE char *whole =
		format_text("%s/proc/%u/status", ctx_root(search->env->ctx), search->pid);
	size_t size;
	if (!whole || io_read_file(whole, &text, &size))
		return search->pid;
	char *line = strstr(text, "\nNSpid:");
	if (!line)
		return search->pid;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	char *last = strrchr(line, '\t');
	unsigned long number = last ? strtoul(last + 1, NULL, 10) : 0;
	return number > 0 && number < UINT32_MAX ? (uint32_t)number : search->pid;
}

static struct sp_error *try_process(struct search *search)
{
	char name[48];
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", number_within(search));
	CLEANUP_FREE char *root =
		format_text("%s/proc/%u/root", ctx_root(search->env->ctx), search->pid);
	CLEANUP_FREE char *shown = root ? format_text("%s%s", root, name) : NULL;
	if (!shown)
		return error_no_memory();
	return use_fd(search, image_open_within(root, name, OPEN_FLAGS), shown);
}

static struct sp_error *try_here(struct search *search, const char *root)
{
	CLEANUP_FREE char *path = format_text("%s/tmp/perf-%u.map", root, search->pid);
	if (!path)
		return error_no_memory();
	return use_fd(search, open(path, OPEN_FLAGS), path);
}

/* Whose process it is; false when it is gone. */
static bool find_owner(struct search *search)
{
	struct stat status;
	CLEANUP_FREE char *path = format_text("%s/proc/%u", ctx_root(search->env->ctx),
					      search->pid);
	if (!path)
		return false;
	if (search->pid == 0 || stat(path, &status))
		return false;
	search->owner = status.st_uid;
	return true;
}

static struct sp_error *search_places(struct search *search)
{
	const char *symfs = search->env->options.symfs;
	if (symfs && *symfs)
		return try_here(search, symfs);
	struct sp_error *error = NULL;
	search->alive = find_owner(search);
	if (search->alive)
		error = try_process(search);
	if (!error && !search->found)
		error = try_here(search, ctx_root(search->env->ctx));
	return error;
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	bool memfd = module->kind == MODULE_FILE && !strncmp(module->path, MEMFD, strlen(MEMFD));
	if (module->kind != MODULE_ANONYMOUS && !memfd)
		return NULL;
	struct search search = {
		.env = env,
		.module = module,
		.pid = pid ?: module->pid,
		.diagnosis = diagnosis,
	};
	struct sp_error *error = search_places(&search);
	if (error)
		return error;
	if (search.found)
		diagnosis_clear(diagnosis);
	else if (diagnosis->problem == RESOLVER_OK || memfd)
		diagnosis_set(diagnosis, RESOLVER_NO_PERF_MAP, WRITE_ONE,
			      "code made at run time has no names: there is no /tmp/perf-%u.map",
			      search.pid);
	*ret = search.found;
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
