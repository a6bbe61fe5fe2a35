/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of an analysis: rows and call trees, with their uncertainty. */
#ifndef SPROF_PROFILE_H
#define SPROF_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keys of rows. */
enum sp_key {
	SP_KEY_COMM,
	SP_KEY_PID,
	SP_KEY_TID,
	SP_KEY_CPU,
	SP_KEY_DSO,
	SP_KEY_SYMBOL,   /* the symbol table's function, which contains inlined functions */
	SP_KEY_FUNCTION, /* the innermost function; inlined functions are separate */
	SP_KEY_SRCFILE,
	SP_KEY_SRCLINE,
	SP_KEY_EVENT,

	/* Values of the sample itself: in struct sp_value, by sp_row_value(). Names are perf's. */
	SP_KEY_SYMBOL_FROM, /* source and target of a branch */
	SP_KEY_SYMBOL_TO,
	SP_KEY_DSO_FROM,
	SP_KEY_DSO_TO,
	SP_KEY_SRCLINE_FROM,
	SP_KEY_SRCLINE_TO,
	SP_KEY_ADDR_FROM,
	SP_KEY_ADDR_TO,
	SP_KEY_MISPREDICT,  /* "Y", "N" */
	SP_KEY_CYCLES,      /* since the previous branch */
	SP_KEY_IN_TX,       /* "T", "." */
	SP_KEY_ABORT,       /* "A", "." */
	SP_KEY_BRANCH_TYPE, /* "CALL", "COND", … */
	SP_KEY_SYMBOL_DADDR, /* address of data that was read or written */
	SP_KEY_DSO_DADDR,
	SP_KEY_DADDR,
	SP_KEY_PHYS_DADDR,
	SP_KEY_DCACHELINE,  /* the data address without its lowest 6 bits */
	SP_KEY_MEM,         /* "L1 hit", "RAM hit", … */
	SP_KEY_SNOOP,
	SP_KEY_TLB,
	SP_KEY_LOCKED,
	SP_KEY_BLOCKED,
	SP_KEY_LOCAL_WEIGHT, /* weight of one sample, and sum over the row */
	SP_KEY_WEIGHT,
	SP_KEY_LOCAL_INS_LAT,
	SP_KEY_INS_LAT,
	SP_KEY_LOCAL_P_STAGE_CYC,
	SP_KEY_P_STAGE_CYC,
	SP_KEY_DATA_PAGE_SIZE,
	SP_KEY_CODE_PAGE_SIZE,
	SP_KEY_TRANSACTION,
	SP_KEY_CGROUP,      /* its path */
	SP_KEY_CGROUP_ID,   /* the cgroup namespace, "DEV/0xINODE" */
	SP_KEY_SOCKET,
	SP_KEY_TIME,        /* seconds, in steps of sp_analysis_rows.time_quantum_ns */
	SP_KEY_ADDR,        /* address of the code */
	SP_KEY_PARENT,      /* a caller: sp_analysis_rows.parent; "[other]": there is none */
	SP_KEY_STATE,       /* state of the thread: "[on CPU]", "[blocked: futex]", … (enum sp_mode) */
	SP_KEY_WAITS_FOR,   /* object that it waits for: "futex", "disk", …; NULL: it could run */
	SP_KEY_PARALLELISM, /* number of the process's threads that could run */
	SP_KEY_WAKER,       /* thread "comm[tid]" that ended the wait; or "[interrupt]", "[softirq]",
			     * "[idle]"; "[not woken]": the recording ended first; "-": no wait */
	SP_KEY_WAKEE,       /* thread "comm[tid]" that waited, or ran */
	SP_KEY_CMDLINE,     /* command line of the process, quoted for a shell; secrets are *** */
	SP_KEY_ARGUMENT,    /* names of files among its arguments; "-": none; NULL: unknown */
	SP_KEY_PROCESS,     /* "cc1 file.c (PID)", the last program of the process */
	SP_KEY_SYSCALL,     /* system call in which it ran or waits, by its name in the kernel;
			     * "[no system call]"; NULL: unknown */
	SP_KEY_TRACE,       /* a tracepoint's text */
	SP_KEY_FIELD = 128, /* the first of sp_analysis_rows.fields; the next follow it */
};

