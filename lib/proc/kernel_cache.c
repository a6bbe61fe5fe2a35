/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache file has four header lines, followed by lines as in /proc/kallsyms:
 *
 *      sprof kallsyms 1
 *      build-id 1f2e…
 *      size 5123456
 *      hash 0123456789abcdef       hash_bytes() of the lines after the header
 *
 * If another user could replace a folder or file between two calls, root could be made to write
 * anywhere. Therefore all parent folders must belong to root or to this user, and no other user may
 * write to them. Consequence: with another user's HOME (sudo -E), root has no cache.
 */
#include "proc/kernel_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "proc/modules.h"
#include "proc/sysfs.h"
#include "proc/text.h"

DEFINE_CLEANUP(struct kallsyms *, kallsyms_free)

#define MAGIC "sprof kallsyms 1\n"
#define BUILD_ID_MAX 20
#define HEADER_MAX 128
#define FILE_MAX ((off_t)1 << 28)

static const char *const folders[] = {
	[KERNEL_CACHE_KERNEL] = "kernel",
	[KERNEL_CACHE_MODULE] = "module",
};

/* Identity of an entry. */
struct key {
	enum kernel_cache_kind kind;
	const uint8_t *build_id;
	size_t size;
};

static void to_hex(const struct key *key, char ret[2 * BUILD_ID_MAX + 1])
{
	bytes_to_hex(key->build_id, key->size < BUILD_ID_MAX ? key->size : BUILD_ID_MAX, ret);
}

/* Returns a cache file's path for messages; NULL when out of memory. */
static char *path_of(struct sp_ctx *ctx, const struct key *key)
{
	char hex[2 * BUILD_ID_MAX + 1];
	to_hex(key, hex);
	return format_text("%s/%s/%s", ctx_cache_path(ctx), folders[key->kind], hex);
}

/* Whether no other user but root can change what is in a folder. */
static bool is_own(const struct stat *folder)
{
	bool group_writes = folder->st_mode & S_IWGRP && folder->st_gid != 0 && geteuid() == 0;
	return (folder->st_uid == 0 || folder->st_uid == geteuid()) &&
	       !(folder->st_mode & S_IWOTH) && !group_writes;
}

/* Whether a folder is like /tmp: others can add to it, but replace only their own files. */
static bool is_sticky(const struct stat *folder)
{
	return folder->st_uid == 0 && folder->st_mode & S_ISVTX;
}

/*
 * Opens a folder inside `above`, which was checked before, and creates it if `make`. Symbolic links
 * are followed only if no other user can change `above`. Returns -1 and errno; errno is 0 if other
 * users can change the folder.
 */
static int enter(int above, const struct stat *above_status, const char *name, bool make,
		 struct stat *ret)
{
	if (make && mkdirat(above, name, 0700) && errno != EEXIST)
		return -1;
	CLEANUP_CLOSE int fd = openat(above, name, O_PATH | O_DIRECTORY | O_CLOEXEC |
				      (is_own(above_status) ? 0 : O_NOFOLLOW));
	if (fd < 0 || fstat(fd, ret))
		return -1;
	errno = 0;
	return is_own(ret) || is_sticky(ret) ? take_fd(&fd) : -1;
}

/* Opens (or creates) a path folder by folder. Returns -1 and errno like enter(). */
static int enter_all(char *path, bool make)
{
	struct stat status = {0}, above;
	int fd = enter(AT_FDCWD, &status, *path == '/' ? "/" : ".", false, &above);
	for (char *name; fd >= 0 && (name = strsep(&path, "/"));) {
		if (!*name)
			continue;
		CLEANUP_CLOSE int before = fd;
		fd = enter(before, &above, name, make, &status);
		above = status;
	}
	return fd;
}

