/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a recording to profiles. */
#ifndef SPROF_ANALYSIS_H
#define SPROF_ANALYSIS_H

#include <sprof/ctx.h>
#include <sprof/filter.h>
#include <sprof/options.h>
#include <sprof/profile.h>
#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sp_tree_order {
	SP_TREE_NONE,
	SP_TREE_CALLER, /* from the outermost caller down */
	SP_TREE_CALLEE, /* from the sampled function up to its callers */
};

/* Grouping of events: rows side by side. */
enum sp_grouping {
	SP_GROUPS_NONE,
	SP_GROUPS_RECORDED, /* events recorded as groups */
	SP_GROUPS_ALL,      /* all events of the recording are one */
};

/* A field of tracepoints' samples (sprof/trace.h). */
struct sp_field {
	const char *name;
	int32_t event; /* number of the event's profile; -1: all events with the field */
	bool raw;      /* index of sp_trace_field() */
};

/*
 * Names of symbols, functions and lines, shared by several analyses: a later one does not open the
 * files again. Only names of files that the recording identifies (build-id, or size and hash) and
 * of the recorded kernel are cached. Names that 16 analyses did not use are freed. Analyses in
 * different threads may share one object.
 */
struct sp_names;
SP_API struct sp_error *sp_names_new(struct sp_names **ret) SP_MUST_CHECK;

/* Frees the names; no analysis may use them then. NULL is allowed. */
SP_API void sp_names_free(struct sp_names *names);

/* Counted samples of a recording, for further analyses that read none again. */
struct sp_counts;

/* Frees the counts, before their reader and names. NULL is allowed. */
SP_API void sp_counts_free(struct sp_counts *counts);

/* Between-run intervals of rows (struct sp_between). */
enum sp_between_choice {
	SP_BETWEEN_NONE,
	SP_BETWEEN_SELF,
	SP_BETWEEN_ALL, /* total's, too */
};

/* Keys, order and texts of rows. */
struct sp_analysis_rows {
	size_t size;             /* sizeof of this struct, as in each group */
	const enum sp_key *keys; /* keys of the rows; none: comm, dso, function */
	size_t key_count;
	bool children;           /* compute totals and sort by them (needs call chains);
				  * without it a row's `total` is its `self` */
	bool order_by_self;      /* sort by self even if totals are computed */
	bool none;               /* make no rows, only totals and the tree */
	enum sp_grouping groups;
	bool whole_paths;        /* srcfile and srcline have the whole path of the file */
	/*
	 * SP_KEY_PARENT is the nearest function on the stack, from the sampled one to its callers,
	 * with a name that matches this extended regular expression. NULL: perf's,
	 * "^sys_|^do_page_fault".
	 */
	const char *parent;
	bool parent_only;        /* with that key: only samples that have one are shown */
	uint64_t time_quantum_ns; /* width of SP_KEY_TIME's bins; 0: 100 ms */
	/*
	 * SP_KEY_TIME has offsets from `time_origin_ns` ("+0.100 s"), from which its steps are
	 * counted; if it is the first key, rows are in order of time. False: the recording's clock.
	 */
	bool time_offsets;
	uint64_t time_origin_ns;
	const struct sp_field *fields; /* fields of SP_KEY_FIELD and the keys after it */
	size_t field_count;
	bool raw_trace;          /* SP_KEY_TRACE has fields as stored, not as the event prints them */
	bool instructions;       /* rows of code with debug information are by instruction, too */
	/*
	 * Rows of all code are by instruction, and sp_annotation_new() (sprof/annotation.h)
	 * accepts them: the recorded files stay open. sp_analysis_options.names and the texts of
	 * sp_files must outlive the analysis then.
	 */
	bool annotate;
	/*
	 * Two or more threads of a process with names that differ only in numbers are one comm,
	 * "worker-* (16 threads)"; not with SP_KEY_TID. With SP_KEY_PID, modes of threads have
	 * the number in the process, without idle threads, and equal names are one, too.
	 */
	bool pools;
	/*
	 * Between-run intervals. Unknown in other modes than SP_MODE_CPU, for branches, with
	 * callers, time filters or SP_KEY_TIME, without the header's times of first and last
	 * sample, and for several recordings unless they are three or more whole runs of the
	 * same command.
	 */
	enum sp_between_choice between;
};

/* Call tree. */
struct sp_analysis_tree {
	size_t size;
	enum sp_tree_order order;
	double least;            /* share of the lightest branch to keep; 0: all are kept */
	bool comms;              /* the outermost nodes are commands: `symbol` is the comm, `dso` is
				  * NULL, and below are the call chains */
	bool processes; /* the outermost nodes are processes instead: "cc1 file.c (PID)", with
			 * the files among the arguments */
	bool command_lines;      /* and their whole command lines */
	bool lines;              /* nodes are by source line, too */
	bool collapse_recursion; /* show one round of repeated calls */
	bool addresses;          /* nodes are by sampled address, too */
	/*
	 * Nodes are processes only, below the processes that forked them. `total` includes the
	 * descendants. Needs `processes`.
	 */
	bool process_tree;
};

