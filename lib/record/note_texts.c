/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sentences of notes. A template has the values in braces, by number:
 *
 *	{0}       count: 1,234           {0#}      plain: 1234
 *	{0s}      ns as seconds: 1.20    {0t}      ns as seconds: 1.203
 *	{0k} {0m} bytes as KiB, MiB      {0%}      per mille as percent: 12 %
 *	{0|a|b}   a if the value is 1    {o}       the note's object
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/words.h>
#include "record/note.h"

struct note_output {
	char *text;
	size_t size, length; /* capacity of the text, and its length; the latter may be larger, as with
			      * snprintf() */
};

static void put(struct note_output *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++, out->length++)
		if (out->length + 1 < out->size)
			out->text[out->length] = text[i];
}

static void put_text(struct note_output *out, const char *text)
{
	put(out, text, strlen(text));
}

static void put_count(struct note_output *out, uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			put(out, ",", 1);
		put(out, &digits[i], 1);
	}
}

static void put_seconds(struct note_output *out, uint64_t ns, int decimals)
{
	char text[40];
	snprintf(text, sizeof(text), "%.*f", decimals, (double)ns / 1e9);
	put_text(out, text);
}

/* Returns the absolute value of a value that is signed. */
static uint64_t magnitude(uint64_t value)
{
	return (int64_t)value < 0 ? -value : value;
}

/* Writes one placeholder of a template, after its brace. */
static void put_value(struct note_output *out, const struct sp_note *note, const char *place)
{
	char text[40];
	uint64_t value = *place == 'o' ? 0 : note->values[*place - '0'];
	if (*place == 'o') {
		put(out, note->object, note->object_size);
		return;
	}
	switch (place[1]) {
	case '#':
		snprintf(text, sizeof(text), "%" PRIu64, value);
		put_text(out, text);
		break;
	case 's':
	case 't':
		put_seconds(out, value, place[1] == 's' ? 2 : 3);
		break;
	case 'k':
	case 'm':
		put_count(out, value >> (place[1] == 'k' ? 10 : 20));
		break;
	case '%':
		snprintf(text, sizeof(text), "%" PRIu64 " %%", (value + 5) / 10);
		put_text(out, text);
		break;
	case '|': {
		size_t one = strcspn(place + 2, "|");
		const char *many = place + 2 + one + 1;
		put(out, value == 1 ? place + 2 : many, value == 1 ? one : strcspn(many, "}"));
		break;
	}
	default:
		put_count(out, value);
		break;
	}
}

static void put_template(struct note_output *out, const struct sp_note *note, const char *template)
{
	while (*template) {
		size_t plain = strcspn(template, "{");
		put(out, template, plain);
		template += plain;
		if (!*template)
			return;
		put_value(out, note, template + 1);
		template += strcspn(template, "}") + 1;
	}
}

static void put_off_cpu(struct note_output *out, const struct sp_note *note)
{
	static const char *const sources[] = {
		[OFF_CPU_NONE] = "stacks of waiting threads: none (kernel.perf_event_paranoid is {2#}; for "
				 "stacks: sudo sysctl kernel.perf_event_paranoid=1)",
		[OFF_CPU_SWITCHES] = "stacks of waiting threads: from context switches",
		[OFF_CPU_SNAPSHOTS] = "stacks of waiting threads: from snapshots every {3#} ms "
				      "(kernel.perf_event_paranoid is {2#}; for exact stacks: sudo sysctl "
				      "kernel.perf_event_paranoid=1)",
	};
	if (note->values[0] < count_of(sources))
		put_template(out, note, sources[note->values[0]]);
}

