/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the recording, its machine and its libraries. */
#include "export/firefox.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "export/report_notes.h"
#include "memory.h"
#include "text.h"

#define FORMAT_VERSION 66
#define GECKO_VERSION 36 /* version of Firefox's own format, which this one extends */

#define VISIBLE_THREADS 10
#define DEFAULT_INTERVAL_MS 1.0

/* Bytes of a build-id in a library's "breakpadId", which ends with a digit for its age. */
#define BREAKPAD_BYTES 16

/*
 * Returns the only build-id of the recording's files with that name; NULL if there is none, or several.
 */
static const struct sp_build_id *find_build_id(const struct sp_file_info *info, const char *name)
{
	const struct sp_build_id *found = NULL;
	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct sp_build_id *id = sp_file_build_id(info, i);
		if (strcmp(id->filename, name) != 0 &&
		    strcmp(text_base_name(id->filename), name) != 0)
			continue;
		if (found && (found->build_id_size != id->build_id_size ||
			      memcmp(found->build_id, id->build_id, id->build_id_size) != 0))
			return NULL;
		found = id;
	}
	return found && found->build_id_size ? found : NULL;
}

/* Writes a library's identity: the build-id, and Breakpad's form of its first bytes. */
static void write_library_ids(struct json *json, const struct sp_build_id *id)
{
	/* Breakpad takes the first bytes as little-endian numbers of 4, 2 and 2 bytes. */
	static const uint8_t order[BREAKPAD_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char breakpad[2 * BREAKPAD_BYTES + 2] = "", hex[2 * sizeof(id->build_id) + 1] = "";
	for (size_t i = 0; i < BREAKPAD_BYTES; i++) {
		bool known = id && order[i] < id->build_id_size;
		sprintf(breakpad + 2 * i, "%02X", known ? id->build_id[order[i]] : 0);
	}
	strcat(breakpad, "0");
	json_string(json, "breakpadId", breakpad);
	for (size_t i = 0; id && i < id->build_id_size && i < sizeof(id->build_id); i++)
		sprintf(hex + 2 * i, "%02x", id->build_id[i]);
	if (id)
		json_string(json, "codeId", hex);
	else
		json_double(json, "codeId", NAN);
}

void firefox_write_libraries(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	const struct firefox_tables *tables = &firefox->tables;
	const struct sp_file_info *info = firefox->report->info;
	json_begin_lines(json, "libs", '[');
	for (size_t i = 0; i < tables->libraries.count; i++) {
		const char *name = tables->strings.texts[unique_number(&tables->libraries, i, LIBRARY_NAME)];
		const struct sp_build_id *id = find_build_id(info, name);
		const char *path = id ? id->filename : name;
		json_begin(json, NULL, '{');
		json_string(json, "arch", info->arch ?: "");
		json_string(json, "name", text_base_name(name));
		json_string(json, "path", path);
		json_string(json, "debugName", text_base_name(name));
		json_string(json, "debugPath", path);
		write_library_ids(json, id);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
}

static void write_category(struct json *json, const char *name, const char *colour)
{
	json_begin(json, NULL, '{');
	json_string(json, "name", name);
	json_string(json, "color", colour);
	json_begin(json, "subcategories", '[');
	json_string(json, NULL, "Other");
	json_end(json, ']');
	json_end(json, '}');
}

static void write_text_fact(struct json *json, const char *label, const char *text)
{
	json_begin(json, NULL, '{');
	json_string(json, "label", label);
	json_string(json, "format", "string");
	json_string(json, "value", text);
	json_end(json, '}');
}

static void write_count_fact(struct json *json, const char *label, uint64_t count)
{
	json_begin(json, NULL, '{');
	json_string(json, "label", label);
	json_string(json, "format", "integer");
	json_unsigned(json, "value", count);
	json_end(json, '}');
}

/* Writes what limits the profile's accuracy: losses, truncated stacks, findings. */
static void write_extra(struct firefox *firefox)
{
	const struct report *report = firefox->report;
	struct json *json = &firefox->json;
	json_begin_lines(json, "extra", '[');
	json_begin_lines(json, NULL, '{');
	json_string(json, "label", "Recording");
	json_begin_lines(json, "entries", '[');
	write_text_fact(json, "File", report->path);
	struct buffer text = {.form = TEXT_SHOWN};
	notes_put_command(report, &text);
	bool known = text.count;
	buffer_char(&text, '\0');
	if (known)
		write_text_fact(json, "Command", text.text);
	buffer_deinit(&text);
	if (firefox->profile) {
		write_text_fact(json, "Event", firefox->profile->event);
		write_count_fact(json, "Samples", firefox->profile->shown_samples);
		write_count_fact(json, "Lost samples", firefox->profile->lost_own);
		write_count_fact(json, "Lost samples of the target or of others",
				 firefox->profile->lost_unknown);
		write_count_fact(json, "Throttled periods", firefox->profile->throttled_count);
		write_count_fact(json, "Complete stacks",
				 firefox->profile->stacks[SP_STACK_COMPLETE]);
		write_count_fact(json, "Truncated stacks",
				 notes_truncated_stacks(firefox->profile));
		write_count_fact(json, "Stacks completed from other samples",
				 firefox->profile->repaired);
		write_count_fact(json, "Idle threads left out", firefox->profile->idle_threads);
	}
	if (report->damaged)
		write_text_fact(json, "Damage", "parts of the recording cannot be read");
	if (firefox->timeline && firefox->timeline->width_ns > 1)
		write_count_fact(json, "Resolution of sample times (ns)", firefox->timeline->width_ns);
	for (size_t i = 0; i < report->finding_count; i++)
		write_text_fact(json, "Finding", report->findings[i]->what);
	json_end_lines(json, ']');
	json_end_lines(json, '}');
	json_end_lines(json, ']');
}

/* Returns the time between samples. Without a known period, Firefox only needs a plausible time. */
static double interval_ms(const struct firefox *firefox)
{
	const struct sp_timeline *timeline = firefox->timeline;
	uint64_t ns = 0;
	if (firefox->profile && firefox->profile->weight_is_time)
		ns = report_period(firefox->report, firefox->report->profiles[0]);
	if (timeline && timeline->width_ns > ns && timeline->width_ns > 1)
		ns = timeline->width_ns;
	return ns ? (double)ns / NS_PER_MS : DEFAULT_INTERVAL_MS;
}

double firefox_duration_ms(const struct firefox *firefox)
{
	const struct sp_timeline *timeline = firefox->timeline;
	if (!timeline || timeline->end_ns < timeline->begin_ns)
		return 0;
	return (double)(timeline->end_ns - timeline->begin_ns) / NS_PER_MS;
}

/* Returns the wall-clock time of the first sample, in ms since 1970; 0: unknown. */
static double start_ms(const struct firefox *firefox)
{
	const struct sp_file_info *info = firefox->report->info;
	if (!info->clock_wall_ns || !firefox->timeline || firefox->report->recording_count > 1)
		return 0;
	return ((double)info->clock_wall_ns + (double)firefox->timeline->begin_ns -
		(double)info->clock_ns) / NS_PER_MS;
}

static int by_weight(const void *a, const void *b)
{
	const struct firefox_thread *x = *(const struct firefox_thread *const *)a;
	const struct firefox_thread *y = *(const struct firefox_thread *const *)b;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Writes the indexes of the threads that are shown first: the busiest ones. */
static void write_visible(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	const struct firefox_thread **threads =
		xcalloc(firefox->thread_count + 1, sizeof(*threads));
	for (size_t i = 0; i < firefox->thread_count; i++)
		threads[i] = &firefox->threads[i];
	qsort(threads, firefox->thread_count, sizeof(*threads), by_weight);
	json_begin(json, "initialVisibleThreads", '[');
	for (size_t i = 0; i < firefox->thread_count && i < VISIBLE_THREADS; i++)
		json_unsigned(json, NULL, (uint64_t)(threads[i] - firefox->threads));
	if (!firefox->thread_count)
		json_unsigned(json, NULL, 0);
	json_end(json, ']');
	json_begin(json, "initialSelectedThreads", '[');
	json_unsigned(json, NULL, firefox->busiest);
	json_end(json, ']');
	free(threads);
}

static void write_machine(struct json *json, const struct sp_file_info *info)
{
	size_t cores = 0;
	while (info->topology.cores && info->topology.cores[cores])
		cores++;
	json_string(json, "platform", "Linux");
	if (info->osrelease) {
		char text[256];
		snprintf(text, sizeof(text), "Linux %s", info->osrelease);
		json_string(json, "oscpu", text);
	}
	json_string(json, "abi", info->arch);
	json_string(json, "CPUName", info->cpudesc);
	if (cores)
		json_unsigned(json, "physicalCPUs", cores);
	if (info->cpus_online)
		json_unsigned(json, "logicalCPUs", info->cpus_online);
}

void firefox_write_meta(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	bool time = firefox->profile && firefox->profile->weight_is_time;
	json_begin_lines(json, "meta", '{');
	json_double(json, "interval", interval_ms(firefox));
	json_signed(json, "startTime", (int64_t)start_ms(firefox));
	json_double(json, "profilingStartTime", 0);
	/* The viewer excludes samples at the end. */
	json_double(json, "profilingEndTime", firefox_duration_ms(firefox) + interval_ms(firefox));
	json_unsigned(json, "processType", 0);
	json_string(json, "product", "sprof");
	json_string(json, "importedFrom", "sprof " PACKAGE_VERSION);
	json_unsigned(json, "stackwalk", 1);
	json_unsigned(json, "version", GECKO_VERSION);
	json_unsigned(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);

	/*
	 * Writes the fields of loss markers, and the places that show them. `others`: they include
	 * losses of other processes.
	 */
	bool others = firefox->profile && firefox->profile->lost_own < firefox->profile->lost;
	const char *label = "{marker.data.lost} samples lost";
	static const char *const places[] = {"marker-chart", "marker-table", "timeline-overview"};
	if (others)
		label = "{marker.data.lost} samples lost across all processes on these CPUs";
	json_begin_lines(json, "markerSchema", '[');
	json_begin(json, NULL, '{');
	json_string(json, "name", FIREFOX_LOSS);
	json_string(json, "tooltipLabel", label);
	json_string(json, "tableLabel", label);
	json_string(json, "chartLabel", label);
	json_begin(json, "display", '[');
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		json_string(json, NULL, places[i]);
	json_end(json, ']');
	json_begin(json, "fields", '[');
	json_begin(json, NULL, '{');
	json_string(json, "key", "lost");
	json_string(json, "label", "Lost samples");
	json_string(json, "format", "integer");
	json_end(json, '}');
	json_end(json, ']');
	json_end(json, '}');
	json_end_lines(json, ']');

	/* Writes the categories in the order of enum firefox_category. */
	json_begin_lines(json, "categories", '[');
	write_category(json, "Other", "grey");
	write_category(json, "User", "yellow");
	write_category(json, "Kernel", "orange");
	write_category(json, "Blocked", "blue");
	write_category(json, "Waiting for CPU", "red");
	json_end_lines(json, ']');
	json_begin(json, "sampleUnits", '{');
	json_string(json, "time", "ms");
	json_string(json, "eventDelay", "ms");
	json_string(json, "threadCPUDelta", time ? "ns" : "variable CPU cycles");
	json_end(json, '}');
	write_machine(json, firefox->report->info);
	write_visible(firefox);
	write_extra(firefox);
	json_end_lines(json, '}');
}
