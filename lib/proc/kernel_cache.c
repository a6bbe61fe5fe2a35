/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file is four lines, and then lines as in /proc/kallsyms:
 *
 *      sprof kallsyms 1
 *      build-id 1f2e…
 *      size 5123456
 *      hash 0123456789abcdef       hash_bytes() of what follows
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
#include "base/format.h"
#include "base/hash.h"
#include "base/io.h"
#include "proc/modules.h"
#include "proc/sysfs.h"
#include "proc/text.h"

#define MAGIC "sprof kallsyms 1\n"
#define BUILD_ID_MAX 20
#define HEADER_MAX 128
#define FILE_MAX ((off_t)1 << 28)

static const char *const folders[] = {
	[KERNEL_CACHE_KERNEL] = "kernel",
	[KERNEL_CACHE_MODULE] = "module",
};

/* What is kept, or looked for. */
struct key {
	enum kernel_cache_kind kind;
	const uint8_t *build_id;
	size_t size;
};

static void to_hex(const struct key *key, char ret[2 * BUILD_ID_MAX + 1])
{
	bytes_to_hex(key->build_id, key->size < BUILD_ID_MAX ? key->size : BUILD_ID_MAX, ret);
}

/* NULL when out of memory. */
static char *path_of(struct sp_ctx *ctx, const struct key *key)
{
	char hex[2 * BUILD_ID_MAX + 1];
	to_hex(key, hex);
	return format_text("%s/%s/%s", ctx_cache_path(ctx), folders[key->kind], hex);
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

/* Passes over the header, if it is one for this key. */
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

/* Whether the file is there and as long as it says; its content is not looked at. */
static bool is_kept(struct sp_ctx *ctx, const struct key *key)
{
	CLEANUP_FREE char *path = path_of(ctx, key);
	CLEANUP_CLOSE int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	char header[HEADER_MAX];
	struct stat status;
	size_t got;
	uint64_t size, hash;
	if (fd < 0 || fstat(fd, &status) || io_pread(fd, header, sizeof(header), 0, &got))
		return false;
	struct cursor cursor = cursor_make(header, got, false, path, 0);
	return read_header(&cursor, key, &size, &hash) &&
	       cursor_offset(&cursor) + size == (uint64_t)status.st_size;
}

/* mkdir, and the ones above it. What root makes in a user's folder is the user's. */
static struct sp_error *make_folder(char *path)
{
	struct stat above = {.st_uid = geteuid(), .st_gid = getegid()};
	for (char *slash = path;; *slash = '/') {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) == 0) {
			if (geteuid() == 0 && chown(path, above.st_uid, above.st_gid))
				return error_os(errno, "%s", path);
		} else if (errno != EEXIST) {
			return error_os(errno, "%s", path);
		}
		if (stat(path, &above))
			return error_os(errno, "%s", path);
		if (!slash)
			return NULL;
	}
}

static struct sp_error *make_folders(struct sp_ctx *ctx)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < sizeof(folders) / sizeof(*folders); i++) {
		CLEANUP_FREE char *path = format_text("%s/%s", ctx_cache_path(ctx), folders[i]);
		if (!path)
			return error_no_memory();
		error = make_folder(path);
	}
	return error;
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

static struct sp_error *keep(struct sp_ctx *ctx, const struct key *key, const char *text,
			     size_t size)
{
	CLEANUP_FREE char *path = path_of(ctx, key);
	CLEANUP_FREE char *temporary = path ? format_text("%s.XXXXXX", path) : NULL;
	if (!temporary)
		return error_no_memory();
	struct stat folder;
	CLEANUP_CLOSE int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "%s", temporary);
	struct sp_error *error = write_file(fd, path, key, text, size);
	char *slash = strrchr(path, '/');
	*slash = '\0';
	bool known = !stat(path, &folder);
	*slash = '/';
	if (!error && known && geteuid() == 0 && fchown(fd, folder.st_uid, folder.st_gid))
		error = error_os(errno, "%s", path);
	if (!error && rename(temporary, path))
		error = error_os(errno, "%s", path);
	if (error)
		unlink(temporary);
	return error;
}

