/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sprof/reader.h>
#include "found.h"
#include "record/note.h"

static struct sim_read_back read_back;

/* Times of the file that is being read. */
static struct {
	uint64_t newest_ns, round_ns, mark_ns;
} times;

/* Ids of an event in that file. */
struct event_ids {
	const uint64_t *items;
	size_t count;
};

static struct event_ids wait_ids, preempted_ids;

static void add_found(const struct sim_found *found)
{
	if (read_back.count == read_back.room) {
		read_back.room = read_back.room ? 2 * read_back.room : 4096;
		read_back.items = realloc(read_back.items, read_back.room * sizeof(*found));
		if (!read_back.items)
			abort();
	}
	read_back.items[read_back.count] = *found;
	read_back.items[read_back.count].order = read_back.count;
	read_back.count++;
}

static uint64_t hash_user(const struct sp_sample *sample)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	bool user = false;
	for (size_t i = 0; i < sample->ip_count; i++) {
		if (sample->ips[i] >= PERF_CONTEXT_MAX)
			user = sample->ips[i] == PERF_CONTEXT_USER;
		else if (user)
			hash = (hash ^ sample->ips[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* Readers sort what is between two marks: nothing may be older than the mark before the last one. */
static void check_order(const struct sp_record *record)
{
	uint64_t ns = record->type == PERF_RECORD_SAMPLE ? record->sample.time_ns : record->id.time_ns;
	if (record->type == SP_RECORD_FINISHED_ROUND) {
		times.mark_ns = times.round_ns;
		times.round_ns = times.newest_ns;
		return;
	}
	if (!ns)
		return;
	if (ns < times.mark_ns)
		sim_violation("a record of type %u is %llu ns older than the mark before allows",
			      record->type, (unsigned long long)(times.mark_ns - ns));
	if (ns > times.newest_ns)
		times.newest_ns = ns;
}

static void add_split(uint64_t time_ns)
{
	size_t count = read_back.split_count;
	read_back.splits = realloc(read_back.splits, (count + 1) * sizeof(*read_back.splits));
	if (!read_back.splits)
		abort();
	read_back.splits[count] = time_ns;
	read_back.split_count++;
}

static void read_note(const struct sp_record *record)
{
	struct sp_note note;
	if (!sp_record_note(record, &note))
		return;
	if (note.kind == NOTE_FILE_BEGINS)
		add_split(note.time_ns);
	if (note.kind == NOTE_WAITS_LOST)
		read_back.dropped_waits = note.values[2];
	if (note.kind == NOTE_SNAPSHOTS_DENIED)
		read_back.denied = note.values[0];
}

static bool has_id(const struct event_ids *ids, uint64_t id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (ids->items[i] == id)
			return true;
	return false;
}

static void read_record(const struct sp_record *record)
{
	struct sim_found found = {.type = record->type, .misc = record->misc, .time_ns = record->id.time_ns,
			      .id = record->id.id, .file = read_back.files};
	check_order(record);
	read_note(record);
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		found.time_ns = record->sample.time_ns;
		found.id = record->sample.id;
		found.is_wait = has_id(&wait_ids, found.id);
		found.is_preempted = has_id(&preempted_ids, found.id);
		found.addr = record->sample.addr;
		found.ip = record->sample.ip;
		found.period = record->sample.period;
		found.pid = record->sample.pid;
		found.tid = record->sample.tid;
		found.cpu = record->sample.cpu;
		found.chain_hash = hash_user(&record->sample);
		found.has_stack = record->sample.present & PERF_SAMPLE_STACK_USER;
		break;
	case PERF_RECORD_LOST:
		read_back.lost += record->lost.lost;
		return;
	case PERF_RECORD_LOST_SAMPLES:
		read_back.lost_samples += record->lost.lost;
		return;
	case PERF_RECORD_MMAP2:
		found.pid = record->mmap.pid;
		found.tid = record->mmap.tid;
		found.start = record->mmap.start;
		found.size = record->mmap.size;
		break;
	case PERF_RECORD_COMM:
		found.pid = record->comm.pid;
		found.tid = record->comm.tid;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		found.pid = record->task.pid;
		found.tid = record->task.tid;
		found.ppid = record->task.ppid;
		break;
	default:
		return;
	}
	add_found(&found);
}

static void read_events(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		size_t count = read_back.id_count + event->id_count;
		const struct event_ids ids = {event->ids, event->id_count};
		if (!strcmp(event->name, "offcpu-time"))
			wait_ids = ids;
		if (!strcmp(event->name, "preempted-time"))
			preempted_ids = ids;
		read_back.ids = realloc(read_back.ids, (count + 1) * sizeof(*read_back.ids));
		if (!read_back.ids)
			abort();
		memcpy(read_back.ids + read_back.id_count, event->ids, event->id_count * sizeof(*event->ids));
		read_back.id_count = count;
	}
}

struct reading {
	struct sp_ctx *ctx;
	bool killed;
};

static int compare_found(const void *a, const void *b)
{
	const struct sim_found *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void read_file(const char *path, const struct sim_inode *inode, void *arg)
{
	struct reading *reading = arg;
	struct sp_reader *reader = NULL;
	size_t before = read_back.count;
	const struct sp_record *record = NULL;
	struct sp_error *error = sp_reader_open_memory(reading->ctx, inode->bytes, inode->size, path,
						       &reader);
	times.newest_ns = times.mark_ns = times.round_ns = 0;
	wait_ids.count = preempted_ids.count = 0;
	read_back.files++;
	if (!error)
		read_events(reader);
	while (!error && !(error = sp_reader_next(reader, &record)) && record)
		read_record(record);
	if (error)
		sim_violation("%s of %llu bytes cannot be read: %s", path,
			      (unsigned long long)inode->size, sp_error_message(error));
	sp_error_free(error);
	for (size_t i = 0; reader && !reading->killed && i < sp_reader_damage_count(reader); i++)
		sim_violation("%s is damaged: %s", path, sp_reader_damage(reader, i)->what);
	if (reader && !reading->killed && !sim_result.failed && sp_reader_unfinished(reader))
		sim_violation("%s is unfinished", path);
	sp_reader_free(reader);
	struct sim_found *items = read_back.items + before;
	size_t count = read_back.count - before;
	if (!count)
		return;
	qsort(items, count, sizeof(*items), compare_found);
	/* Without messages, it is seen late that a CPU is back: what began there is unknown until then. */
	bool unseen = sim_machine.workload.hotplug_ms && sim.fault_name;
	if (!sim_result.stats.lost_sideband && !reading->killed && !sim_result.failed && !unseen)
		sim_check_mappings(items, count);
}

void sim_read_files(struct sim_read_back *ret, bool killed)
{
	struct reading reading = {.killed = killed};
	sp_error_free(sp_ctx_new(&reading.ctx));
	sim_files_visit(read_file, &reading);
	sp_ctx_free(reading.ctx);
	if (read_back.count)
		qsort(read_back.items, read_back.count, sizeof(*read_back.items), compare_found);
	*ret = read_back;
}
