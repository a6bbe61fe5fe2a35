/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a perf.data file that is valid at any moment (design: header first;
 * HEADER_FEATURE records at the start of the data; data.size patched after each
 * round and always on a whole record; feature table behind the data at the end,
 * its bits set only then). To a pipe: perf's pipe format.
 */
#ifndef FILE_WRITER_H
#define FILE_WRITER_H

#include <sprof/ctx.h>
#include <sprof/reader.h>
#include <sys/uio.h>

struct writer;

/* What the feature table and the HEADER_FEATURE records are made of. Borrowed. */
struct writer_info {
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_memory_kb;
	const char *const *cmdline; /* NULL-terminated */
	const struct writer_pmu *pmus; /* PMU_MAPPINGS */
	size_t pmu_count;
	uint32_t clock_id;
	uint64_t clock_resolution_ns, clock_wall_ns, clock_ns;
};

struct writer_pmu {
	uint32_t type;
	const char *name;
};

/*
 * Opens PATH ("-": standard output, pipe format) with mode 0600; a file already
 * there is renamed to PATH.old first. Nothing is followed that another user could
 * have planted.
 */
struct sp_error *writer_open(struct sp_ctx *ctx, const char *path, const struct sp_event *events,
			     size_t event_count, const struct writer_info *info,
			     struct writer **ret) SP_MUST_CHECK;

/*
 * Appends whole records. Fails with SP_ERROR_LIMIT (disk full, file size limit,
 * quota) or SP_ERROR_OS; the file then still ends on the last whole record that
 * fitted, further writes fail at once, and writer_close() still works.
 */
struct sp_error *writer_write(struct writer *writer, struct iovec *spans, int count) SP_MUST_CHECK;

/* Makes all that was written part of the file (patches data.size). */
struct sp_error *writer_commit(struct writer *writer) SP_MUST_CHECK;

/* Bytes written, header and features included. */
uint64_t writer_size(const struct writer *writer);

/* What is known only at the end. */
struct writer_end {
	uint64_t first_sample_ns, last_sample_ns; /* 0, 0: none */
	const struct sp_build_id *build_ids;
	size_t build_id_count;
};

/* Writes the feature table and closes; the writer is freed in any case. */
struct sp_error *writer_close(struct writer *writer, const struct writer_end *end) SP_MUST_CHECK;

/* Closes without a table: what was committed stays readable. NULL is allowed. */
void writer_free(struct writer *writer);

#endif