static void put_wakeups_by_recorded(struct note_output *out, const struct sp_note *note)
{
	uint64_t errnum = note->values[0] <= 4095 ? note->values[0] : 0;
	put_text(out, "wake-ups by other programs are missing: ");
	if (!errnum)
		put_text(out, "their threads are unknown in a container, and in a group of events (record "
			      "on the host, without a group)");
	else if (errnum == EMFILE)
		put_text(out, "too many files are open (to record them: ulimit -n 65536)");
	else if (errnum == EACCES || errnum == EPERM)
		put_text(out, "no permission to open events of whole CPUs (to record them: "
			      "sudo sprof record)");
	else {
		put_text(out, "cannot open events of whole CPUs: ");
		put_text(out, strerror((int)errnum));
		put_text(out, " (to record them: as root, -a)");
	}
}

static void put_waits_lost(struct note_output *out, const struct sp_note *note)
{
	if (note->values[0])
		put_template(out, note, "{0} of {1} waits have no known duration: SWITCH records were lost "
					"(record with larger ring buffers: -m)");
	if (note->values[0] && note->values[2])
		put_text(out, "; ");
	if (note->values[2])
		put_template(out, note, "{2} wait{2||s} {2|has|have} no stack: {3} MiB of samples were held "
					"until waits ended (smaller samples: --call-graph fp)");
}

static void put_snapshots_denied(struct note_output *out, const struct sp_note *note)
{
	static const char *const remedies[] = {
		[DENIED_USER] = "record as root",
		[DENIED_CAPABILITY] = "CAP_SYS_PTRACE is needed; in a container: --cap-add SYS_PTRACE",
		[DENIED_YAMA] = "sudo sysctl kernel.yama.ptrace_scope=0",
	};
	put_template(out, note, "{0} of {1} snapshots of waiting threads were denied: no permission to trace "
				"process {2#} (");
	if (note->values[3] < count_of(remedies))
		put_text(out, remedies[note->values[3]]);
	put_text(out, ")");
}

static void put_command_lines(struct note_output *out, const struct sp_note *note)
{
	put_template(out, note, "command lines of {0} executed program{0||s}");
	if (note->values[1])
		put_template(out, note,
			     "; {1} ended or executed another program before {1|it was|they "
			     "were} read");
	if (note->values[2])
		put_template(out, note, "; {2} {2|is|are} longer than 4 KiB");
	if (note->values[3])
		put_template(out, note, "; {3} {3|does|do} not fit into the 8 MiB of a file");
}

static void put_reads_left(struct note_output *out, const struct sp_note *note)
{
	put_template(out, note, "{0} read{0||s} of ");
	put_template(out, note, note->values[2] ? "process {2#} or its files" : "mapped files");
	put_template(out, note, " got no answer from a file system, and {1} more {1|was|were} left "
				"out: stacks and symbols may be missing (");
	put_template(out, note, note->values[2] ? "end process {2#}, or " : "");
	put_text(out, "umount -l the file system)");
}

static void put_kernel_hidden(struct note_output *out, const struct sp_note *note)
{
	bool paranoid = note->values[0] & HIDDEN_BY_PARANOID;
	bool kptr = note->values[0] & HIDDEN_BY_KPTR || !paranoid;
	put_text(out, kptr ? "kernel.kptr_restrict" : "kernel.perf_event_paranoid");
	put_text(out, kptr && paranoid ? " and kernel.perf_event_paranoid hide" : " hides");
	put_text(out, " kernel addresses: kernel samples will have no symbols (sudo sysctl");
	put_text(out, kptr ? " kernel.kptr_restrict=0" : "");
	put_text(out, paranoid ? " kernel.perf_event_paranoid=1)" : ")");
}

static void put_lock_in(struct note_output *out, const struct sp_note *note)
{
	const struct sp_lock_in lock_in = {
		.period_ns = note->values[0] ?: 1, .timer_hz = note->values[1], .free_hz = note->values[2],
	};
	char text[SP_WORDS_SIZE];
	sp_lock_in_text(&lock_in, text, sizeof(text));
	put_text(out, text);
	put_template(out, note, ": use -F {2#}");
}

/* Meaning of value 1: the recording's clock minus the named one. */
static const char *clock_offset(const struct sp_note *note)
{
	return (int64_t)note->values[1] < 0 ? "ahead of" : "behind";
}