/* Limit of fields in one analysis. */
#define SP_FIELDS_MAX 64

/* The first of those that are values. */
#define SP_KEY_FIRST_VALUE SP_KEY_SYMBOL_FROM

/*
 * Name of a key ("comm", "symbol", …), and key of a name ("sym" is accepted, too). sp_key_parse()
 * returns false for an unknown name. Numbers between the last key and SP_KEY_FIELD are no keys and
 * have no name. The name of each field is "field", because real names are the recording's; it does
 * not parse.
 */
SP_API const char *sp_key_name(enum sp_key key);
SP_API bool sp_key_parse(const char *name, enum sp_key *ret);

/* Whether the value is a number for people and machines; others are texts. */
SP_API bool sp_key_is_number(enum sp_key key);

/*
 * A share of the event's whole weight, 0 to 1, with its 95 % interval. The interval includes the weight
 * of tasks that ended before their first sample (struct sp_unsampled), and unplaced_weight.
 */
struct sp_share {
	double value, low, high;
};

/*
 * Interval of a share in another run of the program: the share's own interval, united with one
 * from the variation of shares between 20 equal parts of the recording's time (as a first-order
 * autoregression), or between the recordings of three or more runs.
 */
struct sp_between {
	double low, high;
	double dispersion; /* variance between parts or runs, relative to that of sampling alone */
	bool varies;       /* the share varies much more than by sampling: dispersion > 4 */
};

/* Samples and the sum of their periods (ns for clock events). */
struct sp_weight {
	uint64_t samples, weight;
	struct sp_share share;
};

/*
 * Meaning of weights. Modes other than SP_MODE_CPU need context switches. They merge the events of
 * a recording into one profile, with time in ns as its weight.
 */
enum sp_mode {
	SP_MODE_CPU,     /* samples of each event */
	SP_MODE_WALL,    /* time of all threads: on a CPU, runnable (waiting for a CPU), blocked,
			  * and unknown, if switches were lost */
	SP_MODE_OFF_CPU, /* runnable, blocked and unknown time */
	SP_MODE_LATENCY, /* time on a CPU and runnable time, divided by the process's threads that could
			  * run at that time; sums to the processes' lifetimes */
	SP_MODE_WAKERS,  /* samples of wake-ups (sched_waking, sched_wakeup), with the stacks of wakers:
			  * blocked time that they ended. Threads (comm, pid, tid) are the woken ones.
			  * Without context switches, weights are numbers of wake-ups */
};

/* Returns the name of a mode ("cpu", "wall", …); NULL: there is no such mode. */
SP_API const char *sp_mode_name(enum sp_mode mode);

/* Thread's state that a tree's outermost nodes, or those below a command, are for, in modes of time. */
enum sp_state {
	SP_STATE_NONE,     /* the node is code */
	SP_STATE_ON_CPU,
	SP_STATE_RUNNABLE,
	SP_STATE_BLOCKED,
	SP_STATE_UNKNOWN,
};

/* Time by the state of threads. */
struct sp_times {
	/* SP_MODE_WAKERS: runnable_ns is the time from wake-up to running, and no part of the weight. */
	uint64_t running_ns, runnable_ns, blocked_ns;
	uint64_t unknown_ns;      /* states are not known, because records are missing; SP_MODE_WAKERS, of the
				   * profile: blocked time that no recorded wake-up ended */
	uint64_t waits;           /* an estimate if short waits were recorded at random */
	uint64_t longest_wait_ns; /* longest recorded wait */
};

/* Privilege level of a row's or tree node's code. */
enum sp_level {
	SP_LEVEL_USER,
	SP_LEVEL_KERNEL,
	SP_LEVEL_HYPERVISOR,
	SP_LEVEL_GUEST_USER,
	SP_LEVEL_GUEST_KERNEL,
};

/* Value of a row for a key from SP_KEY_FIRST_VALUE on. */
struct sp_value {
	enum sp_key key;
	const char *text; /* text to show; NULL: not in the samples */
	uint64_t number;  /* value of numbers, addresses and symbols (start of the symbol in its file) */
	bool known;       /* symbols: it has a name */
	enum sp_level level; /* symbols only */
};

/* Longest code of one instruction that is kept, in bytes. */
#define SP_CODE_MAX 16