/* Call chains of samples. */
struct sp_analysis_stacks {
	size_t size;
	/*
	 * Limit of frames for each stack, counted from the sampled function; 0: no limit. Stacks
	 * beyond the limit count as at the depth limit, and in sp_profile.limited.
	 */
	size_t max_frames;
	/*
	 * Inlined functions count as functions. Off: functions and the tree's nodes are symbols,
	 * and debug information is only read if source lines are requested.
	 */
	enum sp_choice inlines;
	/*
	 * A function's name (as in sp_filter.symbols), or an extended regular expression between
	 * slashes; NULL: none. Set at most one of the two. Only stacks through the function are
	 * shown, and only their part above its outermost call (callers), or from that call down
	 * (callees). Callers: rows are callers, with the weight of their direct calls as `self`;
	 * the tree's innermost node is the function. Callees: rows and tree are the function and
	 * its callees. The function's total is sp_profile.shown_weight.
	 */
	const char *callers, *callees;
	/*
	 * Other modes than SP_MODE_CPU: stacks of waits keep their kernel functions. Off: a wait's stack ends
	 * in its innermost user function, if it has one, whichever kernel functions it was recorded with.
	 */
	bool kernel_waits;
	/*
	 * Stacks lack the frames of CPython's interpreter that only run Python code: an evaluation
	 * function's time is that of its Python function, and the interpreter's frames between two
	 * Python functions are left out. A run of the garbage collector is one function. Weights
	 * do not change.
	 */
	bool fold_python;
	/*
	 * Stacks have only frames of the user's own code: those of the kernel, language runtimes
	 * and the system's libraries are left out, and their weight is their callers'. A stack
	 * without own code is its outermost function. `fold_python` has no effect then.
	 */
	bool own_code;
};

/* Meaning and weight of samples. */
struct sp_analysis_samples {
	size_t size;
	/*
	 * Count branches: each entry of a sample's branch stack counts with weight 1, at its target
	 * (keys of code, filters). Call chains are not available then.
	 */
	bool branches;
	bool memory;    /* the weight of a sample is its latency (SP_KEY_LOCAL_WEIGHT) */
	bool relative;  /* shares are of the samples that pass the filters, not of all */
	bool time_bins; /* count samples over time: sp_analysis_time_bins() */
	bool timeline;  /* make sp_analysis_timeline() (sprof/timeline.h); needs a tree of callers */
	size_t timeline_cells; /* limit of its cells for each event; 0: 1,000,000 */
	enum sp_mode mode;
	/*
	 * Other modes: event with the samples that distribute on-CPU time; NULL: a clock, else a
	 * hardware event.
	 */
	const char *event;
	/*
	 * SP_MODE_WALL, _OFF_CPU, _WAKERS: do not leave out threads that waited at one place for
	 * more than 99 % of their known time.
	 */
	bool all_threads;
};

/*
 * Groups of options. NULL and zeroed groups are the defaults of `sprof report`, except that rows have no
 * totals. Borrowed until sp_analysis_run() returns.
 */
struct sp_analysis_options {
	size_t size;
	const struct sp_analysis_rows *rows;
	const struct sp_analysis_tree *tree;
	const struct sp_analysis_stacks *stacks;
	const struct sp_analysis_samples *samples;
	const struct sp_filter *filter;
	const struct sp_files *files;
	unsigned int threads;   /* 0: as many as processors */
	struct sp_names *names; /* cache of symbols for the next analysis; NULL: none */
	/*
	 * NULL: samples are read. Else *counts is NULL, or has the counts that an analysis of the
	 * same reader set: with the same options except tree.order, tree.least, tree.comms,
	 * stacks.callers, stacks.callees, rows.none, rows.children, rows.order_by_self,
	 * rows.between, samples.relative, samples.timeline and the filters by dso, symbol and
	 * stack. Counts that do not suffice are replaced. None
	 * are kept in other modes than SP_MODE_CPU, of branches, and of several recordings.
	 * While they exist, they have the names of their modules: other analyses read those again.
	 */
	struct sp_counts **counts;
};

struct sp_analysis;

/*
 * Analyses the whole recording. Damage is no failure: sp_reader_damage() and the findings report
 * it. The reader must outlive the analysis, and must not be used during the call.
 * sp_analysis_free() frees *ret. Fails with SP_ERROR_INVALID for an invalid regular expression,
 * SP_ERROR_NOT_FOUND if the recording lacks records that the mode needs, SP_ERROR_UNSUPPORTED if
 * the named unwinder does not support it, SP_ERROR_CANCELLED after sp_ctx_cancel(), and
 * SP_ERROR_NO_MEMORY.
 */
SP_API struct sp_error *sp_analysis_run(struct sp_ctx *ctx, struct sp_reader *reader,
					const struct sp_analysis_options *options,
					struct sp_analysis **ret) SP_MUST_CHECK;
SP_API void sp_analysis_free(struct sp_analysis *analysis);

/* One of several recordings, and its own options. */
struct sp_recording {
	struct sp_reader *reader;
	const struct sp_time_span *times; /* replaces sp_filter.times; borrowed, too */
	size_t time_count;
	uint64_t time_origin_ns;          /* replaces sp_analysis_rows.time_origin_ns */
};