static void put_clock_set(struct note_output *out, const struct sp_note *note)
{
	put_template(out, note, "{o} was set ");
	put_text(out, (int64_t)note->values[0] < 0 ? "back by " : "forward by ");
	put_seconds(out, magnitude(note->values[0]), 3);
	put_text(out, " s: recorded times continue without the step, now ");
	put_seconds(out, magnitude(note->values[1]), 3);
	put_text(out, " s ");
	put_text(out, clock_offset(note));
	put_text(out, " it");
}

static void put_slept(struct note_output *out, const struct sp_note *note)
{
	put_text(out, "the machine was suspended for ");
	put_seconds(out, magnitude(note->values[0]), 3);
	put_text(out, " s: recorded times exclude it, now ");
	put_seconds(out, magnitude(note->values[1]), 3);
	put_text(out, " s ");
	put_text(out, clock_offset(note));
	put_template(out, note, " {o}");
}

static void put_uncovered(struct note_output *out, const struct sp_note *note)
{
	static const char *const whys[] = {
		[UNCOVERED_LOST_METADATA] = "records of new processes were lost (-m 2M)",
		[UNCOVERED_DROPPED] = "samples were dropped",
		[UNCOVERED_LOST] = "samples were lost",
		[UNCOVERED_SHARED_CPUS] = "per-CPU sampling is inexact on busy CPUs; use --scope task",
		[UNCOVERED_PAUSED] = "sampling was paused, or the hypervisor ran other guests",
		[UNCOVERED_SHORT_TASKS] = "threads and processes shorter than a period are rarely sampled",
		[UNCOVERED_RATE] = "the rate is higher than this machine can sample; use a lower -F",
	};
	uint64_t why = note->values[2];
	put_template(out, note, "samples cover {0%} of the command's {1s} s CPU time");
	if (why < count_of(whys)) {
		put_text(out, ": ");
		put_text(out, whys[why]);
	}
	if (why == UNCOVERED_SHORT_TASKS)
		put_text(out, note->values[3] ? "; use --scope cpu" : "; use --switch-events");
}

static void put_lost_own(struct note_output *out, const struct sp_note *note)
{
	put_template(out, note, note->values[0]
		? "{0} samples lost across all processes on these CPUs, about {1} of them of the "
		  "target"
		: "samples of other processes on these CPUs are left out");
}

static void put_uncovered_tasks(struct note_output *out, const struct sp_note *note)
{
	put_template(out, note, "up to {0s} s CPU time of {1} new threads and processes "
				"{1|is|are} not sampled (use ");
	put_text(out, note->values[2] ? "--scope cpu, or --switch-events)" : "--switch-events)");
}

static void put_truncated(struct note_output *out, const struct sp_note *note)
{
	const char *before = ": ";
	static const char *const kinds[] = {
		"{2} larger than the copy", "{3} at a stack page that is not resident", "{4} elsewhere",
	};
	const uint64_t *causes = note->values + 2;
	/* Causes of waits without a sample count, too: the numbers do not fit then. */
	bool fit = causes[0] + causes[1] + causes[2] == note->values[0];
	put_template(out, note, "{0} of {1} stacks truncated");
	for (size_t i = 0; fit && i < count_of(kinds); i++) {
		if (!causes[i])
			continue;
		put_text(out, before);
		put_template(out, note, kinds[i]);
		before = ", ";
	}
	if (fit && note->values[5])
		put_template(out, note, "; {5} not completed from other samples");
	if (note->values[6] == NOTE_STACK_NO_MORE)
		put_text(out, "; the kernel copies at most 64 KB of each");
	else if (note->values[6])
		put_template(out, note, "; use --call-graph dwarf,{6#}");
}

