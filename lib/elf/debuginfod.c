/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdebuginfod is loaded with dlopen() when it is needed. If it were linked, every program would
 * load libcurl and thirty more libraries at its start, and few use debuginfod.
 */
#include "elf/debuginfod.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/disk_cache.h"

#define LIBRARY "libdebuginfod.so.1"

/* Function types of <elfutils/debuginfod.h>, which is then not needed to build. */
typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *build_id, int size, char **path);

static struct sp_error *ask(void *library, enum debuginfod_kind kind, const uint8_t *build_id,
			    size_t size, char **ret)
{
	begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
	find_fn *find = (find_fn *)dlsym(library, kind == DEBUGINFOD_BINARY
							  ? "debuginfod_find_executable"
							  : "debuginfod_find_debuginfo");
	void *client = begin && end && find ? begin() : NULL;
	NEED(client);
	int fd = find(client, build_id, (int)size, ret);
	end(client);
	if (fd >= 0)
		close(fd);
	else
		*ret = NULL;
	return NULL;
}

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	return urls && *urls;
}

/*
 * Returns whether no other user can change the library's cache. It follows links there, writes
 * files, and removes old ones: for root with another user's HOME, that user could choose which.
 */
static bool has_own_cache(void)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"),
		   *xdg = getenv("XDG_CACHE_HOME");
	if (cache && *cache)
		return disk_cache_is_own(cache);
	return (!home || disk_cache_is_own(home)) && (!xdg || !*xdg || disk_cache_is_own(xdg));
}

/* Loads the library for good (RTLD_NODELETE): libcurl may have threads and exit handlers. */
static void *load(void)
{
	return dlopen(LIBRARY, RTLD_NOW | RTLD_NODELETE);
}

const char *debuginfod_obstacle(void)
{
	if (!has_servers())
		return "set DEBUGINFOD_URLS to the servers, for example https://debuginfod.debian.net";
	if (!has_own_cache())
		return "set DEBUGINFOD_CACHE_PATH to a directory that no other user can change";
	void *library = load();
	if (!library)
		return "install " LIBRARY " (the debuginfod client of elfutils)";
	dlclose(library);
	return NULL;
}

struct sp_error *debuginfod_find(enum debuginfod_kind kind, const uint8_t *build_id, size_t size,
				 char **ret)
{
	*ret = NULL;
	void *library = has_servers() && has_own_cache() ? load() : NULL;
	if (!library)
		return NULL;
	struct sp_error *error = ask(library, kind, build_id, size, ret);
	dlclose(library);
	return error;
}
