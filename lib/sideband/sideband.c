/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/sideband.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/parallel.h"
#include "file/reader_damage.h"
#include "file/reader_struct.h"
#include "info/losses.h"
#include "reader/clock_setback.h"
#include "record/note.h"
#include "record/task_change.h"
#include "record/types.h"
#include "symbol/jit_files.h"
#include "walk/walker.h"

/* Size of a file's part that is worth a thread of its own. */
#define PART_MIN ((uint64_t)8 << 20)

struct sp_error *sideband_init(struct sideband *sideband, const struct sp_reader *reader,
			       struct machine *machine)
{
	const struct record_layout *layout = reader_layout(reader);
	*sideband = (struct sideband){.layout = layout, .machine = machine};
	const struct perf_event_attr *attr = layout->event_count ? &layout->events[0].attr : NULL;
	/* Without times, lifetimes of tasks are unknown. */
	for (size_t i = 0; i < layout->event_count; i++)
		sideband->lifetimes.wanted |= layout->events[i].attr.inherit;
	sideband->by_offset = attr && !(attr->sample_id_all &&
					attr->sample_type & PERF_SAMPLE_TIME);
	sideband->lifetimes.wanted &= !sideband->by_offset;
	return sp_losses_new(reader, &sideband->losses);
}

void sideband_deinit(struct sideband *sideband)
{
	jit_files_free(sideband->jit);
	stored_free(sideband->stored);
	sp_losses_free(sideband->losses);
	vec_deinit(&sideband->task_counts);
	lifetimes_deinit(&sideband->lifetimes);
	task_states_free(sideband->states);
	sched_samples_deinit(&sideband->sched);
	seen_threads_deinit(&sideband->seen);
	vec_deinit(&sideband->notes);
	vec_deinit(&sideband->cgroups);
	u64map_deinit(&sideband->cgroup_of);
	vec_deinit(&sideband->namespaces);
	vec_deinit(&sideband->splits);
	arena_deinit(&sideband->arena);
}

struct sp_error *sideband_want_states(struct sideband *sideband, const struct sp_reader *reader)
{
	if (sideband->by_offset)
		return NULL;
	struct sp_error *error = sched_samples_init(&sideband->sched, reader);
	if (!error && !sideband->sched.events.count)
		sideband->seen_offset = seen_threads_offset(sideband->layout);
	if (!error)
		error = task_states_new(&sideband->states);
	for (size_t i = 0; !error && i < sideband->layout->event_count; i++)
		if (sideband->layout->events[i].attr.context_switch)
			task_states_expect_switches(sideband->states);
	return error;
}

static struct sp_error *add_read(struct sideband *sideband, const struct sp_record *record)
{
	const struct sp_counters *counters = &record->read.counters;
	for (size_t i = 0; i < counters->count; i++) {
		const struct sp_counter *counter = &counters->values[i];
		uint64_t id = counters->read_format & PERF_FORMAT_ID ? counter->id : record->id.id;
		uint16_t event = losses_event_of_counter(sideband->losses, record, id);
		struct task_count *count = vec_push(&sideband->task_counts);
		NEED(count);
		*count = (struct task_count){counter->value, record->id.time_ns, record->read.pid,
					     record->read.tid, event};
	}
	return NULL;
}

