/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes of the recorder (rate lowered, side-band lost), kept in the recording. A note is an
 * EVENT_UPDATE record (78) of a private kind, which other readers ignore. Little-endian:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     NOTE_KIND ("sprof" in ASCII)
 *	u64     id: 0, the first event (perf refuses the file where it finds none)
 *	u64     time_ns, in the recording's clock; 0: of the whole recording
 *	char[]  text: the sentence in UTF-8, a NUL, zeros up to 8 bytes
 *	u32     kind: enum note_kind
 *	u16     count of values, u16 0
 *	u64[]   values
 *	char[]  object: a name or empty, a NUL, zeros up to 8 bytes
 *
 * The text is for readers that do not know the kind, such as older versions. Older recordings end
 * with the text. Later versions may add values and what follows the object; both are ignored.
 */
#pragma once

#include <sprof/record.h>
#include "record/encode.h"

#define NOTE_KIND UINT64_C(0x666f727073)

/* Meanings and values are in note_texts.c. Numbers are in files: they never change. */
enum note_kind {
	NOTE_TEXT = 0,
	NOTE_EVENT = 1,
	NOTE_CALL_GRAPH = 2,
	NOTE_RATE_LOWERED = 3,
	NOTE_RATE_RESTORED = 4,
	NOTE_PERIOD_RAISED = 5,
	NOTE_PERIOD_RESTORED = 6,
	NOTE_COPY_LIMITED = 7,
	NOTE_UNWIND_LATER = 8,
	NOTE_NO_THREAD_COUNTS = 9,
	NOTE_THREAD_COUNTS_RISKY = 10,
	NOTE_CGROUP = 11,
	NOTE_CGROUPS = 12,
	NOTE_LOCK_IN = 13,
	NOTE_CLOCK_SET = 14,
	NOTE_SLEPT = 15,
	NOTE_CLOCK_UNSTABLE = 16,
	NOTE_REREAD = 17,
	NOTE_CPU_OFFLINE = 18,
	NOTE_CPU_GONE = 19,
	NOTE_CPU_BACK = 20,
	NOTE_CPUS_UNSTABLE = 21,
	NOTE_CPU_NEW = 22,
	NOTE_FP_FOR_WINDOW = 23,
	NOTE_FP_FOR_SPACE = 24,
	NOTE_SHORT_WINDOW = 25,
	NOTE_RINGS_SHRUNK = 26,
	NOTE_ATTACH_INCOMPLETE = 27,
	NOTE_KERNEL_HIDDEN = 28,
	NOTE_MAPS_UNREADABLE = 29,
	NOTE_PROCESS_MAPS_UNREADABLE = 30,
	NOTE_MAX_SIZE = 31,
	NOTE_TRACEPOINTS_UNREADABLE = 32,
	NOTE_UNCOVERED_TASKS = 33,
	NOTE_UNCOVERED = 34,
	NOTE_STACKS_SKIPPED = 35,
	NOTE_STACKS_TRUNCATED = 36,
	NOTE_STACK_PAGES_UNREADABLE = 37,
	NOTE_STACKS_SHORTENED = 38,
	NOTE_DROPPED = 39,
	NOTE_STALLED = 40,
	NOTE_BUILD_IDS_LIMITED = 41,
	NOTE_THREAD_COUNTS_MISSING = 42,
	NOTE_LOST_HELPERS = 43,
	NOTE_LOST_OWN = 44,
	NOTE_OVERWRITTEN = 45,
	NOTE_SAMPLING_ON = 46,
	NOTE_SAMPLING_OFF = 47,
	NOTE_SAMPLING_WAS_OFF = 48,
	NOTE_SAMPLING_UNSTABLE = 49,
	NOTE_WRITE_FAILED = 50,
	NOTE_ATTACH_REFUSED = 51,
	NOTE_PYTHON_DROPPED = 52,
	NOTE_SCHEDSTAT = 53,
	NOTE_OFF_CPU = 54,
	NOTE_WAITS_LOST = 55,
	NOTE_SNAPSHOTS_DENIED = 56,
	NOTE_FILE_BEGINS = 57,
	NOTE_LOST_AT_END = 58,
	NOTE_FILE_ENDS = 59,
	NOTE_WAKEUPS_BY_ALL = 60,
	NOTE_WAKEUPS_BY_RECORDED = 61,
	NOTE_PYTHON_DAMAGED = 62,
	NOTE_RECORDS_DROPPED = 63,
	NOTE_MAPS_DEFERRED = 64,
	NOTE_READS_LEFT = 65,
	NOTE_MAPS_DROPPED = 66,
	NOTE_COMMAND_TIME = 67,
	NOTE_SWITCHES_OFF = 68,
	NOTE_SWITCHES_ON = 69,
	NOTE_RING_SIZE = 70,
	NOTE_COMMAND_LINES = 71,
	NOTE_LOST_PHASES = 72,
	NOTE_RECORDED = 73,
	NOTE_DITHERED = 74,
	NOTE_UNRECORDED = 75,
	NOTE_KINDS,
};

