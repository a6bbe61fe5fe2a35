/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdebuginfod is loaded with dlopen() when it is needed. If it were linked, every program would
 * load libcurl and thirty more libraries at its start, and few use debuginfod.
 */
#include "elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/disk_cache.h"
#include "base/format.h"
#include "base/io.h"
#include "base/vec.h"

#define LIBRARY "libdebuginfod.so.1"

/* Function types of <elfutils/debuginfod.h>, which is then not needed to build. */
typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *build_id, int size, char **path);

static struct sp_error *request(struct sp_ctx *ctx, void *library, enum debuginfod_kind kind,
				const uint8_t *build_id, size_t size, char **ret)
{
	begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
	find_fn *find = (find_fn *)dlsym(library, kind == DEBUGINFOD_BINARY
							  ? "debuginfod_find_executable"
							  : "debuginfod_find_debuginfo");
	void *client = begin && end && find ? begin() : NULL;
	NEED(client);
	int fd = find(client, build_id, size, ret);
	end(client);
	if (fd >= 0)
		close(fd);
	else
		*ret = NULL;
	if (fd < 0 && fd != -ENOENT)
		ctx_set_debuginfod_errno(ctx, -fd);
	return NULL;
}

bool debuginfod_has_servers(void)
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

#define OR_INSTALL ", or install its debug symbols"

/* Remedies of a distribution that has a server: without --debuginfod, and with it. */
struct server {
	const char *id, *use, *set;
	bool alone; /* distributions that are like it compile their packages anew */
};

#define SERVER(id, url, alone)                                                            \
	{                                                                                 \
		id, "use --debuginfod with DEBUGINFOD_URLS=" url OR_INSTALL,              \
			"set DEBUGINFOD_URLS=" url OR_INSTALL, alone                      \
	}

/* Distributions precede those that they are made from, as ID_LIKE may name both. */
static const struct server servers[] = {
	SERVER("ubuntu", "https://debuginfod.ubuntu.com", false),
	SERVER("debian", "https://debuginfod.debian.net", false),
	SERVER("centos", "https://debuginfod.centos.org", true),
	SERVER("fedora", "https://debuginfod.fedoraproject.org", true),
	SERVER("arch", "https://debuginfod.archlinux.org", false),
	SERVER("opensuse", "https://debuginfod.opensuse.org", false),
	SERVER("void", "https://debuginfod.voidlinux.org", false),
};

/* Returns whether the line of a key, "ID=" or "ID_LIKE=", has this word. */
static bool has_word(const char *text, const char *key, const char *word)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		const char *end = line + strcspn(line, "\n"), *at = line + strlen(key);
		for (; at < end; at += strcspn(at, " \n"), at += *at == ' ') {
			at += *at == '"';
			size_t size = strcspn(at, " \"\n");
			if (size == strlen(word) && !strncmp(at, word, size))
				return true;
		}
	}
	return false;
}

/* Returns the distribution's server; NULL: it is not known to have one. */
static const struct server *find_server(const struct sp_ctx *ctx)
{
	static const char *const keys[] = {"ID=", "ID_LIKE="};
	CLEANUP_FREE char *path = format_text("%s/etc/os-release", ctx_root(ctx)), *text = NULL;
	size_t size;
	if (!path || io_read_file(path, &text, &size))
		return NULL;
	for (size_t key = 0; key < count_of(keys); key++)
		for (size_t i = 0; i < count_of(servers); i++)
			if (!(key && servers[i].alone) &&
			    has_word(text, keys[key], servers[i].id))
				return &servers[i];
	return NULL;
}

const char *debuginfod_remedy(const struct sp_ctx *ctx)
{
	bool used = ctx_debuginfod(ctx);
	if (!debuginfod_has_servers()) {
		const struct server *server = find_server(ctx);
		return server ? used ? server->set : server->use
		       : used ? "set DEBUGINFOD_URLS to a debuginfod server" OR_INSTALL
			      : "install its debug symbols";
	}
	if (!used)
		return "use --debuginfod" OR_INSTALL;
	if (!has_own_cache())
		return "set DEBUGINFOD_CACHE_PATH to a directory that no other user can change";
	void *library = load();
	if (!library)
		return "install " LIBRARY " (the debuginfod client of elfutils)";
	dlclose(library);
	int errnum = ctx_debuginfod_errno(ctx);
	return errnum == EHOSTUNREACH
		       ? "check the network and DEBUGINFOD_URLS: no host of it has an "
			 "address" OR_INSTALL
	       : errnum
		       ? "check the network and DEBUGINFOD_URLS: its servers do not "
			 "answer" OR_INSTALL
		       : "install its debug symbols: no server of DEBUGINFOD_URLS has them";
}

struct sp_error *debuginfod_find(struct sp_ctx *ctx, enum debuginfod_kind kind,
				 const uint8_t *build_id, size_t size, char **ret)
{
	*ret = NULL;
	void *library = debuginfod_has_servers() && has_own_cache() ? load() : NULL;
	if (!library)
		return NULL;
	struct sp_error *error = request(ctx, library, kind, build_id, size, ret);
	dlclose(library);
	return error;
}