static struct sp_error *add_note(struct sideband *sideband, const struct sp_record *record)
{
	struct sp_note noted;
	/* States of threads have these, and there are two for each thread. */
	if (!sp_record_note(record, &noted) || noted.kind == NOTE_SCHEDSTAT)
		return NULL;
	sideband->dithered |= noted.kind == NOTE_DITHERED;
	sideband->is_part |= noted.kind == NOTE_FILE_BEGINS;
	if (noted.kind == NOTE_COMMAND_TIME && noted.value_count && !sideband->is_part)
		sideband->command_ns = noted.values[0];
	if (noted.kind == NOTE_COMMAND_LINES && noted.value_count)
		sideband->command_lines += noted.values[0];
	if (noted.kind == NOTE_UNRECORDED && noted.value_count > 2) {
		sideband->unrecorded = noted.values[0];
		sideband->unrecorded_ns = noted.values[1];
		sideband->target_ns = noted.values[2];
	}
	if (noted.kind == NOTE_RING_SIZE && noted.value_count)
		sideband->ring_bytes = noted.values[0];
	if (noted.kind == NOTE_LOST_PHASES && noted.value_count > 2 && noted.values[0])
		sideband->attaching_share = (double)noted.values[0] /
					    ((double)noted.values[0] + (double)noted.values[1] +
					     (double)noted.values[2]);
	size_t size = sp_note_text(&noted, NULL, 0) + 1;
	/* The last estimate counts. */
	struct note *note = NULL;
	vec_each (earlier, &sideband->notes)
		note = noted.kind == NOTE_LOST_OWN && earlier->of_losses ? earlier : note;
	/* A file's first round may end with the note of its begin, which has no losses. */
	if (note && !noted.values[0])
		return NULL;
	char *text = arena_alloc(&sideband->arena, size);
	note = !text ? NULL : note ?: vec_push(&sideband->notes);
	NEED(note);
	sp_note_text(&noted, text, size);
	*note = (struct note){.text = text, .time_ns = noted.time_ns,
			      .stack_bytes = note_stack_bytes(&noted),
			      .of_pages = note_is_of_pages(&noted),
			      .hidden = note_hidden(&noted),
			      .of_losses = noted.kind == NOTE_LOST_OWN};
	if (noted.kind == NOTE_PYTHON_DROPPED && noted.value_count > 2) {
		note->python_missing = noted.values[0];
		note->python_calls = noted.values[1];
		note->python_remedy = noted.values[2];
	}
	return NULL;
}

struct sp_error *sideband_note(struct sideband *sideband, const char *text)
{
	char *copy = arena_strdup(&sideband->arena, text);
	struct note *note = copy ? vec_push(&sideband->notes) : NULL;
	NEED(note);
	*note = (struct note){.text = copy};
	return NULL;
}

static struct sp_error *add_cgroup(struct sideband *sideband, const struct sp_cgroup *cgroup)
{
	bool added;
	NEED(vec_reserve(&sideband->cgroups, sideband->cgroups.count + 1));
	const uint32_t *index =
		u64map_put(&sideband->cgroup_of, cgroup->id, sideband->cgroups.count, &added);
	char *path = index ? arena_strdup(&sideband->arena, cgroup->path) : NULL;
	NEED(path);
	if (added)
		*vec_push(&sideband->cgroups) = path;
	else
		sideband->cgroups.items[*index] = path;
	return NULL;
}

const char *sideband_cgroup(const struct sideband *sideband, uint64_t id)
{
	const uint32_t *index = u64map_find(&sideband->cgroup_of, id);
	return index ? sideband->cgroups.items[*index] : NULL;
}

/* Index of the cgroup namespace in NAMESPACES records. */
#define CGROUP_NAMESPACE 6

static struct sp_error *add_namespaces(struct sideband *sideband, const struct sp_record *record)
{
	const struct sp_namespaces *namespaces = &record->namespaces;
	if (namespaces->count <= CGROUP_NAMESPACE)
		return NULL;
	struct cgroup_namespace *slot = vec_push(&sideband->namespaces);
	NEED(slot);
	*slot = (struct cgroup_namespace){
		.tid = namespaces->tid,
		.time_ns = record->id.time_ns,
		.dev = namespaces->namespaces[CGROUP_NAMESPACE].dev,
		.ino = namespaces->namespaces[CGROUP_NAMESPACE].ino,
	};
	return NULL;
}