static void put_python_dropped(struct note_output *out, const struct sp_note *note)
{
	static const char *const remedies[] = {
		[PYTHON_AT_EACH_RECORD] = (", or its stack is too deep (to read them at each "
					   "sample: --mmap-flush 8)"),
		[PYTHON_LONGER] = ", or its stack is too deep (record for longer)",
		[PYTHON_LOWER_RATE] = " (to read them at each sample: -F 2500 or lower)",
		[PYTHON_AT_EACH_WAIT] = (", mostly after waits of less than 1 ms (to read them "
					 "sooner, which slows the program: --threads "
					 "--wakeup-events 1)"),
		[PYTHON_NO_MORE] = ", or its stack is too deep",
	};
	uint64_t remedy = note->values[2];
	put_template(out, note, "Python functions are missing at {0} of {1} calls of the "
				"interpreter: the program ran on before they were read");
	put_text(out, remedies[remedy <= PYTHON_NO_MORE ? remedy : PYTHON_LONGER]);
}

static void put_overwritten(struct note_output *out, const struct sp_note *note)
{
	put_template(out, note, "overwrite mode: this file has the last {0s} ");
	if (note->values[1] != note->values[0])
		put_template(out, note, "to {1s} ");
	put_template(out, note, "s of {2} CPU{2||s}; {3} KB of older samples were overwritten");
}

static void put_sampling(struct note_output *out, const struct sp_note *note)
{
	put_text(out, "sampling");
	if (note->object_size)
		put_template(out, note, " of {o}");
	put_text(out, note->kind == NOTE_SAMPLING_ON ? " was enabled" : " was disabled");
	if (note->kind == NOTE_SAMPLING_WAS_OFF)
		put_text(out, " when this file began");
}

static void put_write_failed(struct note_output *out, const struct sp_note *note)
{
	put_text(out, "writing stopped: ");
	put_text(out, strerror(note->values[0] <= 4095 ? (int)note->values[0] : 0));
	put_template(out, note, "; {1} later sample{1||s} missing");
}

struct kind {
	uint8_t values;
	bool silent;
	const char *template;
	void (*put)(struct note_output *out,
		    const struct sp_note *note); /* function that writes the sentence,
						  * instead of a template */
};