/* A sampled instruction, or the one that a caller returns to. */
struct sp_instruction {
	uint64_t offset;    /* in its file */
	const char *symbol; /* symbol table's function; NULL: unknown */
	uint64_t distance;  /* from the symbol's begin; 0 without a symbol */
	uint16_t machine;   /* ELF's EM_* */
	uint8_t size;       /* bytes in `code`, at least those of the instruction; 0: no file */
	uint8_t code[SP_CODE_MAX];
};

/*
 * A function with a symbol or debug information that is not of code made at run time. The path and
 * the address, or else all members, identify it in all reports of a recording.
 */
struct sp_identity {
	const char *linkage_name; /* spelled as in the symbol table or the debug information */
	const char *path;    /* whole path of its dso */
	uint64_t address;    /* start in the file; 0: it is always inlined */
	const char *home;    /* source file if it is always inlined; else NULL */
	uint32_t home_line;  /* line of its declaration; 0: unknown, or not needed */
	bool name_is_shared; /* a function in another dso has its shown name */
};

/* One row. Fields of keys that were not requested are NULL or 0. Strings belong to the analysis. */
struct sp_row {
	struct sp_weight self, total;
	const char *comm;
	int32_t pid, tid, cpu; /* -1: not known */
	const char *dso;       /* perf's text: the file's base name, "[kernel.kallsyms]", … */
	const char *dso_path;  /* the whole path, or dso */
	/*
	 * Demangled, as long as it takes to be unique in the dso; without the key dso, with
	 * " [DSO]" if others have that name. Without a name, "fn@0x" and the ELF address of the
	 * function, or "0x" and the address of the code.
	 */
	const char *symbol;
	const char *function;  /* like symbol */
	bool symbol_known;     /* false: `symbol` and `function` are such an address */
	bool from_cfi;         /* they are "fn@0x…": a range of .eh_frame or .debug_frame */
	bool own_code;         /* the user's own, as in sp_analysis_stacks.own_code */
	bool inlined;          /* the function, wherever it was sampled or called */
	uint64_t address;      /* the sampled address, or the start of the symbol or function in its file */
	enum sp_level level;
	const char *srcfile;   /* "file.c", or a part of the path if several files have that name.
			        * This and all later members are NULL or 0 if unknown */
	const char *srcline;   /* "file.c:123" */
	const char *srcpath;   /* the whole path, and the line */
	uint32_t line;
	const char *event;
	const char *build_id;  /* build-id of the dso in hex; NULL if unknown */
	const void *values;    /* sp_row_value() */
	size_t value_count;
	uint64_t missing_weight; /* part of the profile's missing_weight that may be this row's */
	const struct sp_instruction *instruction; /* with sp_analysis_rows.instructions; NULL: unknown */
	const struct sp_times *self_times, *total_times; /* parts of self and total; NULL in SP_MODE_CPU */
	const struct sp_identity *identity; /* identity of the function or symbol; NULL: unknown */
	const struct sp_between *self_between, *total_between; /* NULL: unknown, or not requested */
};

/*
 * Returns the row's value of a key from SP_KEY_FIRST_VALUE on; NULL if the key was not requested.
 * It belongs to the row.
 */
SP_API const struct sp_value *sp_row_value(const struct sp_row *row, enum sp_key key);

/* Ratio of two events' weights, such as instructions per cycle, with its 95 % interval. */
struct sp_ratio {
	double value, low, high;
	bool known;   /* the denominator is not 0 */
	bool bounded; /* low and high are known: the samples suffice to estimate the variance */
};

/* Kind of a ratio: two events of a group, by their index in it. */
struct sp_ratio_kind {
	const char *name;     /* "IPC", "cache-miss-rate", … */
	bool percent;         /* a part of a whole */
	size_t numerator, denominator;
};

/* A row of a group's events side by side. Arrays have one for each event, or ratio. */
struct sp_joint_row {
	const struct sp_row *row; /* keys of the row; self and total are the first event's */
	const struct sp_weight *self, *total;
	const struct sp_ratio *ratios, *total_ratios; /* ratios of self and of total */
};