static int compare_namespaces(const void *a, const void *b)
{
	const struct cgroup_namespace *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Numbers equal namespaces, after all records are read. */
static struct sp_error *number_namespaces(struct sideband *sideband)
{
	struct u64map first_of = {0};
	bool done = true;
	if (!sideband->namespaces.count)
		return NULL;
	vec_sort(&sideband->namespaces, compare_namespaces);
	for (size_t i = 0; done && i < sideband->namespaces.count; i++) {
		struct cgroup_namespace *of = &sideband->namespaces.items[i];
		const uint32_t *first = u64map_put(&first_of, hash_pair(of->dev, of->ino), i, NULL);
		done = first != NULL;
		of->first = done ? *first : 0;
	}
	u64map_deinit(&first_of);
	return done ? NULL : error_no_memory();
}

size_t sideband_namespace(const struct sideband *sideband, uint32_t tid, uint64_t time_ns)
{
	const struct cgroup_namespace wanted = {.tid = tid, .time_ns = time_ns};
	size_t low = 0, high = sideband->namespaces.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_namespaces(&sideband->namespaces.items[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || sideband->namespaces.items[low - 1].tid != tid)
		return SIZE_MAX;
	return sideband->namespaces.items[low - 1].first;
}

static struct sp_error *add_record(struct sideband *sideband, struct sp_record *record)
{
	TRY(sp_losses_add(sideband->losses, record));
	TRY(lifetimes_add(&sideband->lifetimes, record));
	if (sideband->states)
		TRY(task_states_add(sideband->states, record));
	if (sideband->by_offset) {
		record->id.time_ns = record->file_offset;
		record->id.present |= PERF_SAMPLE_TIME;
	}
	switch (record->type) {
	case PERF_RECORD_LOST:
		/*
		 * LOST may include mapping records, because perf's ring buffers hold samples and side-
		 * band records.
		 */
		machine_set_partial(sideband->machine);
		return NULL;
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case SP_RECORD_FINISHED_ROUND:
		return NULL;
	case PERF_RECORD_FORK:
		sideband->has_older |= (record->misc & PERF_RECORD_MISC_FORK_EXEC) != 0;
		return machine_add(sideband->machine, record);
	case PERF_RECORD_READ:
		return add_read(sideband, record);
	case PERF_RECORD_CGROUP:
		return add_cgroup(sideband, &record->cgroup);
	case PERF_RECORD_NAMESPACES:
		return add_namespaces(sideband, record);
	case SP_RECORD_TIME_CONV:
		sideband->ticks = record->time_conv;
		return NULL;
	case SP_RECORD_EVENT_UPDATE:
		TRY(add_note(sideband, record));
		return machine_add(sideband->machine, record);
	default:
		return machine_add(sideband->machine, record);
	}
}

/*
 * Returns whether pass one needs records of this type in any case. Rare types are decoded even if
 * they have no use here, so that their damage is always found.
 */
static bool is_wanted(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_READ:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_TEXT_POKE:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
	case SP_RECORD_HEADER_BUILD_ID:
	case SP_RECORD_EVENT_UPDATE:
	case SP_RECORD_TIME_CONV:
	case SP_RECORD_ID_INDEX:
	case SP_RECORD_AUXTRACE_INFO:
	case SP_RECORD_AUXTRACE_ERROR:
	case SP_RECORD_THREAD_MAP:
	case SP_RECORD_CPU_MAP:
	case SP_RECORD_STAT_CONFIG:
	case SP_RECORD_STAT:
	case SP_RECORD_STAT_ROUND:
	case SP_RECORD_BPF_METADATA:
	case SP_RECORD_SCHEDSTAT_CPU:
	case SP_RECORD_SCHEDSTAT_DOMAIN:
		return true;
	default:
		return task_change_is_in(type);
	}
}

/* Like is_wanted(), if tasks inherit events: also records from which lifetimes are computed. */
static bool is_wanted_of_tasks(uint32_t type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE ||
	       is_wanted(type);
}

/* Like is_wanted_of_tasks(), and the records from which states are computed. */
static bool is_wanted_of_states(uint32_t type)
{
	return type == SP_RECORD_FINISHED_ROUND || is_wanted_of_tasks(type);
}

/* Like is_wanted_of_states(), and samples, because some are of switches. */
static bool is_wanted_of_sched(uint32_t type)
{
	return type == PERF_RECORD_SAMPLE || is_wanted_of_states(type);
}

static bool (*wanted(const struct sideband *sideband))(uint32_t)
{
	if (sideband->sched.events.count)
		return is_wanted_of_sched;
	if (sideband->states)
		return is_wanted_of_states;
	return sideband->lifetimes.wanted ? is_wanted_of_tasks : is_wanted;
}

static struct sp_error *add_raw(struct sideband *sideband, struct sp_reader *reader,
				struct decoder *decoder, const struct raw_record *raw)
{
	struct sp_record record;
	struct sp_error *error = decoder_decode(decoder, raw, &record);
	if (!error && record.type == PERF_RECORD_SAMPLE)
		return sched_samples_add(&sideband->sched, &record, sideband->states);
	if (!error)
		return add_record(sideband, &record);
	if (sp_error_code(error) != SP_ERROR_FORMAT)
		return error;
	/* Pass two reports damaged samples. */
	if (raw->type == PERF_RECORD_SAMPLE) {
		sp_error_free(error);
		return NULL;
	}
	reader_add_damage(reader, raw->offset, error);
	return NULL;
}

/* Reads the records that begin in `extent`; *offset_ret is the end of the last one. */
static struct sp_error *read_extent(struct sideband *sideband, struct sp_reader *reader,
				    struct decoder *decoder, struct reader_extent extent,
				    uint64_t *offset_ret)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	struct sp_error *error = walker_new(reader, extent, &walker);
	if (!error && !wanted(sideband)(PERF_RECORD_SAMPLE))
		walker_skip_samples(walker);
	while (!error) {
		struct raw_record raw;
		uint64_t at = *offset_ret = walker_offset(walker);
		error = walker_next(walker, &raw);
		if (error) {
			if (sp_error_code(error) != SP_ERROR_FORMAT)
				return error;
			reader_add_damage(reader, at, error);
			error = NULL;
			continue;
		}
		if (!raw.bytes)
			return NULL;
		NEED(splits_pass(&sideband->splits, raw.offset));
		if (raw.type == PERF_RECORD_SAMPLE && sideband->seen_offset)
			NEED(seen_threads_add(&sideband->seen, &raw, sideband->seen_offset,
					      sideband->layout->swap));
		if (raw.type == PERF_RECORD_SAMPLE)
			sideband->sample_count++;
		else if (raw.type == RECORD_CALLCHAIN_DEFERRED)
			sideband->deferred_count++;
		if (wanted(sideband)(raw.type))
			error = add_raw(sideband, reader, decoder, &raw);
	}
	return error;
}