/* Opens the cache folder of a kind. *ret is -1, without an error, if it is missing or not safe. */
static struct sp_error *open_folder(struct sp_ctx *ctx, enum kernel_cache_kind kind, bool make,
				    int *ret)
{
	CLEANUP_FREE char *path = format_text("%s/%s", ctx_cache_path(ctx), folders[kind]);
	NEED(path);
	*ret = enter_all(path, make);
	if (*ret < 0 && !errno)
		ctx_log(ctx, SP_LOG_DEBUG, "%s is not used: other users can change it",
			ctx_cache_path(ctx));
	else if (*ret < 0 && make)
		return error_os(errno, "%s/%s", ctx_cache_path(ctx), folders[kind]);
	return NULL;
}

static int write_header(char ret[HEADER_MAX], const struct key *key, size_t size, uint64_t hash)
{
	char hex[2 * BUILD_ID_MAX + 1];
	to_hex(key, hex);
	return snprintf(ret, HEADER_MAX, MAGIC "build-id %s\nsize %zu\nhash %016llx\n", hex, size,
			(unsigned long long)hash);
}

static bool take_word(struct cursor *cursor, const char *word)
{
	const uint8_t *bytes;
	size_t size = strlen(word);
	struct cursor at = *cursor;
	if (!cursor_bytes(&at, size, &bytes) || memcmp(bytes, word, size))
		return false;
	*cursor = at;
	return true;
}

/* Reads a cache file's header; false if it is not for this key. */
static bool read_header(struct cursor *cursor, const struct key *key, uint64_t *size_ret,
			uint64_t *hash_ret)
{
	char hex[2 * BUILD_ID_MAX + 1];
	to_hex(key, hex);
	return take_word(cursor, MAGIC "build-id ") && take_word(cursor, hex) &&
	       take_word(cursor, "\nsize ") && text_decimal(cursor, size_ret) &&
	       take_word(cursor, "\nhash ") && text_hex(cursor, hash_ret) &&
	       take_word(cursor, "\n");
}

/* Opens a cache file; -1 unless it is a regular file that belongs to this user or root. */
static int open_kept(int folder, const struct key *key, struct stat *ret)
{
	char hex[2 * BUILD_ID_MAX + 1];
	CLEANUP_CLOSE int fd = -1;
	to_hex(key, hex);
	sp_error_free(regular_file_open_at(folder, hex, REGULAR_FILE_NO_LINK, hex, &fd, ret));
	return fd >= 0 && (ret->st_uid == geteuid() || ret->st_uid == 0) ? take_fd(&fd) : -1;
}

/* Whether the cache file exists and has the size in its header. Its symbols are not checked. */
static bool is_kept(int folder, const struct key *key)
{
	struct stat status;
	CLEANUP_CLOSE int fd = folder >= 0 ? open_kept(folder, key, &status) : -1;
	char header[HEADER_MAX];
	size_t got;
	uint64_t size, hash;
	if (fd < 0 || io_pread(fd, header, sizeof(header), 0, &got))
		return false;
	struct cursor cursor = cursor_make(header, got, false, "", 0);
	return read_header(&cursor, key, &size, &hash) &&
	       cursor_offset(&cursor) + size == (uint64_t)status.st_size;
}

static struct sp_error *write_file(int fd, const char *path, const struct key *key,
				   const char *text, size_t size)
{
	char header[HEADER_MAX];
	int header_size = write_header(header, key, size, hash_bytes(text, size));
	int errnum = io_write(fd, header, (size_t)header_size, NULL);
	if (!errnum)
		errnum = io_write(fd, text, size, NULL);
	return errnum ? error_os(errnum, "%s", path) : NULL;
}