static const struct kind kinds[NOTE_KINDS] = {
	/* Notes of lib/event and of the choice of call chains have their own text. */
	[NOTE_EVENT] = {0},
	[NOTE_CALL_GRAPH] = {.silent = true},
	[NOTE_RATE_LOWERED] = {3, false,
		"{0%} of samples were lost: now sampling at {1#} Hz instead of {2#} Hz (to keep "
		"the rate: larger -m, or --no-adapt)"},
	[NOTE_RATE_RESTORED] = {1, false, "the sampling rate is back at {0#} Hz"},
	[NOTE_PERIOD_RAISED] = {3, false,
		"{0%} of samples were lost: now sampling every {1#} events instead of {2#} (to "
		"keep the period: larger -m, or --no-adapt)"},
	[NOTE_PERIOD_RESTORED] = {1, false, "sampling every {0#} events again"},
	[NOTE_COPY_LIMITED] = {1, false,
		"stack copies are limited to {0#} bytes with --intr-regs"},
	[NOTE_UNWIND_LATER] = {0, false,
		"stacks will be unwound by report: events differ in call-graph= or period"},
	[NOTE_NO_THREAD_COUNTS] = {0, false,
		"-s: no counts per thread: only a command or processes (-p) with inherited events "
		"have them"},
	[NOTE_THREAD_COUNTS_RISKY] = {0, false,
		"-s: counts per thread can stop the ring buffers where many threads end; compare "
		"with a recording without -s"},
	[NOTE_CGROUP] = {0, false, "control group: {o}"},
	[NOTE_CGROUPS] = {0, false, "control groups, one event each, in this order: {o}"},
	[NOTE_LOCK_IN] = {3, false, NULL, put_lock_in},
	[NOTE_CLOCK_SET] = {2, false, NULL, put_clock_set},
	[NOTE_SLEPT] = {2, false, NULL, put_slept},
	[NOTE_CLOCK_UNSTABLE] = {0, false, "{o} was set many times: no more notes about it"},
	[NOTE_REREAD] = {0, false,
		"mmap and fork records were lost and /proc was read instead: short-lived code may "
		"have no symbols (to avoid this: -m 2M)"},
	[NOTE_CPU_OFFLINE] = {2, false,
		"CPU {0#} went offline after {1s} s: not recorded until it is back"},
	[NOTE_CPU_GONE] = {2, false,
		"CPU {0#} went offline after {1s} s: not recorded from then on"},
	[NOTE_CPU_BACK] = {4, false,
		"CPU {0#} was offline after {1s} s, is recorded again after {2s} s: up to {3s} s "
		"of it are missing"},
	[NOTE_CPUS_UNSTABLE] = {0, false, "CPUs went offline many times: no more notes about it"},
	[NOTE_CPU_NEW] = {1, false,
		"CPU {0#} came online during the recording: it was not recorded"},
	[NOTE_FP_FOR_WINDOW] = {3, false,
		"falling back to frame pointers: {0m} MiB ring buffers hold stack copies of {1s} "
		"s, not {2s} s (to copy stacks: --call-graph dwarf)"},
	[NOTE_FP_FOR_SPACE] = {1, false,
		"falling back to frame pointers: {0k} KiB ring buffers are too small for stack "
		"copies (larger: -m 4M)"},
	[NOTE_SHORT_WINDOW] = {4, false,
		"{0k} KiB ring buffers hold the last {1s} s of a busy CPU, not {2s} s, at {3#} "
		"bytes per sample (larger -m, lower -F, or --call-graph fp)"},
	[NOTE_RINGS_SHRUNK] = {2, false,
		"ring buffers have {0k} and {1k} KiB per CPU: other recordings use the locked "
		"memory (sudo sysctl kernel.perf_event_mlock_kb=65536)"},
	[NOTE_ATTACH_INCOMPLETE] = {0, false,
		"threads start faster than they can be attached to: some may be missing (with "
		"CAP_PERFMON none is)"},
	[NOTE_KERNEL_HIDDEN] = {1, false, NULL, put_kernel_hidden},
	[NOTE_MAPS_UNREADABLE] = {1, false,
		"cannot read the memory maps of {0} process{0||es}: code already mapped there "
		"will have no symbols"},
	[NOTE_PROCESS_MAPS_UNREADABLE] = {1, false,
		"cannot read the memory maps of process {0#}: code it has already mapped will "
		"have no symbols"},
	[NOTE_MAX_SIZE] = {1, false, "recording ended: the file reached --max-size ({0#} bytes)"},
	[NOTE_TRACEPOINTS_UNREADABLE] = {1, false,
		"cannot read tracefs: {0} tracepoint{0||s} will show raw bytes instead of fields"},
	[NOTE_UNCOVERED_TASKS] = {3, false, NULL, put_uncovered_tasks},
	[NOTE_UNCOVERED] = {4, false, NULL, put_uncovered},
	[NOTE_STACKS_SKIPPED] = {2, true,
		"{0} of {1} stacks were not unwound: the recorder was overloaded (lower -F, or "
		"--unwind later)"},
	[NOTE_STACKS_TRUNCATED] = {7, true, NULL, put_truncated},
	[NOTE_STACK_PAGES_UNREADABLE] = {2, false,
		"{0} stack{0||s} truncated at non-resident pages: cannot access the memory of "
		"process {1#} (sudo sysctl kernel.yama.ptrace_scope=0)"},
	[NOTE_STACKS_SHORTENED] = {1, true,
		"{0} stack{0||s} without {0|its|their} middle frames: too deep for one record, or"
		" for --max-stack"},
	[NOTE_DROPPED] = {3, false,
		"{0} of {1} samples dropped: writing was too slow, {2} MB were queued (faster "
		"disk: -o FILE; or lower -F)"},
	[NOTE_STALLED] = {2, false,
		"the recorder stalled {0} time{0||s}: writing was too slow, {1} MB were queued "
		"(faster disk: -o FILE)"},
	[NOTE_BUILD_IDS_LIMITED] = {1, true,
		"more than {0} files were mapped: the build-id list has only the first ones "
		"(nothing is lost: mmap records have build-ids, too)"},
	[NOTE_THREAD_COUNTS_MISSING] = {1, false,
		"-s: no counts of {0} new threads and processes: a defect of Linux 5.13 to 6.18 "
		"(samples by thread: report -s tid)"},
	[NOTE_LOST_HELPERS] = {2, true,
		"{1} of {0} lost samples were copies that only repair stacks: they do not count"},
	[NOTE_LOST_OWN] = {2, true, NULL, put_lost_own},
	[NOTE_OVERWRITTEN] = {4, true, NULL, put_overwritten},
	[NOTE_SAMPLING_ON] = {0, true, NULL, put_sampling},
	[NOTE_SAMPLING_OFF] = {0, true, NULL, put_sampling},
	[NOTE_SAMPLING_WAS_OFF] = {0, true, NULL, put_sampling},
	[NOTE_SAMPLING_UNSTABLE] = {0, true,
		"sampling was enabled and disabled many times: no more notes about it"},
	[NOTE_WRITE_FAILED] = {2, true, NULL, put_write_failed},
	[NOTE_ATTACH_REFUSED] = {1, false,
		"no permission to attach to {0} descendant process{0||es}: {o}; record as root"},
	[NOTE_PYTHON_DROPPED] = {3, false, NULL, put_python_dropped},
	[NOTE_SCHEDSTAT] = {6, true,
		"thread {1#} of process {0#} has run {2s} s, and waited {3s} s for a CPU"},
	[NOTE_OFF_CPU] = {4, false, NULL, put_off_cpu},
	[NOTE_WAITS_LOST] = {4, false, NULL, put_waits_lost},
	[NOTE_SNAPSHOTS_DENIED] = {4, false, NULL, put_snapshots_denied},
	[NOTE_FILE_BEGINS] = {0, true, "earlier files of this rotation contain the time before"},
	[NOTE_FILE_ENDS] = {0, true, "later files of this rotation contain the time after"},
	[NOTE_LOST_AT_END] = {1, true, "records of CPU {0#} were lost at the end of the file"},
	[NOTE_WAKEUPS_BY_ALL] = {0, true,
		"wake-ups of the recorded threads are by all threads and interrupts; wakers that are not "
		"recorded have only a name and a kernel stack; of frequent wake-ups, most have no "
		"user stack"},
	[NOTE_WAKEUPS_BY_RECORDED] = {1, false, NULL, put_wakeups_by_recorded},
	[NOTE_PYTHON_DAMAGED] = {3, false,
		"Python functions are missing at {0} of {1} calls of the interpreter: its memory "
		"in process {2#} cannot be read, and is tried again every 20 ms"},
	[NOTE_RECORDS_DROPPED] = {2, false,
		"{0} comm and mmap record{0||s} that no sample needs {0|was|were} dropped: "
		"there were more than {1m} MiB a second"},
	[NOTE_MAPS_DEFERRED] = {1, false,
		"the memory maps of {0} process{0||es} were not read: too many mappings, and no "
		"samples"},
	[NOTE_READS_LEFT] = {3, false, NULL, put_reads_left},
	[NOTE_MAPS_DROPPED] = {1, false,
		"the unwinder dropped memory maps {0} time{0||s}: the running processes had more "
		"than a million mappings; their stacks may be incomplete"},
	[NOTE_SWITCHES_OFF] = {0, true,
		"context switches were not recorded from here: there were more than 10,000 a "
		"second (--switch-events records all)"},
	[NOTE_SWITCHES_ON] = {0, true, "context switches were recorded again"},
	[NOTE_RING_SIZE] = {1, true, "records were lost with {0k} KiB ring buffers"},
	[NOTE_COMMAND_LINES] = {4, true, NULL, put_command_lines},
	[NOTE_LOST_PHASES] = {3, true,
		"records were lost: {0} until the first round, {1} while recording, "
		"{2} at the end"},
	/* In the recording's clock. Value 0 is 0 if the target began later, as a command does. */
	[NOTE_RECORDED] = {2, true, "recorded from {0t} s to {1t} s"},
	/* A rate that varies has the given one as its mean. */
	[NOTE_DITHERED] = {2, true,
		"clock events are dithered: they sample at random rates of {0%} to {1%} of -F, and "
		"each sample has its exact period"},
	[NOTE_UNRECORDED] = {3, true,
		"{0} descendant process{0||es} of the target used {1t} s of CPU time, and "
		"{0|was|were} not recorded; the target used {2t} s"},
	[NOTE_COMMAND_TIME] = {1, true, "the kernel counted {0t} s of CPU time for the target"},
};