/* Adds the records of a readahead; its begin is proven to be a record's begin. */
static struct sp_error *use_readahead(struct sideband *sideband, struct sp_reader *reader,
				   struct decoder *decoder, const struct readahead *readahead)
{
	struct sp_error *error = NULL;
	/* The readahead's bytes are counted as done. */
	sideband->splits.ctx = NULL;
	for (size_t i = 0; !error && i < readahead->splits.count; i++)
		NEED(splits_pass(&sideband->splits, readahead->splits.items[i]));
	sideband->splits.ctx = reader->ctx;
	for (size_t i = 0; !error && i < readahead->records.count; i++)
		error = add_raw(sideband, reader, decoder, &readahead->records.items[i]);
	for (size_t i = 0; !error && i < readahead->seen.items.count; i++)
		NEED(seen_threads_merge(&sideband->seen, &readahead->seen.items.items[i]));
	sideband->sample_count += readahead->sample_count;
	sideband->deferred_count += readahead->deferred_count;
	return error;
}

/*
 * Reads from the start to the end. Uses the readahead of other threads where the reader arrives at its
 * begin.
 */
static struct sp_error *join(struct sideband *sideband, struct sp_reader *reader,
			     const struct readahead *readaheads, size_t count)
{
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct reader_extent extent = reader_extent(reader);
	struct sp_error *error = decoder_new(sideband->layout, &decoder);
	uint64_t at = extent.begin;
	for (size_t next = 0; !error && at < extent.end;) {
		if (next < count && (readaheads[next].begin < at ||
				     readaheads[next].begin == readaheads[next].end)) {
			next++;
		} else if (next < count && readaheads[next].begin == at) {
			error = use_readahead(sideband, reader, decoder, &readaheads[next]);
			at = readaheads[next++].end;
		} else {
			uint64_t end = next < count ? readaheads[next].begin : extent.end;
			error = read_extent(sideband, reader, decoder,
					    (struct reader_extent){at, end}, &at);
			/* Nothing more can be read after this place. */
			if (at < end)
				break;
		}
	}
	return error;
}

