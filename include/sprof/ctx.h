/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPROF_CTX_H
#define SPROF_CTX_H

#include <stdint.h>
#include <sprof/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Settings of one use of the library: log, roots of /proc and /sys, folders of debug files. The
 * library has no global state: every object is made from a context, which must outlive it. Threads
 * may share a context after its set-up.
 */
struct sp_ctx;

enum sp_log_level { SP_LOG_WARNING, SP_LOG_INFO, SP_LOG_DEBUG };

/* Called with one line, without a newline. The library never prints by itself. */
typedef void sp_log_fn(void *arg, enum sp_log_level level, const char *line);

/* Creates a context with the defaults below; fails only when out of memory. NULL may be freed. */
SP_API struct sp_error *sp_ctx_new(struct sp_ctx **ret) SP_MUST_CHECK;
SP_API void sp_ctx_free(struct sp_ctx *ctx);

/* Passes lines up to `level` to `log`. The default is no log. */
SP_API void sp_ctx_set_log(struct sp_ctx *ctx, sp_log_fn *log, void *arg, enum sp_log_level level);

/*
 * Sets the directory that has the machine's /proc and /sys; "" is the default. Tests set a
 * directory of made-up files. Copied.
 */
SP_API struct sp_error *sp_ctx_set_root(struct sp_ctx *ctx, const char *path) SP_MUST_CHECK;

/*
 * Sets folders of separate debug files: a colon-separated list, like gdb's debug-file-directory.
 * The default is $NIX_DEBUG_INFO_DIRS, then /usr/lib/debug. Copied.
 */
SP_API struct sp_error *sp_ctx_set_debug_path(struct sp_ctx *ctx, const char *path) SP_MUST_CHECK;

/*
 * Sets whether missing debug files and binaries are downloaded from the servers in
 * $DEBUGINFOD_URLS. The default is no: nothing else in the library uses the network.
 */
SP_API void sp_ctx_set_debuginfod(struct sp_ctx *ctx, bool wanted);

/*
 * Sets the folder for results that are costly to compute again (kernel symbols by build-id). NULL:
 * none. The default is $XDG_CACHE_HOME/sprof or ~/.cache/sprof. Copied.
 */
SP_API struct sp_error *sp_ctx_set_cache_path(struct sp_ctx *ctx, const char *path) SP_MUST_CHECK;

/*
 * Cancels sp_analysis_run(), and sp_reader_open() while it inflates a compressed recording. Running
 * calls return SP_ERROR_CANCELLED within some 20 ms, later calls at once. Any thread and any signal
 * handler may call it. The state lasts until sp_ctx_uncancel(), which must not be called while such
 * a call runs. After it the context can be used again, and so can a reader after a cancelled
 * analysis.
 */
SP_API void sp_ctx_cancel(struct sp_ctx *ctx);
SP_API void sp_ctx_uncancel(struct sp_ctx *ctx);

/* Steps of long calls, in their order; an analysis of several recordings repeats them. */
enum sp_step {
	SP_STEP_NONE,     /* no long call has begun */
	SP_STEP_INFLATE,  /* sp_reader_open() copies compressed records, in bytes */
	SP_STEP_MAPPINGS, /* reads processes and mappings, in bytes */
	SP_STEP_SAMPLES,  /* reads samples, in bytes */
	SP_STEP_NAMES,    /* reads debug information, in addresses; a script: in batches */
	SP_STEP_ROWS,     /* makes rows and trees; it has no total */
	SP_STEP_RECORDS,  /* tellers of a script read records, in batches */
};

/*
 * Returns the step of the running or last long call with this context. *done_ret of *total_ret are
 * done, in the step's unit; total 0: unknown. Any thread may call it.
 */
SP_API enum sp_step sp_ctx_progress(const struct sp_ctx *ctx, uint64_t *done_ret,
				    uint64_t *total_ret);

#ifdef __cplusplus
}
#endif
#endif