/* Reasons why samples cover less than the CPU time used: value 2 of NOTE_UNCOVERED. */
enum note_uncovered {
	UNCOVERED_LOST_METADATA,
	UNCOVERED_DROPPED,
	UNCOVERED_LOST,
	UNCOVERED_SHARED_CPUS,
	UNCOVERED_PAUSED,
	UNCOVERED_SHORT_TASKS,
	UNCOVERED_RATE,
};

/* Sources of the stacks of waits: value 0 of NOTE_OFF_CPU. */
enum note_off_cpu {
	OFF_CPU_NONE,
	OFF_CPU_SWITCHES,  /* samples of context switches */
	OFF_CPU_SNAPSHOTS, /* copies of the stacks of waiting threads */
};

/* Remedies for missing Python functions: value 2 of NOTE_PYTHON_DROPPED. */
enum note_python {
	PYTHON_AT_EACH_RECORD,
	PYTHON_LONGER,
	PYTHON_LOWER_RATE,
	PYTHON_AT_EACH_WAIT,
	PYTHON_NO_MORE,
};

/* Rights that permit snapshots: value 3 of NOTE_SNAPSHOTS_DENIED. */
enum note_denied {
	DENIED_USER,       /* another user's process, or one that changed its user */
	DENIED_CAPABILITY, /* root without CAP_SYS_PTRACE */
	DENIED_YAMA,       /* kernel.yama.ptrace_scope is 1 */
};

/* Settings that hide kernel addresses, as bits: value 0 of NOTE_KERNEL_HIDDEN. */
enum note_hidden {
	HIDDEN_BY_KPTR = 1,     /* kernel.kptr_restrict */
	HIDDEN_BY_PARANOID = 2, /* kernel.perf_event_paranoid */
};

/*
 * Value 6 (bytes) of NOTE_STACKS_TRUNCATED if no size for --call-graph dwarf,SIZE would hold the
 * stacks.
 */
#define NOTE_STACK_NO_MORE UINT64_MAX
/* Result of note_stack_bytes(): no stack was larger than its copy; other causes truncated them. */
#define NOTE_STACK_NO_SIZE (UINT64_MAX - 1)

/* Returns the size of a note's data, from time_ns to the object's NUL; 0 if it is damaged. */
size_t note_data_size(const uint8_t *data, size_t size);

/* Returns the number of a kind's values; 0 for unknown kinds. */
size_t note_value_count(uint32_t kind);

/* Returns whether a report need not show the note, because it shows the same fact or details itself. */
bool note_is_silent(uint32_t kind);

/*
 * Returns facts that the analysis needs, from the note's values or the sentence of an older recorder. 0
 * or false: the note has none.
 */
uint64_t note_stack_bytes(const struct sp_note *note);
bool note_is_of_pages(const struct sp_note *note); /* whether most truncated stacks end at a missing page */
unsigned int note_hidden(const struct sp_note *note); /* bits of enum note_hidden */
bool note_lost_own(const struct sp_note *note, uint64_t *lost_ret, uint64_t *own_ret);

/*
 * Appends a note. Without a text, it has the sentence of its kind. A text need not end in a NUL. Fails
 * with SP_ERROR_LIMIT if the note does not fit a record.
 */
struct sp_error *record_encode_note(struct record_buffer *buffer, const struct sp_note *note)
	SP_MUST_CHECK;