/* Threads that read ahead in parts of a file at the same time. */
struct readahead_job {
	struct sp_reader *reader;
	struct readahead_options options;
	struct readahead *readaheads;
	unsigned int count;
};

static void readahead_part(void *arg, unsigned int i)
{
	const struct readahead_job *job = arg;
	struct reader_extent all = reader_extent(job->reader);
	/* Records begin at multiples of 8 after the first record. */
	uint64_t size = (all.end - all.begin) / job->count & ~(uint64_t)7;
	struct reader_extent part = {all.begin + i * size, all.begin + (i + 1) * size};
	if (i + 1 == job->count)
		part.end = all.end;
	readahead_run(&job->readaheads[i], job->reader, part, &job->options);
}

/* Detects a clock that was set back, before any record is decoded. */
static struct sp_error *correct_clock(struct sideband *sideband, struct sp_reader *reader)
{
	uint64_t moved, back_ns;
	struct sp_error *error = reader_find_clock_step(reader, &moved, &back_ns);
	if (error || !moved)
		return error;
	CLEANUP_FREE char *text = format_text("the clock was set back by %.3f s or more during the "
					      "recording: %llu later records are shifted by this time "
					      "(sprof record -k monotonic keeps the order)",
					      (double)back_ns / 1e9, (unsigned long long)moved);
	sideband->clock_note = arena_strdup(&sideband->arena, text);
	return sideband->clock_note ? NULL : error_no_memory();
}

struct sp_error *sideband_note_clock(struct sideband *sideband)
{
	return sideband->clock_note ? sideband_note(sideband, sideband->clock_note) : NULL;
}

struct sp_error *sideband_read(struct sideband *sideband, struct sp_reader *reader,
			       unsigned int threads)
{
	struct sp_error *clock_error = correct_clock(sideband, reader);
	if (clock_error)
		return clock_error;
	struct reader_extent extent = reader_extent(reader);
	uint64_t most = (extent.end - extent.begin) / PART_MIN;
	ctx_begin_step(reader->ctx, SP_STEP_MAPPINGS, extent.end - extent.begin);
	sideband->splits.ctx = reader->ctx;
	struct readahead_job job = {.reader = reader,
			      .options = {wanted(sideband), sideband->seen_offset, sideband->layout->swap},
			      .count = most < threads ? (unsigned int)most : threads};
	CLEANUP_FREE struct readahead *readaheads = NULL;
	/*
	 * Without trusted sizes of samples, there is no readahead, because the result would depend on
	 * where it starts.
	 */
	if (job.count > 1 && !reader_is_exact(reader)) {
		readaheads = job.readaheads = calloc(job.count, sizeof(*readaheads));
		NEED(readaheads);
		parallel_run(job.count, readahead_part, &job);
	}
	struct sp_error *error = join(sideband, reader, readaheads, readaheads ? job.count : 0);
	for (size_t i = 0; readaheads && i < job.count; i++)
		readahead_deinit(&readaheads[i]);
	uint64_t *end = error ? NULL : vec_push(&sideband->splits);
	if (!error && !end)
		error = error_no_memory();
	if (!error)
		*end = extent.end;
	size_t unfinished = reader_unfinished_damage(reader) != NULL;
	if (sideband->by_offset || sp_reader_damage_count(reader) > unfinished)
		machine_set_partial(sideband->machine);
	sideband->recorded_notes = sideband->notes.count;
	for (size_t i = 0; !error && sideband->states && i < sideband->seen.items.count; i++)
		error = task_states_add_seen(sideband->states, sideband->seen.items.items[i].pid,
					     sideband->seen.items.items[i].tid);
	return error ? error : number_namespaces(sideband);
}