/* Writes a cache file atomically: under a temporary name, which is then renamed. */
static struct sp_error *keep(struct sp_ctx *ctx, int folder, const struct key *key,
			     const char *text, size_t size)
{
	char hex[2 * BUILD_ID_MAX + 1], temporary[sizeof(hex) + 32];
	CLEANUP_FREE char *path = path_of(ctx, key);
	NEED(path);
	to_hex(key, hex);
	snprintf(temporary, sizeof(temporary), "%s.%08x", hex,
		 (unsigned int)hash_pair((uint64_t)getpid(), clock_ns(CLOCK_MONOTONIC)));
	CLEANUP_CLOSE int fd =
		openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_os(errno, "%s", path);
	struct sp_error *error = write_file(fd, path, key, text, size);
	if (!error && renameat(folder, temporary, folder, hex))
		error = error_os(errno, "%s", path);
	if (error)
		unlinkat(folder, temporary, 0);
	return error;
}

/* Writes the cache file of the kernel (`module` NULL) or of one module. */
static struct sp_error *keep_symbols(struct sp_ctx *ctx, int folder, const struct key *key,
				     const struct kallsyms *kallsyms,
				     const struct kernel_module *module)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	CLEANUP(cleanup_fclose) FILE *file = open_memstream(&text, &size);
	NEED(file);
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++) {
		struct kallsyms_symbol symbol = kallsyms_symbol(kallsyms, i);
		uint64_t address = symbol.address;
		if (module ? !symbol.module || strcmp(symbol.module, module->name)
			   : symbol.module != NULL)
			continue;
		if (module) {
			/* Skip the module's data: since Linux 6.4 it is not next to the code. */
			if (address < module->start || address - module->start >= module->size)
				continue;
			address += KERNEL_CACHE_MODULE_BASE - module->start;
		}
		fprintf(file, "%016llx %c %s\n", (unsigned long long)address, symbol.type,
			symbol.name);
	}
	if (fflush(file))
		return error_no_memory();
	return keep(ctx, folder, key, text, size);
}

static struct key module_key(const struct kernel_module *module)
{
	return (struct key){KERNEL_CACHE_MODULE, module->build_id, module->build_id_size};
}

/* Content to save: the running kernel and its modules. */
struct running {
	uint8_t build_id[BUILD_ID_MAX];
	struct key kernel;
	struct kernel_modules modules;
	int kernel_folder, module_folder; /* -1: none */
	bool missing; /* the kernel or a module is not in the cache yet */
};

static void running_deinit(struct running *running)
{
	kernel_modules_deinit(&running->modules);
	cleanup_close(&running->kernel_folder);
	cleanup_close(&running->module_folder);
}

static bool needs_keeping(const struct running *running, const struct kernel_module *module)
{
	struct key key = module_key(module);
	return module->build_id_size > 0 && module->start != 0 &&
	       !is_kept(running->module_folder, &key);
}

/* Opens the folders that are not open yet. */
static struct sp_error *open_folders(struct sp_ctx *ctx, struct running *running, bool make)
{
	struct sp_error *error = NULL;
	if (running->kernel_folder < 0)
		error = open_folder(ctx, KERNEL_CACHE_KERNEL, make, &running->kernel_folder);
	if (!error && running->module_folder < 0)
		error = open_folder(ctx, KERNEL_CACHE_MODULE, make, &running->module_folder);
	return error;
}

/* Finds what is not in the cache yet. `missing` stays false if nothing can or must be saved. */
static struct sp_error *running_look(struct sp_ctx *ctx, struct running *ret)
{
	size_t size = 0;
	if (!ctx_cache_path(ctx) || !*ctx_cache_path(ctx))
		return NULL;
	struct sp_error *error = sysfs_kernel_build_id(ctx, ret->build_id, &size);
	if (error || size == 0)
		return error;
	ret->kernel = (struct key){KERNEL_CACHE_KERNEL, ret->build_id, size};
	TRY(kernel_modules_read(ctx, NULL, &ret->modules));
	TRY(open_folders(ctx, ret, false));
	ret->missing = !is_kept(ret->kernel_folder, &ret->kernel);
	for (size_t i = 0; i < ret->modules.count; i++)
		ret->missing = ret->missing || needs_keeping(ret, &ret->modules.items[i]);
	return NULL;
}

