/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd/record/record_arguments.h"
#include "diag.h"
#include "users.h"

#define NS_PER_SECOND 1000000000.0

/* Limit of the threshold of waits. */
#define OFF_CPU_MS_MAX 4000

/* Limit of durations in seconds: one year. */
#define SECONDS_MAX (365 * 24 * 3600)

bool record_parse_frequency(const struct option *option, const char *text)
{
	uint64_t *hz = option->value;
	if (!strcmp(text, "max")) {
		*hz = SP_CAPTURE_FREQ_MAX;
		return true;
	}
	if (option_text_number(text, 1, SP_CAPTURE_FREQ_MAX - 1, hz))
		return true;
	diag_print("-%c: invalid frequency '%s' (Hz, or max)", option->letter, text);
	return false;
}

bool record_parse_count(const struct option *option, const char *text)
{
	return option_text_number(text, 1, UINT64_MAX, option->value) ||
	       option_reject(option, text, "a number of events");
}

/* Parses the stack copy's size, "SIZE" or "SIZE,fixed". */
static bool parse_stack_size(const char *text, bool fixed, uint64_t *size)
{
	char number[8];
	size_t length = strlen(text) - (fixed ? strlen(",fixed") : 0);
	if (length >= sizeof(number))
		return false;
	memcpy(number, text, length);
	number[length] = 0;
	return option_text_number(number, 8, SP_STACK_BYTES_MAX, size);
}

bool record_parse_call_graph(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	const char *fixed = strstr(text, ",fixed");
	uint64_t size = 0;
	options->chains.deferred = !strcmp(text, "fp,defer");
	if (!strcmp(text, "fp") || options->chains.deferred)
		options->chains.call_graph = SP_CALL_GRAPH_FP;
	else if (!strcmp(text, "lbr"))
		options->chains.call_graph = SP_CALL_GRAPH_LBR;
	else if (!strcmp(text, "none"))
		options->chains.call_graph = SP_CALL_GRAPH_NONE;
	else if (!strncmp(text, "dwarf", 5) && (!text[5] || text[5] == ','))
		options->chains.call_graph = SP_CALL_GRAPH_DWARF;
	else
		return option_reject(option, text, "fp, fp,defer, dwarf, dwarf,SIZE, dwarf,SIZE,fixed, lbr "
						   "or none");
	options->chains.fixed_stack_bytes = fixed && !fixed[6];
	if (options->chains.call_graph == SP_CALL_GRAPH_DWARF && text[5] &&
	    (!parse_stack_size(text + 6, options->chains.fixed_stack_bytes, &size) || size % 8))
		return option_reject(option, text, "dwarf,SIZE with a size in bytes, a multiple of 8 up to "
						   "65528");
	options->chains.stack_bytes = (uint32_t)size;
	return true;
}

bool record_parse_threads(const struct option *option, const char *text)
{
	static const char *const names[] = {
		[SP_CAPTURE_THREADS_AUTO] = "auto", [SP_CAPTURE_THREADS_NONE] = "none",
		[SP_CAPTURE_THREADS_CPU] = "cpu",   [SP_CAPTURE_THREADS_CORE] = "core",
		[SP_CAPTURE_THREADS_PACKAGE] = "package", [SP_CAPTURE_THREADS_NUMA] = "numa",
	};
	struct record_options *options = option->value;
	uint64_t count;
	text = text ? text : "cpu";
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			options->buffers.threads = (enum sp_capture_threads)i;
			return true;
		}
	if (!option_text_number(text, 1, UINT32_MAX, &count))
		return option_reject(option, text, "auto, none, cpu, core, package, numa or a number of "
						   "threads");
	options->buffers.threads = SP_CAPTURE_THREADS_FIXED;
	options->buffers.thread_count = (uint32_t)count;
	return true;
}

/* Parses a size: "512K", "4M", "1G"; a number without a unit is multiplied by `scale`. */
static bool parse_size(const char *text, uint64_t scale, uint64_t *bytes)
{
	static const char units[] = "BKMG";
	uint64_t number;
	size_t size = strlen(text);
	/* A blank has no letter: strchr() would find the terminating NUL. */
	char letter = (char)(size ? text[size - 1] & ~0x20 : 0);
	const char *unit = letter ? strchr(units, letter) : NULL;
	if (unit)
		scale = UINT64_C(1) << 10 * (unit - units);
	char *digits = strndup(text, unit ? size - 1 : size);
	bool fine = digits && option_text_number(digits, 1, UINT64_MAX / scale, &number);
	free(digits);
	if (fine)
		*bytes = number * scale;
	return fine;
}

/* Parses sizes of the ring buffers and AUX areas: "RING", "RING,AUX" or ",AUX". */
bool record_parse_ring_size(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const char *comma = strchr(text, ',');
	char *ring = strndup(text, comma ? (size_t)(comma - text) : strlen(text));
	bool fine = ring && (parse_size(ring, page, &options->buffers.ring_bytes) ||
			     (comma == text && comma)) &&
		    (!comma || parse_size(comma + 1, page, &options->buffers.aux_bytes));
	free(ring);
	return fine || option_reject(option, text, "a number of pages, or a size such as 512K or 4M; "
						   "optionally a second one after a comma");
}

/* Parses -S[SIZE]: the snapshot size of AUX areas. */
bool record_parse_snapshot(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	options->buffers.snapshot = true;
	return !text || parse_size(text, 1, &options->buffers.aux_bytes) ||
	       option_reject(option, text, "a size such as 512K or 4M");
}