/* Events that were counted at the same time. */
struct sp_group {
	const char *name;       /* name in the recording; may be empty */
	const size_t *profiles; /* their numbers, for sp_analysis_profile(); the leader's first */
	size_t profile_count;
	const void *ratios;     /* sp_group_ratio() */
	size_t ratio_count;
	const void *rows;       /* sp_group_row(): ordered as the leader's, then by the others' */
	size_t row_count;
};

/* Return a ratio's kind and a row, by indexes below ratio_count and row_count. */
SP_API const struct sp_ratio_kind *sp_group_ratio(const struct sp_group *group, size_t index);
SP_API const struct sp_joint_row *sp_group_row(const struct sp_group *group, size_t index);

/* End of a stack. */
enum sp_stack_end {
	SP_STACK_COMPLETE,       /* reaches the thread's start */
	SP_STACK_TRUNCATED,      /* not complete; unwound stacks: the stack copy was too short */
	SP_STACK_NO_UNWIND_INFO,
	SP_STACK_BAD_MEMORY,
	SP_STACK_DEPTH_LIMIT,
	SP_STACK_SKIPPED,        /* the recorder had no time for the user part */
	/* A signal handler runs on another stack; the interrupted stack was not copied. */
	SP_STACK_SWITCHED,
	SP_STACK_NONE,           /* no stack was recorded */
	SP_STACK_DEFERRED,       /* the record with the user part is missing */
	SP_STACK_INVALID_ADDRESS, /* no code is mapped at the next address */
};

/*
 * A node of the call tree: a function, a command (sp_analysis_tree.comms), or a mark of missing
 * callers. A mark has the cause as its name, `truncated` is true and `dso` NULL; nodes below it
 * (above it in a tree of callees) have unknown callers.
 */
struct sp_tree_node {
	const char *symbol, *function; /* one of them (by `inlines` of the options), the other is NULL */
	const char *dso, *dso_path, *build_id; /* same as in struct sp_row */
	bool symbol_known, from_cfi;
	bool own_code; /* same as in struct sp_row */
	bool inlined; /* inlined into its caller */
	uint64_t address; /* same as in struct sp_row */
	enum sp_level level;
	struct sp_weight self, total;
	const void *children; /* sp_tree_child(): heaviest total first */
	size_t child_count;
	size_t left_out; /* more children, lighter than tree_least */
	bool truncated;
	/*
	 * With collapse_recursion: this node is the first of `cycle_calls` nodes that form one
	 * round of a repeated cycle of calls, with up to `cycle_rounds` rounds. From the function
	 * up, it is the last one called.
	 */
	uint32_t cycle_calls, cycle_rounds;
	uint32_t start_line; /* line of the declaration; 0: unknown, or it has a linkage name */
	const char *srcfile, *srcline, *srcpath; /* with tree_lines, as in struct sp_row */
	uint32_t line;
	enum sp_state state;
	const struct sp_identity *identity; /* same as in struct sp_row */
	/*
	 * With sp_analysis_tree.addresses: the sampled instruction's address, or one in a caller's
	 * call instruction, as in the file's symbol table; of the kernel as it ran. 0: unknown.
	 */
	uint64_t sampled;
};

/* Returns a child, by an index below child_count. */
SP_API const struct sp_tree_node *sp_tree_child(const struct sp_tree_node *node, size_t index);

/* Words for an end of stacks. */
struct sp_stack_end_words {
	const char *key;  /* in JSON, such as "no_unwind_info" */
	const char *text; /* completes "12% of stacks are": "without unwind information" */
	const char *mark; /* cause in a call tree, such as "depth limit"; NULL: none */
};

/* Returns the words for an end; NULL: there is no such end, and none above it. */
SP_API const struct sp_stack_end_words *sp_stack_end_words(enum sp_stack_end end);

/*
 * A program with inherited events and short tasks. Each task begins with a whole period, so that a
 * shorter one has no sample.
 */
struct sp_unsampled {
	const char *comm;    /* name at the end of the task */
	uint64_t tasks; /* created while recording; with READ records: tasks that have counted */
	uint64_t unsampled;  /* tasks without a sample */
	uint64_t lasted_ns;  /* sum of their lifetimes; 0: unknown */
	uint64_t weight;     /* CPU time, in the samples' unit if exact, else an upper bound in ns */
	bool exact;
};

