/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stores the names of a recording's code in the recording itself. */
#ifndef SPROF_ARCHIVE_H
#define SPROF_ARCHIVE_H

#include <sprof/analysis.h>
#include <sprof/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_archive_options {
	size_t size;
	const struct sp_files *files; /* places of files, as for an analysis; NULL: the defaults */
	unsigned int threads;         /* 0: as many as processors */
	/*
	 * Store the mapped files that have samples, too: for instructions, and for stacks that are unwound
	 * when the recording is read. Without it, files are stored if samples have stack copies.
	 */
	bool binaries;
	/*
	 * Store the instructions of sampled functions, the hottest first: at most 64 KiB of a
	 * function and 4 MiB in all, from files that every user may read.
	 */
	bool code;
	/*
	 * The recorder of the recording, stopped or at work: files that it opened to unwind stacks
	 * have names, even if their containers are gone. May be NULL.
	 */
	const struct sp_capture *capture;
	uint64_t size_limit; /* largest size of the recording with its names, in bytes; 0: none */
	/*
	 * Called when all names are found, before the recording is opened for writing. A caller
	 * that gave up rights to find names takes them back here. May be NULL.
	 */
	void (*before_write)(void);
	/*
	 * Limits on what the recorded programs can cost, in bytes: the size of all stored files
	 * together (0: none), and the memory for all perf maps and jitdumps together (0: 1 GiB).
	 */
	uint64_t files_limit, jit_limit;
	/* Overwrite arguments in command lines that name no files: the recording is for others. */
	bool hide_arguments;
};

/* Names and files that a recording stores. */
struct sp_archive_summary {
	size_t modules;   /* files and other code with names */
	size_t addresses; /* sampled addresses */
	size_t files;     /* stored files */
	uint64_t bytes;   /* bytes of the recording that hold them */
	size_t denied;    /* files without names, because this process may not read them */
	size_t left_out;  /* files, perf maps and jitdumps that were too large for the limits */
	uint64_t left_out_bytes; /* size of the files among them */
	size_t shown_arguments; /* with hide_arguments: command lines in compressed data, which stay
				 */
};

/*
 * Finds symbols, inlined functions and source lines of all sampled addresses, and appends them to the
 * recording, which may be perf's. Reports then no longer need the files, nor this machine. Names that
 * the recording already stores are replaced, or kept if nothing better is found. Its data does not
 * change. `options` and `ret` may be NULL.
 *
 * Fails as sp_reader_open() does, with SP_ERROR_UNSUPPORTED for recordings that nothing can be appended to
 * (directories, standard input, compressed files) or that are still being written, with
 * SP_ERROR_LIMIT if the size limit does not allow it, and with SP_ERROR_PERMISSION if another user
 * than this one and root owns the recording: names would tell that user about files that only the
 * caller may read. Recordings of `capture` are exempt.
 */
SP_API struct sp_error *sp_archive(struct sp_ctx *ctx, const char *path,
				   const struct sp_archive_options *options,
				   struct sp_archive_summary *ret) SP_MUST_CHECK;

/*
 * Reads the summary of the names and files that a recording stores; zeroed if it stores none. The
 * members `denied` and `shown_arguments` are always 0. Fails with SP_ERROR_FORMAT if the stored
 * names are damaged.
 */
SP_API struct sp_error *sp_archive_read(const struct sp_reader *reader,
					struct sp_archive_summary *ret) SP_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