/* Parses the AUX sample size: without an argument 4 KiB, as in perf. */
bool record_parse_aux_sample(const struct option *option, const char *text)
{
	uint64_t bytes = 4096;
	if (text && (!parse_size(text, 1, &bytes) || bytes % 8 || bytes > UINT16_MAX))
		return option_reject(option, text, "a size in bytes, a multiple of 8 up to 65528");
	*(uint32_t *)option->value = (uint32_t)bytes;
	return true;
}

bool record_parse_flush(const struct option *option, const char *text)
{
	return parse_size(text, 1, option->value) ||
	       option_reject(option, text, "a number of bytes, or a size such as 64K");
}

/* Parses ascending spans "10-20,30-40", in ms after the start. */
static bool parse_spans(struct record_arguments *arguments, const char *text)
{
	size_t count = 1, used = 0;
	for (const char *at = text; (at = strchr(at, ',')); at++)
		count++;
	free(arguments->spans);
	arguments->spans = calloc(count, sizeof(*arguments->spans));
	if (!arguments->spans)
		return false;
	for (const char *at = text; at; at = strchr(at, ',')) {
		struct sp_capture_span *span = &arguments->spans[used];
		unsigned long long begin, end;
		int size = 0;
		at += at != text;
		if (sscanf(at, "%llu-%llu%n", &begin, &end, &size) != 2 || strchr("+-", *at) ||
		    (at[size] && at[size] != ',') || begin >= end ||
		    end > (unsigned long long)SECONDS_MAX * 1000 ||
		    (used && begin <= arguments->spans[used - 1].end_ms))
			return false;
		*span = (struct sp_capture_span){begin, end};
		used++;
	}
	arguments->options.schedule.spans = arguments->spans;
	arguments->options.schedule.span_count = used;
	return true;
}

bool record_parse_delay(const struct option *option, const char *text)
{
	struct record_arguments *arguments = option->value;
	struct record_options *options = &arguments->options;
	options->schedule.start_disabled = !strcmp(text, "-1");
	options->schedule.delay_ms = options->schedule.span_count = 0;
	return options->schedule.start_disabled ||
	       option_text_number(text, 0, (uint64_t)SECONDS_MAX * 1000, &options->schedule.delay_ms) ||
	       parse_spans(arguments, text) ||
	       option_reject(option, text, "a number of milliseconds, -1, or ranges such as "
					   "10-20,30-40");
}

bool record_parse_inherit(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	options->target.inherit = strcmp(text, "none") ? SP_ON : SP_OFF;
	options->target.inherit_threads = !strcmp(text, "thread");
	return options->target.inherit == SP_OFF || options->target.inherit_threads || !strcmp(text, "all") ||
	       option_reject(option, text, "all, thread or none");
}

bool record_parse_cgroups(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	if (!*text)
		return option_reject(option, text, "a list of control groups");
	if (options->target.cgroups) {
		diag_print("-G, --cgroup: give one list, a group for each event: -G %s,%s",
			   options->target.cgroups, text);
		return false;
	}
	options->target.cgroups = text;
	/* Cgroup events are CPU-wide, because the pids in a cgroup are not known in advance. */
	options->target.system_wide = true;
	return true;
}

bool record_parse_unit(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	if (!*text || strchr(text, '/'))
		return option_reject(option, text, "a systemd unit's name; -G takes a cgroup's path");
	options->target.unit = text;
	options->target.system_wide = true; /* cgroup events are CPU-wide */
	return true;
}

bool record_parse_all_cgroups(const struct option *option, const char *text)
{
	struct sp_capture_fields *fields = option->value;
	(void)text;
	fields->cgroups = true;
	fields->sample_type |= PERF_SAMPLE_CGROUP;
	return true;
}

bool record_parse_user(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	uint64_t number;
	options->target.by_user = true;
	if (user_find(text, &options->target.uid))
		return true;
	if (!option_text_number(text, 0, UINT32_MAX - 1, &number))
		return option_reject(option, text, "a user's name or number");
	options->target.uid = (uid_t)number;
	return true;
}

bool record_parse_duration(const struct option *option, const char *text)
{
	char *end;
	double seconds = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
	if (!(seconds > 0) || *end || seconds > SECONDS_MAX)
		return option_reject(option, text, "a number of seconds above 0");
	*(uint64_t *)option->value = (uint64_t)(seconds * NS_PER_SECOND);
	return true;
}

bool record_parse_per_thread(const struct option *option, const char *text)
{
	struct record_options *options = option->value;
	(void)text;
	options->target.scope = SP_CAPTURE_SCOPE_TASK;
	options->target.inherit = SP_OFF;
	return true;
}

bool record_parse_habit(const struct option *option, const char *text)
{
	uint64_t number;
	*(bool *)option->value = true;
	return !text || option_text_number(text, 1, INT32_MAX, &number) ||
	       option_reject(option, text, "a number");
}

bool record_parse_off_cpu_threshold(const struct option *option, const char *text)
{
	struct sp_capture_sampling *sampling = option->value;
	char *end = NULL;
	double ms = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
	if (ms < 0 || *end || ms > OFF_CPU_MS_MAX)
		return option_reject(option, text, "a number of milliseconds up to 4000");
	/* 0 would select the library's default, so no threshold is 1 ns. */
	sampling->off_cpu_thin_ns = ms > 0 ? (uint64_t)(ms * 1e6 + 0.5) : 1;
	return true;
}

bool record_parse_off_cpu(const struct option *option, const char *text)
{
	struct sp_capture_sampling *sampling = option->value;
	sampling->off_cpu = true;
	return !text || record_parse_off_cpu_threshold(option, text);
}

bool record_parse_wakers(const struct option *option, const char *text)
{
	struct sp_capture_sampling *sampling = option->value;
	(void)text;
	return sampling->off_cpu = sampling->wakers = true;
}
