/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of `perf stat record` and `sprof stat record`, printed as perf script's tables. Rounds of STAT
 * records end with a STAT_ROUND record. A file has either counts or samples.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/script/script.h"
#include "diag.h"
#include "list.h"

struct count {
	size_t event;   /* index of the event */
	int32_t cpu;
	uint32_t thread; /* index in the file's THREAD_MAP */
	uint64_t value, enabled_ns, running_ns;
};

/* Counts read so far. Zeroed: none. */
struct counts {
	const struct script_view *view;
	LIST(struct count);  /* counts since the last round */
	int32_t *tids;       /* thread ids of the THREAD_MAP record */
	size_t tid_count;
	bool *counted;       /* for each event: whether it has a count */
	bool began;
};

static bool is_shown(const struct script_view *view, const struct count *count, int32_t tid)
{
	const struct selection *selection = &view->arguments->selection;
	const struct option_numbers *tids = selection->pids.count ? &selection->pids :
								    &selection->tids;
	const char *name = sp_reader_event(view->reader, count->event)->name;
	bool of_cpu = !selection->cpus.count, of_tid = !tids->count;
	bool of_event = !selection->events.count;
	for (size_t i = 0; i < selection->cpus.count; i++)
		of_cpu |= selection->cpus.items[i] == count->cpu;
	for (size_t i = 0; i < tids->count; i++)
		of_tid |= tids->items[i] == tid;
	for (size_t i = 0; i < selection->events.count; i++)
		of_event |= !strcmp(selection->events.items[i], name);
	return of_cpu && of_tid && of_event;
}

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void put_round(struct counts *counts, uint64_t time_ns, FILE *out)
{
	if (counts->count)
		qsort(counts->items, counts->count, sizeof(*counts->items), compare_counts);
	for (size_t i = 0; i < counts->count; i++) {
		const struct count *count = &counts->items[i];
		int32_t tid = count->thread < counts->tid_count ? counts->tids[count->thread] : -1;
		if (!is_shown(counts->view, count, tid))
			continue;
		if (!counts->began)
			fprintf(out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL",
				"ENA", "RUN", "TIME", "EVENT");
		counts->began = true;
		fprintf(out, "%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " ",
			count->cpu, tid, count->value, count->enabled_ns, count->running_ns,
			time_ns);
		text_write(sp_reader_event(counts->view->reader, count->event)->name,
			   counts->view->form, out);
		putc('\n', out);
	}
	counts->count = 0;
}

/*
 * Adds a count; ignores counts of events that the file does not describe. Returns false when out of
 * memory.
 */
static bool add_count(struct counts *counts, const struct sp_stat_count *stat)
{
	size_t event = view_event_of_id(counts->view->reader, stat->id);
	if (event == SIZE_MAX)
		return true;
	struct count *count = list_push(counts);
	if (!count)
		return false;
	counts->counted[event] = true;
	*count = (struct count){
		.event = event, .cpu = (int32_t)stat->cpu, .thread = stat->thread,
		.value = stat->value, .enabled_ns = stat->enabled_ns,
		.running_ns = stat->running_ns,
	};
	return true;
}

static bool take_threads(struct counts *counts, const struct sp_thread_map *map)
{
	int32_t *tids = realloc(counts->tids, (map->count + 1) * sizeof(*tids));
	if (!tids)
		return false;
	for (size_t i = 0; i < map->count; i++)
		tids[i] = (int32_t)map->entries[i].pid;
	counts->tids = tids;
	counts->tid_count = map->count;
	return true;
}

static bool take(struct counts *counts, const struct sp_record *record, FILE *out)
{
	switch (record->type) {
	case SP_RECORD_THREAD_MAP:
		return take_threads(counts, &record->thread_map);
	case SP_RECORD_STAT:
		return add_count(counts, &record->stat);
	case SP_RECORD_STAT_ROUND:
		put_round(counts, record->stat_round.time_ns, out);
		return true;
	default:
		return true;
	}
}

bool script_has_counts(struct sp_reader *reader)
{
	bool found = sp_reader_has_feature(reader, FEATURE_STAT);
	if (found || sp_reader_info(reader)->mode != SP_READER_PIPE)
		return found;
	/* A pipe has no header features: looks for a STAT_CONFIG record before the first sample. */
	for (bool going = true; going && !found;) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		going = !error && record && record->type != PERF_RECORD_SAMPLE;
		found = going && (record->type == SP_RECORD_STAT_CONFIG ||
				  record->type == SP_RECORD_STAT);
		sp_error_free(error);
	}
	sp_reader_rewind(reader);
	return found;
}

/*
 * Prints the names of events without counts: the recorded machine did not support them. perf script
 * prints zeros.
 */
static void uncounted_events_print(const struct counts *counts)
{
	const struct sp_reader *reader = counts->view->reader;
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (!counts->counted[i] && !counts->view->arguments->selection.quiet)
			diag_say("%s was not counted", sp_reader_event(reader, i)->name);
}

int script_put_counts(const struct script_view *view, struct sp_reader *reader, FILE *out)
{
	struct counts counts = {.view = view};
	counts.counted = calloc(sp_reader_event_count(reader) + 1, sizeof(*counts.counted));
	bool going = true, good = counts.counted;
	int status = 0;
	while (going && good) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		/* Damage is printed at the end, by input_print_damage(). */
		bool damaged = error && sp_error_code(error) == SP_ERROR_FORMAT;
		if (error && !damaged) {
			diag_error(error);
			status = 1;
		} else {
			sp_error_free(error);
		}
		going = damaged || (!error && record);
		if (!error && record)
			good = take(&counts, record, out);
	}
	sp_reader_rewind(reader);
	if (good)
		uncounted_events_print(&counts);
	else
		diag_say("out of memory");
	free(counts.counted);
	free(counts.items);
	free(counts.tids);
	return status | !good;
}
