/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/ctx.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"

struct sp_ctx {
	sp_log_fn *log;
	void *log_arg;
	enum sp_log_level log_level;
	char *root, *debug_path, *cache_path;
	bool debuginfod;
	atomic_int debuginfod_errno;
	struct proxies *proxies;
	atomic_bool cancelled;
	_Atomic enum sp_step step;
	_Atomic uint64_t step_done, step_total;
};

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)

static struct sp_error *set_string(char **place, const char *text)
{
	char *copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return error_no_memory();
	free(*place);
	*place = copy;
	return NULL;
}

static struct sp_error *set_default_cache(struct sp_ctx *ctx)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (cache && *cache == '/')
		ctx->cache_path = format_text("%s/sprof", cache);
	else if (home && *home == '/')
		ctx->cache_path = format_text("%s/.cache/sprof", home);
	else
		return NULL;
	return ctx->cache_path ? NULL : error_no_memory();
}

struct sp_error *sp_ctx_new(struct sp_ctx **ret)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = calloc(1, sizeof(*ctx));
	NEED(ctx && (ctx->proxies = proxies_new()));
	TRY(set_string(&ctx->root, ""));
	/* gdb on NixOS reads the folders of this variable, too. */
	const char *nix = getenv("NIX_DEBUG_INFO_DIRS");
	ctx->debug_path = format_text("%s%s/usr/lib/debug", nix ?: "", nix ? ":" : "");
	NEED(ctx->debug_path);
	TRY(set_default_cache(ctx));
	*ret = take_ptr(ctx);
	return NULL;
}

void sp_ctx_free(struct sp_ctx *ctx)
{
	if (!ctx)
		return;
	proxies_free(ctx->proxies);
	free(ctx->root);
	free(ctx->debug_path);
	free(ctx->cache_path);
	free(ctx);
}

void sp_ctx_set_log(struct sp_ctx *ctx, sp_log_fn *log, void *arg, enum sp_log_level level)
{
	ctx->log = log;
	ctx->log_arg = arg;
	ctx->log_level = level;
}

struct sp_error *sp_ctx_set_root(struct sp_ctx *ctx, const char *path)
{
	return set_string(&ctx->root, path ?: "");
}

struct sp_error *sp_ctx_set_debug_path(struct sp_ctx *ctx, const char *path)
{
	return set_string(&ctx->debug_path, path ?: "");
}

void sp_ctx_set_debuginfod(struct sp_ctx *ctx, bool wanted)
{
	ctx->debuginfod = wanted;
}

struct sp_error *sp_ctx_set_cache_path(struct sp_ctx *ctx, const char *path)
{
	return set_string(&ctx->cache_path, path);
}

void sp_ctx_cancel(struct sp_ctx *ctx)
{
	atomic_store_explicit(&ctx->cancelled, true, memory_order_relaxed);
}

void sp_ctx_uncancel(struct sp_ctx *ctx)
{
	atomic_store_explicit(&ctx->cancelled, false, memory_order_relaxed);
}

enum sp_step sp_ctx_progress(const struct sp_ctx *ctx, uint64_t *done_ret, uint64_t *total_ret)
{
	enum sp_step step = atomic_load_explicit(&ctx->step, memory_order_relaxed);
	*done_ret = atomic_load_explicit(&ctx->step_done, memory_order_relaxed);
	*total_ret = atomic_load_explicit(&ctx->step_total, memory_order_relaxed);
	/* The three counters are read separately, so at the beginning of a step they may not match. */
	if (*done_ret > *total_ret)
		*done_ret = *total_ret;
	return step;
}

void ctx_begin_step(struct sp_ctx *ctx, enum sp_step step, uint64_t total)
{
	if (!ctx)
		return;
	atomic_store_explicit(&ctx->step_done, 0, memory_order_relaxed);
	atomic_store_explicit(&ctx->step_total, total, memory_order_relaxed);
	atomic_store_explicit(&ctx->step, step, memory_order_relaxed);
}

void ctx_add_done(struct sp_ctx *ctx, uint64_t done)
{
	if (ctx)
		atomic_fetch_add_explicit(&ctx->step_done, done, memory_order_relaxed);
}

const char *ctx_root(const struct sp_ctx *ctx)
{
	return ctx->root;
}

const char *ctx_debug_path(const struct sp_ctx *ctx)
{
	return ctx->debug_path;
}

bool ctx_debuginfod(const struct sp_ctx *ctx)
{
	return ctx->debuginfod;
}

int ctx_debuginfod_errno(const struct sp_ctx *ctx)
{
	return ctx ? ctx->debuginfod_errno : 0;
}

void ctx_set_debuginfod_errno(struct sp_ctx *ctx, int errnum)
{
	if (ctx)
		ctx->debuginfod_errno = errnum;
}

const char *ctx_cache_path(const struct sp_ctx *ctx)
{
	return ctx->cache_path;
}

struct proxies *ctx_proxies(const struct sp_ctx *ctx)
{
	return ctx->proxies;
}

bool ctx_cancelled(const struct sp_ctx *ctx)
{
	return ctx && atomic_load_explicit(&ctx->cancelled, memory_order_relaxed);
}

struct sp_error *ctx_check(const struct sp_ctx *ctx)
{
	return ctx_cancelled(ctx) ? error_new(SP_ERROR_CANCELLED, "cancelled") : NULL;
}

bool ctx_logs(const struct sp_ctx *ctx, enum sp_log_level level)
{
	return ctx->log && level <= ctx->log_level;
}

void ctx_log_(const struct sp_ctx *ctx, enum sp_log_level level, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *line = format_text_va(format, args);
	va_end(args);
	if (line)
		ctx->log(ctx->log_arg, level, line);
}
