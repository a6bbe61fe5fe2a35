/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a perf.data file: what is in it, and its records one by one. */
#ifndef SPROF_READER_H
#define SPROF_READER_H

#include <sprof/ctx.h>
#include <sprof/list.h>
#include <sprof/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_reader;

/*
 * Opens a perf.data file, a stream in perf's pipe format ("-" is standard input), or a directory of
 * perf record --threads, in either byte order. Pipes, compressed records and a directory's files
 * are first copied to an unlinked file in $TMPDIR or /tmp. A damaged or truncated file opens if its
 * events can be read; sp_reader_damage() lists the damage. sp_reader_free() frees *ret; `ctx` must
 * outlive it. Fails with SP_ERROR_NOT_FOUND, SP_ERROR_PERMISSION, SP_ERROR_FORMAT (with the
 * offset), SP_ERROR_LIMIT (no space for the copy) or SP_ERROR_UNSUPPORTED (names the missing
 * feature of this build).
 */
SP_API struct sp_error *sp_reader_open(struct sp_ctx *ctx, const char *path,
				       struct sp_reader **ret) SP_MUST_CHECK;

/*
 * Opens an open file, such as a memfd that a recorder wrote. `name` replaces its path in messages
 * and sp_file_info.path. The descriptor is duplicated and may be closed. Other than regular files
 * are read to their end.
 */
SP_API struct sp_error *sp_reader_open_fd(struct sp_ctx *ctx, int fd, const char *name,
					  struct sp_reader **ret) SP_MUST_CHECK;

/* Opens `size` bytes in memory, which are copied. */
SP_API struct sp_error *sp_reader_open_memory(struct sp_ctx *ctx, const void *bytes, size_t size,
					      const char *name,
					      struct sp_reader **ret) SP_MUST_CHECK;
SP_API void sp_reader_free(struct sp_reader *reader);

/*
 * Reads the next record in file order; *ret is NULL at the end. It is valid until the next call.
 * Fails with SP_ERROR_FORMAT if the data is damaged, or SP_ERROR_OS if it cannot be read. The next
 * call then resumes at the next readable record, if any.
 */
SP_API struct sp_error *sp_reader_next(struct sp_reader *reader,
				       const struct sp_record **ret) SP_MUST_CHECK;

/* Makes sp_reader_next() return the first record again. */
SP_API void sp_reader_rewind(struct sp_reader *reader);

/* An event of the recording; belongs to the reader. */
struct sp_event {
	const char *name; /* "cpu-clock", "cycles:u", … */
	struct perf_event_attr attr; /* in host order; bytes after the file's attr.size are 0 */
	const uint64_t *ids;
	size_t id_count;
	struct sp_attr_tail tail;
	const char *const *added_names; /* names of the events of a sum (sp_reader_add_up_pmus()) */
	size_t added_count;             /* 0: the event is in the file */
};

/*
 * Events, in the file's order; they belong to the reader. A pipe's events are complete once it is
 * open.
 */
SP_API size_t sp_reader_event_count(const struct sp_reader *reader);
SP_API const struct sp_event *sp_reader_event(const struct sp_reader *reader, size_t index);

/*
 * Adds up the events of one name that hybrid CPUs count by one PMU for each kind of CPU. The sum
 * "cycles:u (cpu_core + cpu_atom)" takes the place of the first one, and has the records of all. If
 * `names` is not empty, it must contain the names of all events of a sum. sp_reader_split_pmus()
 * restores the file's events. Events of sp_reader_event() stay valid; objects that read records do
 * not.
 */
SP_API struct sp_error *sp_reader_add_up_pmus(struct sp_reader *reader,
					      struct sp_string_list names) SP_MUST_CHECK;
SP_API void sp_reader_split_pmus(struct sp_reader *reader);

/*
 * Returns whether a pattern of fnmatch(3) matches the event's name, or its name without the PMU
 * ("cycles:u").
 */
SP_API bool sp_event_matches(const struct sp_event *event, const char *pattern);

/* A damaged place. The offset is the file's, or, if `what` states so, that of its inflated data. */
struct sp_damage {
	uint64_t offset;
	const char *what;
};

enum sp_reader_mode { SP_READER_FILE, SP_READER_PIPE, SP_READER_DIRECTORY };

/* Position of a CPU; -1: unknown, for example offline. */
struct sp_cpu_place {
	int32_t core, package, die;
};

/* Lists of CPUs as "0-3,8", one text for each package, core, die; NULL-terminated, or NULL. */
struct sp_cpu_topology {
	const char *const *packages, *const *cores, *const *dies;
	const struct sp_cpu_place *places; /* places of CPU 0, 1, … */
	size_t place_count;
};

struct sp_numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb; /* memory */
	const char *cpus;           /* "0-3" */
};

/*
 * Contents of the header. A missing string is NULL, a missing number 0. Complete after opening,
 * also for a stream. Belongs to the reader.
 */
struct sp_file_info {
	const char *path;
	enum sp_reader_mode mode;
	bool big_endian;
	bool compressed;
	/* The recorder was killed, had no space to finish it, or is still recording. */
	bool unfinished;
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_memory_kb;
	const char *const *cmdline; /* NULL-terminated; NULL if absent */
	uint64_t first_sample_ns, last_sample_ns; /* feature SAMPLE_TIME */
	bool has_clock;
	uint32_t clock_id;
	uint64_t clock_wall_ns, clock_ns; /* feature CLOCK_DATA: one moment on both clocks */
	struct sp_cpu_topology topology;
	const void *numa_nodes; /* sp_file_numa_node() */
	size_t numa_node_count;
	const void *build_ids; /* sp_file_build_id(): feature BUILD_ID */
	size_t build_id_count;
};

/* Return a NUMA node and a build-id, by indexes below their counts. */
SP_API const struct sp_numa_node *sp_file_numa_node(const struct sp_file_info *info, size_t index);
SP_API const struct sp_build_id *sp_file_build_id(const struct sp_file_info *info, size_t index);

/* Returns the header's contents; never NULL. */
SP_API const struct sp_file_info *sp_reader_info(const struct sp_reader *reader);

/* Returns whether the header has feature `bit` (perf's HEADER_*). */
SP_API bool sp_reader_has_feature(const struct sp_reader *reader, unsigned int bit);

/* Damage found so far; complete after the last record was read. */
SP_API size_t sp_reader_damage_count(const struct sp_reader *reader);
SP_API const struct sp_damage *sp_reader_damage(const struct sp_reader *reader, size_t index);

/*
 * Returns text that states that the recording is unfinished, without a full stop. NULL if it is
 * finished, or if sp_reader_damage() has the same text (perf leaves the size of the data 0 then).
 */
SP_API const char *sp_reader_unfinished(const struct sp_reader *reader);

/*
 * Returns the time of the last record that has one, in ns; 0: none has, or it cannot be read. In an
 * unfinished recording, it is about the time at which its recorder was killed.
 */
SP_API uint64_t sp_reader_last_ns(struct sp_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