/*
 * Sums several recordings, such as the files of one rotation, or the same program's runs on several
 * machines. Each has its own machine, mappings and files. Events of one name are one event, rows of
 * equal keys one row, and nodes of equal functions one node. An interval covers all samples. Events
 * of the first recording come first, in its order. A finding is about one recording; its sentence
 * begins with the recording's path, its share is of the total weight. Readers are used as by
 * sp_analysis_run(); each reads its own file. `count` is at least 1.
 */
SP_API struct sp_error *sp_analysis_sum(struct sp_ctx *ctx, const struct sp_recording *recordings,
					size_t count, const struct sp_analysis_options *options,
					struct sp_analysis **ret) SP_MUST_CHECK;

/* Profiles, one for each event, in the recordings' order; they belong to the analysis. */
SP_API size_t sp_analysis_profile_count(const struct sp_analysis *analysis);
SP_API const struct sp_profile *sp_analysis_profile(const struct sp_analysis *analysis,
						    size_t index);

/* Returns the event of a profile, in the first recording that has it. It belongs to that reader. */
SP_API const struct sp_event *sp_analysis_event(const struct sp_analysis *analysis, size_t index);

/* Groups, if the options requested them and the recording has them; they belong to the analysis. */
SP_API size_t sp_analysis_group_count(const struct sp_analysis *analysis);
SP_API const struct sp_group *sp_analysis_group(const struct sp_analysis *analysis, size_t index);

/*
 * Returns the times of the first and last sample; 0 for several recordings, because their clocks
 * differ.
 */
SP_API uint64_t sp_analysis_first_ns(const struct sp_analysis *analysis);
SP_API uint64_t sp_analysis_last_ns(const struct sp_analysis *analysis);

/* Returns the time from the first to the last sample, summed over the recordings. */
SP_API uint64_t sp_analysis_duration_ns(const struct sp_analysis *analysis);

/* Samples in time order: bin i begins at begin_ns + i * width_ns, in the recording's clock. */
struct sp_time_bins {
	uint64_t begin_ns;
	uint64_t width_ns; /* a power of two */
	const uint64_t *samples;
	size_t count; /* at most 1024; the first and the last bin have samples */
};

/*
 * Returns the event's samples over time, before filters: their sum is the number of SAMPLE records
 * with a time. NULL without sp_analysis_samples.time_bins, for several recordings, and without
 * samples. They belong to the analysis.
 */
SP_API const struct sp_time_bins *sp_analysis_time_bins(const struct sp_analysis *analysis,
							 size_t index);

/* Kind of a limit of the data's quality; most serious first. */
enum sp_finding_kind {
	SP_FINDING_DAMAGE,
	SP_FINDING_LOST,          /* samples lost because the ring was full */
	SP_FINDING_THROTTLED,     /* the kernel stopped the event for a while */
	SP_FINDING_UNMAPPED,      /* samples at addresses without a known mapping */
	SP_FINDING_WRONG_FILE,    /* the file now at the path is not the one recorded */
	SP_FINDING_UNPROVEN_FILE, /* names are shown from a file that may not be the recorded one */
	SP_FINDING_MISSING_FILE,
	SP_FINDING_NO_SYMBOLS,    /* the file has no symbol table for these addresses */
	SP_FINDING_KERNEL_HIDDEN, /* kernel symbols were hidden or are of another kernel */
	SP_FINDING_TRUNCATED_STACKS, /* callers are missing, which rows or a tree show */
	SP_FINDING_UNSAMPLED,     /* tasks too short to be sampled */
	SP_FINDING_GUEST, /* samples of virtual machines, which only the guest could symbolize */
	SP_FINDING_NOTE,          /* the recorder's own notes */
	SP_FINDING_MULTIPLEXED,   /* counters were multiplexed: counts are partial */
	SP_FINDING_LOCK_IN,       /* clock samples in step with timers */
	SP_FINDING_NO_BRANCHES,   /* samples without the values of the keys: branch stacks */
	SP_FINDING_LATE,          /* clock samples taken after code with interrupts off */
};

/*
 * Findings of one `cause` can be shown as one: "22% of samples have no symbols: a 16%, b 6%". Shares
 * of one event add up, if they are of different objects.
 */
struct sp_finding {
	enum sp_finding_kind kind;
	uint64_t samples;    /* affected; 0: not known */
	double share;        /* share of the whole weight */
	const char *what;    /* one sentence */
	const char *remedy;  /* remedy, or NULL */
	const char *cause;   /* a stable word: "no_symbols", "no_unwind_info", … */
	const char *object;  /* file or program with that share; NULL: the event or recording */
	const char *event;   /* NULL: all events together */
	const char *summary; /* text after a share: "of samples have no symbols"; NULL: none */
};

/* All findings, index 0 first; belong to the analysis. */
SP_API size_t sp_analysis_finding_count(const struct sp_analysis *analysis);
SP_API const struct sp_finding *sp_analysis_finding(const struct sp_analysis *analysis,
						    size_t index);

#ifdef __cplusplus
}
#endif
#endif