size_t note_value_count(uint32_t kind)
{
	return kind < NOTE_KINDS ? kinds[kind].values : 0;
}

bool note_is_silent(uint32_t kind)
{
	return kind < NOTE_KINDS && kinds[kind].silent;
}

size_t sp_note_text(const struct sp_note *note, char *text, size_t size)
{
	const struct kind *known = note->kind < NOTE_KINDS ? &kinds[note->kind] : NULL;
	const struct kind *kind = known && (known->template || known->put) ? known : NULL;
	struct note_output out = {.text = text, .size = size};
	bool composed = kind && note->value_count >= kind->values;
	if (!composed && note->text)
		put(&out, note->text, note->size);
	else if (composed && kind->put)
		kind->put(&out, note);
	else if (composed)
		put_template(&out, note, kind->template);
	if (size)
		text[out.length < size ? out.length : size - 1] = '\0';
	return out.length;
}

/* Sentences of old recorders, which wrote notes without kinds. */
#define OLD_STACK_SIZE "--call-graph dwarf,"
#define OLD_NO_MORE_STACK "more cannot be copied of a stack"
#define OLD_LOST_OWN                                                                            \
	"of the %" SCNu64 " samples lost, which are everyone's on these CPUs, "                 \
	"probably %" SCNu64 " were"