/* One event's profile; belongs to the analysis, as do all it points to. */
struct sp_profile {
	const char *event;
	uint64_t samples, weight; /* sums of the whole recording, before filters */
	uint64_t shown_samples, shown_weight; /* after filters */
	/*
	 * SP_MODE_CPU: the event excludes the kernel, but the weight is all CPU time, by context
	 * switches. The part that is known to be in the kernel: rows "[kernel: not sampled]" before
	 * filters.
	 */
	bool weight_has_kernel;
	uint64_t kernel_weight;
	uint64_t lost;            /* lost samples; CPU-wide: including other tasks' samples */
	uint64_t lost_own; /* lost samples that belong to the target, by the recorder's estimate */
	uint64_t lost_unknown; /* lost samples of the target or of others: the recording was
				* interrupted before its estimate; lost_own is 0 */
	uint64_t throttled_count, throttled_ns;
	/*
	 * Weight that lost samples, throttling and tasks without a sample may stand for. A row may
	 * lack up to its own missing_weight, so that its share w / W is between w / (W + missing)
	 * and (w + own) / (W + own). Also 0 if it is unknown, as for branches.
	 */
	uint64_t missing_weight;
	/*
	 * Part of the weight that no two samples enclose in tasks that began during the
	 * recording: an inherited clock begins with a whole period. It may belong to other rows;
	 * intervals include it.
	 */
	uint64_t unplaced_weight;
	bool weight_is_time;      /* periods are nanoseconds */
	/*
	 * SP_MODE_CPU: equal numbers of samples have other weights, because rates vary, or context
	 * switches have the CPU times; rows may then have weight without samples.
	 */
	bool weight_is_scaled;
	bool weight_is_latency;   /* weights are cycles that memory took */
	/*
	 * Shares are estimates. Else they are exact: each occurrence of the event was sampled
	 * (period 1), and none lost. Intervals are then as narrow as one number.
	 */
	bool is_estimate;
	double effective_samples; /* all samples, for intervals: fewer if their weights differ */
	bool has_callchains;
	bool of_branches;  /* "samples" here are branches, from N stacks: */
	uint64_t branch_stacks;
	uint64_t accesses; /* with sp_analysis_samples.memory: samples with memory data */
	/*
	 * Number of samples by the end of their call chain (enum sp_stack_end; the rest is for ends
	 * of later versions). Samples outside of a filter's times are not counted.
	 */
	uint64_t stacks[16];
	uint64_t repaired;  /* stacks with outer frames of another sample */
	uint64_t shortened; /* stacks without their middle frames */
	uint64_t limited;   /* stacks cut by sp_analysis_stacks.max_frames */
	/* Stacks with a frame unwound by frame pointer, without unwind information. */
	uint64_t guessed;
	uint64_t system_stack; /* complete stacks to which Go's runtime changed from a goroutine's */
	/* sp_profile_unsampled(): none if all tasks have samples, or events were CPU-wide. */
	const void *unsampled;
	size_t unsampled_count;
	/* sp_profile_row(): heaviest total first with children, unless order_by_self; else self. */
	const void *rows;
	size_t row_count;
	enum sp_mode mode;      /* other modes than SP_MODE_CPU: the profile is the sum of several events */
	struct sp_times times;  /* parts of `weight`; in SP_MODE_CPU all are 0 */
	uint64_t wait_samples;  /* samples of waits; `samples` are all */
	uint64_t other_samples; /* samples of events that the mode does not count, before filters */
	uint64_t threads;       /* threads with known states */
	uint64_t idle_threads, idle_ns; /* threads, and their time, that are left out of the profile, because
					 * they only waited at one place (sp_analysis_samples.all_threads) */
	/*
	 * Root: its children are the outermost callers (or the innermost callees, or the commands).
	 * Its total is the weight after filters. NULL without a tree.
	 */
	const struct sp_tree_node *tree;
};

/* Return a row, and a program (heaviest first), by indexes below row_count and unsampled_count. */
SP_API const struct sp_row *sp_profile_row(const struct sp_profile *profile, size_t index);
SP_API const struct sp_unsampled *sp_profile_unsampled(const struct sp_profile *profile,
						       size_t index);

/* Returns the number of samples with any end of their call chain. */
SP_API uint64_t sp_profile_stack_count(const struct sp_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
