/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sprof/ctx.h>
#include "base/proxy.h"

/* Returns the directory that contains /proc and /sys; "" by default. Never NULL. */
const char *ctx_root(const struct sp_ctx *ctx);
/* Values of sp_ctx_set_debug_path() and sp_ctx_set_debuginfod(). */
const char *ctx_debug_path(const struct sp_ctx *ctx);
bool ctx_debuginfod(const struct sp_ctx *ctx);
/*
 * Returns the cause of the last query that no debuginfod server answered; 0: none. `ctx` may be
 * NULL.
 */
int ctx_debuginfod_errno(const struct sp_ctx *ctx);
void ctx_set_debuginfod_errno(struct sp_ctx *ctx, int errnum);
/* Returns the directory of sprof's cache; NULL: cache nothing. */
const char *ctx_cache_path(const struct sp_ctx *ctx);

/* Proxies for calls that may never return. Off unless a recorder has begun them. Never NULL. */
struct proxies *ctx_proxies(const struct sp_ctx *ctx);

/* Returns whether sp_ctx_cancel() was called; false for NULL. */
bool ctx_cancelled(const struct sp_ctx *ctx);

/* Returns SP_ERROR_CANCELLED after sp_ctx_cancel(), else NULL. */
struct sp_error *ctx_check(const struct sp_ctx *ctx) SP_MUST_CHECK;

/*
 * Begins a step of `total` units (0: unknown) for sp_ctx_progress(). Threads that work on it add the
 * units that they have done. `ctx` may be NULL.
 */
void ctx_begin_step(struct sp_ctx *ctx, enum sp_step step, uint64_t total);
void ctx_add_done(struct sp_ctx *ctx, uint64_t done);

void ctx_log_(const struct sp_ctx *ctx, enum sp_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool ctx_logs(const struct sp_ctx *ctx, enum sp_log_level level);

/* Logs a message. The level is tested before the message is formatted. */
#define ctx_log(ctx, level, ...)                                              \
	do {                                                                  \
		if (ctx_logs((ctx), (level)))                                 \
			ctx_log_((ctx), (level), __VA_ARGS__);                \
	} while (0)
