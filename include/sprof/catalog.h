/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of this machine, and limits of their use. */
#ifndef SPROF_CATALOG_H
#define SPROF_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sprof/ctx.h>
#include <sprof/list.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sp_catalog_kind {
	SP_CATALOG_HARDWARE,
	SP_CATALOG_SOFTWARE,
	SP_CATALOG_TOOL,       /* measured without the kernel's events: duration_time */
	SP_CATALOG_CACHE,
	SP_CATALOG_PMU,        /* named by a PMU in sysfs */
	SP_CATALOG_RAW,        /* a form: what can be written, not an event */
	SP_CATALOG_BREAKPOINT, /* a form */
	SP_CATALOG_PROBE,      /* a form */
	SP_CATALOG_TRACEPOINT,
	SP_CATALOG_VENDOR,     /* named by libpfm */
};

/* One event. Strings belong to the catalog; missing ones are NULL. */
struct sp_catalog_entry {
	enum sp_catalog_kind kind;
	const char *name;        /* syntax of -e */
	const char *alias;       /* another name of the same */
	const char *type;        /* for people: "Software event" */
	const char *description;
	const char *details;     /* a tracepoint's fields */
	const char *encoding;    /* encoding of a PMU's event: "event=0x3c,umask=1" */
	const char *pmu, *unit;
};

struct sp_catalog_options {
	/*
	 * Kinds (hw, sw, cache, pmu, tracepoint, mem, probe, raw, tool, pfm), globs of names, or
	 * parts of them; none: all but pfm.
	 */
	struct sp_string_list patterns;
	const char *pmu; /* only this PMU; NULL: all */
	bool details;    /* read `details`, too */
};

struct sp_catalog;

/*
 * Lists events. Hardware, software and cache events are included if the kernel opens them. A note
 * names what needs more rights to be listed. Fails only when out of memory.
 */
SP_API struct sp_error *sp_catalog_new(struct sp_ctx *ctx, const struct sp_catalog_options *options,
				       struct sp_catalog **ret) SP_MUST_CHECK;
/* NULL is allowed. */
SP_API void sp_catalog_free(struct sp_catalog *catalog);

/* Entries by kind, and by name within a kind. */
SP_API size_t sp_catalog_entry_count(const struct sp_catalog *catalog);

/* Returns the entry at an index below sp_catalog_entry_count(). It belongs to the catalog. */
SP_API const struct sp_catalog_entry *sp_catalog_entry(const struct sp_catalog *catalog,
						       size_t index);

/* Returns a line for each part that could not be listed, with a remedy; NULL after the last. */
SP_API const char *sp_catalog_note(const struct sp_catalog *catalog, size_t index);

/* A limit of the kernel or the user on recording. Strings belong to the limits. */
struct sp_limit {
	const char *name;    /* "kernel.perf_event_paranoid", "RLIMIT_NOFILE" */
	const char *path;    /* the file that was read, or NULL */
	const char *value;   /* text of the file; NULL: missing */
	const char *meaning; /* for this user */
	const char *remedy;  /* command to raise the limit; NULL: there is none */
};

struct sp_limits;

/* Reads all limits from files and the kernel. Fails only when out of memory. */
SP_API struct sp_error *sp_limits_new(struct sp_ctx *ctx, struct sp_limits **ret) SP_MUST_CHECK;
/* NULL is allowed. */
SP_API void sp_limits_free(struct sp_limits *limits);

/* Returns the number of limits. */
SP_API size_t sp_limits_entry_count(const struct sp_limits *limits);

/* Returns the limit at an index below sp_limits_entry_count(). It belongs to the limits. */
SP_API const struct sp_limit *sp_limits_entry(const struct sp_limits *limits, size_t index);

#ifdef __cplusplus
}
#endif
#endif
