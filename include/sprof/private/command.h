/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions for the sprof command only, which complete the public headers. */
#ifndef SPROF_PRIVATE_COMMAND_H
#define SPROF_PRIVATE_COMMAND_H

#include <sprof/capture.h>
#include <sprof/profile.h>
#include <sprof/reader.h>
#include <sprof/script.h>
#include <sprof/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process that is related to what was recorded, and is not recorded itself. */
struct sp_capture_process {
	pid_t pid;
	pid_t parent;    /* the recorded process that it descends from; 0: the command, which has ended */
	char comm[64];   /* the kernel's name for it: any bytes */
	uint64_t cpu_ns; /* CPU time during the recording, in the kernel's ticks (10 ms) */
	bool runs;       /* it was running at the end, not waiting */
};

/*
 * After sp_capture_stop(): descendants of `pids` that were not recorded, or processes that a command
 * which has ended left running. *ret belongs to the capture; returns how many there are.
 */
SP_API size_t sp_capture_unrecorded(const struct sp_capture *capture,
				    const struct sp_capture_process **ret);

/*
 * Returns the index of the program in a recorder's command line (sp_file_info.cmdline): in
 * "sprof record -g -- make -j2" that of make. 0: options cannot be separated from the program.
 */
SP_API size_t sp_recorded_program(const char *const *words);

/* Returns whether sp_archive() hid a word of a command line: it consists of several asterisks. */
SP_API bool sp_word_is_hidden(const char *word);

/* Returns the CPU time of the processes that read other processes for the capture. */
SP_API uint64_t sp_capture_proxy_ns(const struct sp_capture *capture);

/*
 * Opens the file that sp_capture_next_file() returned last, or the one that sp_capture_stop()
 * closed, for reading: the caller's descriptor. -1: it is a pipe or device, or was taken before.
 */
SP_API int sp_capture_take_file(struct sp_capture *capture);

/*
 * Opens the file that is being written, for reading, with in_memory: the caller's descriptor. Other
 * threads may call it while the capture runs. -1: there is none.
 */
SP_API int sp_capture_open_file(struct sp_capture *capture);

/*
 * In a forked process: closes all descriptors above standard error, except the `count` of `fds`
 * and those of files for sp_archive_options.capture. The capture is for that alone then.
 */
SP_API void sp_capture_after_fork(const struct sp_capture *capture, const int *fds, size_t count);

/* Returns whether the note is a detail, or a report shows the same fact: do not print it. */
SP_API bool sp_capture_note_is_silent(const struct sp_capture *capture, size_t index);

/* Mean and variance of repeated measurements. A zeroed struct is empty. */
struct sp_stat_mean {
	uint64_t count;
	double mean, squares; /* squares: sum of squared differences to the mean */
};

/* Adds a measurement. */
SP_API void sp_stat_mean_add(struct sp_stat_mean *mean, double value);

/* Returns the standard error of the mean; 0 with fewer than two measurements. */
SP_API double sp_stat_mean_error(const struct sp_stat_mean *mean);

/*
 * Returns half the width of the mean's 95 % interval, by Student's t. Measurements must be
 * independent and roughly normal. 0 with fewer than two.
 */
SP_API double sp_stat_mean_interval(const struct sp_stat_mean *mean);

/* A file in which samples have no name: number of samples, cause and remedy. */
struct sp_nameless {
	const char *module;
	uint64_t samples;
	const char *what;   /* one sentence; NULL: not known */
	const char *remedy; /* or NULL */
};

/*
 * Finds the next file, from number *index (0 at first) on, that gave names but may not be the recorded
 * one. Returns the reason in one sentence, and the remedy; NULL: no more. To be called after the
 * tellers have ended. The script owns the strings.
 */
SP_API const char *sp_script_unproven(const struct sp_script *script, size_t *index,
				      const char **remedy_ret);

/* Like sp_script_unproven(), for damaged debug information: returns what is wrong. */
SP_API const char *sp_script_damaged(const struct sp_script *script, size_t *index);

/*
 * Returns up to `room` modules with samples without symbols, by descending samples; the result is
 * the number of all. Call it after all struct sp_teller of the script have ended. Strings belong to
 * the script.
 */
SP_API size_t sp_script_nameless(const struct sp_script *script, struct sp_nameless *ret,
				 size_t room);

/*
 * Sets the times in ns of the last record before a damaged place and of the first one after it, so
 * that the missing records are between them. 0: there is none, or it is unknown. Reads the file.
 */
SP_API void sp_reader_damage_time(struct sp_reader *reader, size_t index, uint64_t *from_ns_ret,
				  uint64_t *to_ns_ret);

/*
 * Writes consecutive files of one rotation into one file at `path`; an older file there becomes
 * PATH.old. With `memory_fd_ret`, the file is in memory, and the caller closes its descriptor. The
 * last of the files may still be written. `count` is at least 1.
 */
SP_API struct sp_error *sp_recordings_join(struct sp_reader *const *readers, size_t count,
					   const char *path, int *memory_fd_ret) SP_MUST_CHECK;

/* All keys are below it; some numbers below it are no keys. */
#define SP_KEY_LIMIT (SP_KEY_FIELD + SP_FIELDS_MAX)

/* Returns whether rows by this key need struct sp_analysis_samples.branches. */
SP_API bool sp_key_is_of_branches(enum sp_key key);

/*
 * Returns whether a text names a function: it is the whole name, or a part that users write. This
 * is the name without parameters, template arguments and version ("ns::sort" of
 * "ns::sort<int>(int*)", but not "sort"; "read" of "read@@GLIBC_2.2.5"). In JavaScript it is the
 * name without column, line and file ("f /a.js" of "f /a.js:1:2"), in Java the name without result
 * type and package ("Map.put" of "void a.b.Map.put(int)"). Dots of a name that was shown shortened
 * stand for any text.
 */
SP_API bool sp_name_fits(const char *wanted, const char *name);

#ifdef __cplusplus
}
#endif
#endif