static struct sp_error *keep_missing(struct sp_ctx *ctx, const struct running *running,
				     const struct kallsyms *kallsyms)
{
	struct sp_error *error = NULL;
	if (kallsyms_hidden(kallsyms))
		return NULL;
	if (!is_kept(running->kernel_folder, &running->kernel))
		error = keep_symbols(ctx, running->kernel_folder, &running->kernel, kallsyms, NULL);
	for (size_t i = 0; !error && i < running->modules.count; i++) {
		const struct kernel_module *module = &running->modules.items[i];
		struct key key = module_key(module);
		if (needs_keeping(running, module))
			error = keep_symbols(ctx, running->module_folder, &key, kallsyms, module);
	}
	return error;
}

/* Saves what is missing. If `kallsyms` is NULL, /proc/kallsyms is read. */
static struct sp_error *save(struct sp_ctx *ctx, const struct kallsyms *kallsyms)
{
	CLEANUP(running_deinit) struct running running = {.kernel_folder = -1, .module_folder = -1};
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *own = NULL;
	struct kernel_reference reference;
	struct sp_error *error = running_look(ctx, &running);
	if (error || !running.missing || (!kallsyms && !kallsyms_reference(ctx, &reference)))
		return error;
	/* Open folders before reading kallsyms: it is cheap and may fail. */
	error = open_folders(ctx, &running, true);
	if (error || running.kernel_folder < 0 || running.module_folder < 0)
		return error;
	if (!kallsyms)
		error = kallsyms_read(ctx, NULL, &own);
	return error ?: keep_missing(ctx, &running, kallsyms ?: own);
}

struct sp_error *kernel_cache_save(struct sp_ctx *ctx)
{
	return save(ctx, NULL);
}

struct sp_error *kernel_cache_save_read(struct sp_ctx *ctx, const struct kallsyms *kallsyms)
{
	return save(ctx, kallsyms);
}

/* Reads a whole cache file; does not change *ret if there is none that may be used. */
static struct sp_error *read_file(struct sp_ctx *ctx, const struct key *key, char **ret,
				  size_t *size_ret)
{
	CLEANUP_CLOSE int folder = -1;
	struct stat status;
	struct sp_error *error = open_folder(ctx, key->kind, false, &folder);
	CLEANUP_CLOSE int fd = folder >= 0 ? open_kept(folder, key, &status) : -1;
	if (error || fd < 0 || status.st_size > FILE_MAX)
		return error;
	CLEANUP_FREE char *text = malloc((size_t)status.st_size + 1);
	NEED(text);
	if (io_pread(fd, text, (size_t)status.st_size, 0, size_ret))
		return NULL;
	*ret = take_ptr(text);
	return NULL;
}

struct sp_error *kernel_cache_load(struct sp_ctx *ctx, enum kernel_cache_kind kind,
				   const uint8_t *build_id, size_t size, struct kallsyms **ret)
{
	struct key key = {kind, build_id, size};
	*ret = NULL;
	if (!ctx_cache_path(ctx) || !*ctx_cache_path(ctx) || size == 0 || size > BUILD_ID_MAX)
		return NULL;
	CLEANUP_FREE char *path = path_of(ctx, &key);
	CLEANUP_FREE char *text = NULL;
	size_t got = 0;
	struct sp_error *error = path ? read_file(ctx, &key, &text, &got) : error_no_memory();
	if (error || !text)
		return error;
	struct cursor cursor = cursor_make(text, got, false, path, 0);
	uint64_t length, hash;
	if (!read_header(&cursor, &key, &length, &hash) || length != cursor_left(&cursor) ||
	    hash != hash_bytes(cursor.pos, length)) {
		ctx_log(ctx, SP_LOG_WARNING, "%s is damaged, and not used", path);
		return NULL;
	}
	error = kallsyms_parse(cursor.pos, length, path, ret);
	if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY) {
		ctx_log(ctx, SP_LOG_WARNING, "%s", sp_error_message(error));
		sp_error_free(error);
		return NULL;
	}
	return error;
}