/* The symbols of the kernel (`module` NULL) or of one module, as text. */
static struct sp_error *keep_symbols(struct sp_ctx *ctx, const struct key *key,
				     const struct kallsyms *kallsyms,
				     const struct kernel_module *module)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	CLEANUP(cleanup_fclose) FILE *file = open_memstream(&text, &size);
	if (!file)
		return error_no_memory();
	for (size_t i = 0; i < kallsyms_count(kallsyms); i++) {
		struct kallsyms_symbol symbol = kallsyms_symbol(kallsyms, i);
		uint64_t address = symbol.address;
		if (module ? !symbol.module || strcmp(symbol.module, module->name)
			   : symbol.module != NULL)
			continue;
		if (module) {
			/* Its data lies elsewhere since Linux 6.4. */
			if (address < module->start || address - module->start >= module->size)
				continue;
			address += KERNEL_CACHE_MODULE_BASE - module->start;
		}
		fprintf(file, "%016llx %c %s\n", (unsigned long long)address, symbol.type,
			symbol.name);
	}
	if (fflush(file))
		return error_no_memory();
	return keep(ctx, key, text, size);
}

static struct key module_key(const struct kernel_module *module)
{
	return (struct key){KERNEL_CACHE_MODULE, module->build_id, module->build_id_size};
}

static bool needs_keeping(struct sp_ctx *ctx, const struct kernel_module *module)
{
	struct key key = module_key(module);
	return module->build_id_size > 0 && module->start != 0 && !is_kept(ctx, &key);
}

/* What is to be kept: the running kernel and its modules. */
struct running {
	uint8_t build_id[BUILD_ID_MAX];
	struct key kernel;
	struct kernel_modules modules;
	bool missing; /* something of it is not kept yet */
};

static void running_deinit(struct running *running)
{
	kernel_modules_deinit(&running->modules);
}

/* `missing` stays false where nothing can or need be kept. */
static struct sp_error *running_look(struct sp_ctx *ctx, struct running *ret)
{
	size_t size = 0;
	if (!ctx_cache_path(ctx) || !*ctx_cache_path(ctx))
		return NULL;
	struct sp_error *error = sysfs_kernel_build_id(ctx, ret->build_id, &size);
	if (error || size == 0)
		return error;
	ret->kernel = (struct key){KERNEL_CACHE_KERNEL, ret->build_id, size};
	error = kernel_modules_read(ctx, NULL, &ret->modules);
	if (error)
		return error;
	ret->missing = !is_kept(ctx, &ret->kernel);
	for (size_t i = 0; i < ret->modules.count; i++)
		ret->missing = ret->missing || needs_keeping(ctx, &ret->modules.items[i]);
	return NULL;
}

static struct sp_error *keep_missing(struct sp_ctx *ctx, const struct running *running,
				     const struct kallsyms *kallsyms)
{
	struct sp_error *error = NULL;
	if (kallsyms_hidden(kallsyms))
		return NULL;
	if (!is_kept(ctx, &running->kernel))
		error = keep_symbols(ctx, &running->kernel, kallsyms, NULL);
	for (size_t i = 0; !error && i < running->modules.count; i++) {
		const struct kernel_module *module = &running->modules.items[i];
		struct key key = module_key(module);
		if (needs_keeping(ctx, module))
			error = keep_symbols(ctx, &key, kallsyms, module);
	}
	return error;
}

struct sp_error *kernel_cache_save(struct sp_ctx *ctx)
{
	CLEANUP(running_deinit) struct running running = {0};
	struct kernel_reference reference;
	struct kallsyms *kallsyms = NULL;
	struct sp_error *error = running_look(ctx, &running);
	if (error || !running.missing || !kallsyms_reference(ctx, &reference))
		return error;
	/* First, since it is quick to fail. */
	error = make_folders(ctx);
	if (!error)
		error = kallsyms_read(ctx, NULL, &kallsyms);
	if (!error)
		error = keep_missing(ctx, &running, kallsyms);
	kallsyms_free(kallsyms);
	return error;
}

struct sp_error *kernel_cache_save_read(struct sp_ctx *ctx, const struct kallsyms *kallsyms)
{
	CLEANUP(running_deinit) struct running running = {0};
	struct sp_error *error = running_look(ctx, &running);
	if (error || !running.missing)
		return error;
	error = make_folders(ctx);
	return error ?: keep_missing(ctx, &running, kallsyms);
}

/* The whole file, if it is regular, and nobody else's. */
static struct sp_error *read_file(const char *path, char **ret, size_t *size_ret)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > FILE_MAX ||
	    (status.st_uid != geteuid() && status.st_uid != 0))
		return NULL;
	CLEANUP_FREE char *text = malloc((size_t)status.st_size + 1);
	if (!text)
		return error_no_memory();
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
	struct sp_error *error = path ? read_file(path, &text, &got) : error_no_memory();
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
