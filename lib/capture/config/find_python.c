/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/survey.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "capture/config/command_path.h"
#include "capture/python/processes.h"
#include "proc/maps.h"

/* Limits of a search for Python in the command: number of words, and bytes of each one's file. */
#define WORDS_MAX 8
#define WORD_FILE_BYTES 65536

/* Limit of examined files: the command's, then those of interpreters of scripts. */
#define FILES_MAX 4

/*
 * Returns whether a file probably starts Python: a script with the name of Python or of its version
 * manager, or a program that links Python's library. These strings are at the begin of the file.
 */
static bool file_names_python(const char *path)
{
	CLEANUP_FREE char *bytes = malloc(WORD_FILE_BYTES);
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	size_t size = 0;
	sp_error_free(regular_file_open(NULL, path, 0, &fd, &status));
	if (!bytes || fd < 0 || io_read(fd, bytes, WORD_FILE_BYTES, &size) || size < 4)
		return false;
	if (!memcmp(bytes, "#!", 2))
		return memmem(bytes, size, "python", 6) || memmem(bytes, size, "pyenv", 5);
	return !memcmp(bytes, "\177ELF", 4) && memmem(bytes, size, "libpython3.", 11);
}

static bool process_runs_python(const struct sp_ctx *ctx, uint32_t pid)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry = NULL;
	bool found = false;
	struct sp_error *error = maps_open(ctx, pid, 0, MAPS_EXECUTABLE, &maps);
	while (!error && !found && !(error = maps_next(maps, &entry)) && entry)
		found = python_is_interpreter(entry->path);
	sp_error_free(error);
	return found;
}

bool target_runs_python(const struct sp_ctx *ctx, const struct capture_options *options)
{
	const struct sp_number_list *lists[] = {&options->target.pids, &options->target.tids};
	for (size_t i = 0; i < 2; i++)
		vec_each (item, lists[i])
			if (process_runs_python(ctx, *item))
				return true;
	if (!options->target.command || lists[0]->count || lists[1]->count ||
	    options->target.system_wide || options->target.cpus)
		return false;
	/* A shell or a wrapper may start it. */
	const char *const *words = options->target.command;
	for (size_t i = 0; words[i]; i++)
		if (strstr(words[i], "python") ||
		    (i && i < WORDS_MAX && file_names_python(words[i])))
			return true;
	CLEANUP_FREE char *path = command_path_find(words[0]);
	for (int i = 0; path && i < FILES_MAX; i++) {
		const char *slash = strrchr(path, '/');
		if (!strncmp(slash ? slash + 1 : path, "python", 6) || file_names_python(path))
			return true;
		if (!command_path_follow(&path))
			return false;
	}
	return false;
}