/* Copies the beginning of the text, and adds a NUL. */
static void copy_text(const struct sp_note *note, char *text, size_t size)
{
	size_t length = note->size < size ? note->size : size - 1;
	if (length)
		memcpy(text, note->text, length);
	text[length] = '\0';
}

uint64_t note_stack_bytes(const struct sp_note *note)
{
	char text[512];
	if (note->kind == NOTE_STACKS_TRUNCATED && note->value_count > 6)
		return note->values[2] || note->values[6] ? note->values[6] : NOTE_STACK_NO_SIZE;
	if (note->kind)
		return 0;
	copy_text(note, text, sizeof(text));
	const char *number = strstr(text, OLD_STACK_SIZE);
	if (strstr(text, OLD_NO_MORE_STACK))
		return NOTE_STACK_NO_MORE;
	return number ? strtoul(number + strlen(OLD_STACK_SIZE), NULL, 10) : 0;
}

bool note_is_of_pages(const struct sp_note *note)
{
	const uint64_t *values = note->values;
	return note->kind == NOTE_STACKS_TRUNCATED && note->value_count > 3 && values[3] > values[2] &&
	       values[3] * 2 > values[0];
}

unsigned int note_hidden(const struct sp_note *note)
{
	bool known = note->kind == NOTE_KERNEL_HIDDEN && note->value_count;
	return known ? (unsigned int)note->values[0] & (HIDDEN_BY_KPTR | HIDDEN_BY_PARANOID) : 0;
}

bool note_lost_own(const struct sp_note *note, uint64_t *lost_ret, uint64_t *own_ret)
{
	char text[512];
	uint64_t lost, own;
	if (note->kind == NOTE_LOST_OWN && note->value_count > 1) {
		*lost_ret = note->values[0];
		*own_ret = note->values[1];
		return true;
	}
	if (note->kind)
		return false;
	copy_text(note, text, sizeof(text));
	if (sscanf(text, OLD_LOST_OWN, &lost, &own) != 2)
		return false;
	*lost_ret = lost;
	*own_ret = own;
	return true;
}
