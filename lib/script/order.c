/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorts records by time. A recording is nearly sorted: ring buffers are drained one after the
 * other, so runs of different CPUs' records follow each other and cover about the same time.
 * Ascending runs are merged in pairs, and of each pair only the overlapping part.
 */
#include "script/order.h"

#include <stdatomic.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/parallel.h"
#include "file/reader_damage.h"
#include "profile/filter.h"
#include "record/decode.h"
#include "record/types.h"
#include "walk/walker.h"

#define RANGE_SIZE ((uint64_t)16 << 20)

/* Values of ref.time_ns: a record without a time, and a FINISHED_ROUND, which is not shown. */
#define TIME_NONE UINT64_MAX
#define TIME_ROUND (UINT64_MAX - 1)

/* A part of the file, read by one thread at a time. */
struct file_part {
	struct reader_extent extent;
	struct order found;
	struct sp_error *error;
};

struct order_reader {
	const struct order_request *request;
	struct file_part *parts;
	size_t count;
	atomic_size_t next;
	bool by_offset; /* keep the file's order: times are not used */
};

void order_deinit(struct order *order)
{
	vec_deinit(order);
}

static bool type_is_wanted(const struct sp_script_options *options, uint32_t type)
{
	if (type == PERF_RECORD_SAMPLE)
		return options->samples != SP_OFF;
	if (type < RECORD_USER_TYPES)
		return options->kernel_types >> type & 1;
	return type < 2 * RECORD_USER_TYPES &&
	       options->user_types >> (type - RECORD_USER_TYPES) & 1;
}

/* Whether a sample passes the filters that need only the sample: event, pid and tid. */
static bool sample_passes(const struct order_reader *reading, const struct sp_record *record)
{
	const struct sp_script_options *options = reading->request->options;
	const struct sp_sample *sample = &record->sample;
	if (options->tell_all)
		return true;
	if (options->events.count) {
		const struct record_layout *layout = reader_layout(reading->request->reader);
		if (record->event == SP_EVENT_NONE ||
		    !filter_name(options->events.items, options->events.count,
				 layout->events[record->event].name))
			return false;
	}
	return filter_task(options->filter, sample->pid, sample->tid);
}

/* Whether a record passes the filters. *time_ret is its time, or TIME_NONE. */
static bool record_passes(const struct order_reader *reading, const struct sp_record *record,
			  uint64_t *time_ret)
{
	const struct sp_script_options *options = reading->request->options;
	bool sample = record->type == PERF_RECORD_SAMPLE;
	const struct record_origin from = record_origin(record);
	bool timed = from.present & PERF_SAMPLE_TIME && from.time_ns && from.time_ns != UINT64_MAX;
	*time_ret = timed && !reading->by_offset ? from.time_ns : TIME_NONE;
	if (sample && !sample_passes(reading, record))
		return false;
	if (from.present & PERF_SAMPLE_CPU &&
	    !filter_number(options->filter->cpus.items, options->filter->cpus.count, from.cpu))
		return false;
	return !sample || options->tell_all || filter_time(options->filter, from.time_ns);
}

static bool add_ref(struct order *order, const struct raw_record *raw, uint64_t time_ns)
{
	return vec_append(order, (struct record_ref){.time_ns = time_ns,
						     .offset = raw->offset & (UINT64_MAX >> 16),
						     .size = raw->size & UINT16_MAX});
}

/* Adds a record that passes the filters, or the end of a round. */
static struct sp_error *add_record(const struct order_reader *reading, struct walker *walker,
				   struct decoder *decoder, const struct raw_record *raw,
				   struct order *found)
{
	struct sp_record record;
	uint64_t time_ns;
	if (raw->type == SP_RECORD_FINISHED_ROUND && !add_ref(found, raw, TIME_ROUND))
		return error_no_memory();
	if (!type_is_wanted(reading->request->options, raw->type))
		return NULL;
	struct sp_error *error = decoder_decode(decoder, raw, &record);
	if (!error)
		walker_set_excess(walker, raw, decoder_excess(decoder));
	if (error || !record_passes(reading, &record, &time_ns))
		return error;
	return add_ref(found, raw, time_ns) ? NULL : error_no_memory();
}

static struct sp_error *read_part(const struct order_reader *reading, struct file_part *part)
{
	struct sp_reader *reader = reading->request->reader;
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_error *error = walker_new(reader, part->extent, &walker);
	if (!error)
		error = decoder_new(reader_layout(reader), &decoder);
	while (!error) {
		struct raw_record raw;
		uint64_t at = walker_offset(walker);
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		if (!error)
			error = add_record(reading, walker, decoder, &raw, &part->found);
		if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
			reader_add_damage(reader, at, error);
			error = NULL;
		}
	}
	return error;
}

static void read_parts(void *arg, unsigned int hand)
{
	struct order_reader *reading = arg;
	(void)hand;
	for (size_t i; (i = atomic_fetch_add(&reading->next, 1)) < reading->count;)
		reading->parts[i].error = read_part(reading, &reading->parts[i]);
}

/* Divides the file at record boundaries into parts of at least RANGE_SIZE bytes. */
static struct file_part *make_parts(const struct order_request *request, size_t *count_ret)
{
	struct file_part *parts = calloc(request->split_count, sizeof(*parts));
	size_t count = 0;
	for (size_t i = 0, begin = 0; parts && i + 1 < request->split_count; i++) {
		const uint64_t *splits = request->splits;
		if (splits[i + 1] - splits[begin] < RANGE_SIZE && i + 2 < request->split_count)
			continue;
		parts[count++].extent = (struct reader_extent){splits[begin], splits[i + 1]};
		begin = i + 1;
	}
	*count_ret = count;
	return parts;
}

/*
 * Gives each record without a time that of the latest record that perf has flushed before it. At the
 * end of a round perf flushes the records up to the end of the previous round. Removes the rounds'
 * ends.
 */
static void set_missing_times(struct record_ref *items, size_t *count)
{
	uint64_t due = 0, last_round = 0, latest = 0;
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++) {
		struct record_ref ref = items[i];
		if (ref.time_ns == TIME_ROUND) {
			if (last_round > due)
				due = last_round;
			last_round = latest;
			continue;
		}
		if (ref.time_ns == TIME_NONE)
			ref.time_ns = due;
		else if (ref.time_ns > latest)
			latest = ref.time_ns;
		items[kept++] = ref;
	}
	*count = kept;
}

/* Returns the end of the ascending run that begins at `begin`. */
static size_t run_end(const struct record_ref *items, size_t begin, size_t count)
{
	size_t end = begin + 1;
	while (end < count && items[end].time_ns >= items[end - 1].time_ns)
		end++;
	return end;
}

/*
 * Returns the first of the sorted items [begin, end) that is later than `time_ns`, or, if `same`, not
 * earlier.
 */
static size_t first_later(const struct record_ref *items, size_t begin, size_t end,
			  uint64_t time_ns, bool same)
{
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		uint64_t at = items[middle].time_ns;
		if (at < time_ns || (at == time_ns && !same))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

/* Merges the runs [begin, middle) and [middle, end); false when out of memory. */
static bool merge(struct record_ref *items, size_t begin, size_t middle, size_t end,
		  struct order *spare)
{
	begin = first_later(items, begin, middle, items[middle].time_ns, false);
	if (begin == middle)
		return true;
	end = first_later(items, middle, end, items[middle - 1].time_ns, true);
	size_t left = middle - begin;
	if (!vec_reserve(spare, left))
		return false;
	memcpy(spare->items, items + begin, left * sizeof(*items));
	size_t a = 0, b = middle, to = begin;
	while (a < left && b < end)
		items[to++] = items[b].time_ns < spare->items[a].time_ns ? items[b++] :
									   spare->items[a++];
	memcpy(items + to, spare->items + a, (left - a) * sizeof(*items));
	return true;
}

bool order_sort(struct record_ref *items, size_t count)
{
	VEC(size_t) ends = {0};
	struct order spare = {0};
	bool good = true;
	for (size_t at = 0; good && at < count;) {
		at = run_end(items, at, count);
		size_t *end = vec_push(&ends);
		good = end;
		if (end)
			*end = at;
	}
	while (good && ends.count > 1) {
		size_t kept = 0, begin = 0;
		for (size_t i = 0; good && i < ends.count; i += 2) {
			size_t last = i + 1 < ends.count ? i + 1 : i;
			if (last > i)
				good = merge(items, begin, ends.items[i], ends.items[last], &spare);
			begin = ends.items[kept++] = ends.items[last];
		}
		ends.count = kept;
	}
	vec_deinit(&ends);
	vec_deinit(&spare);
	return good;
}

/* Concatenates the records of all parts. */
static struct sp_error *join(struct order *order, struct file_part *parts, size_t count)
{
	struct sp_error *error = NULL;
	size_t all = 0;
	for (size_t i = 0; i < count; i++) {
		error = error_first(error, parts[i].error);
		all += parts[i].found.count;
	}
	if (!error && !vec_reserve(order, all))
		error = error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct order *found = &parts[i].found;
		if (!error && found->count)
			memcpy(order->items + order->count, found->items,
			       found->count * sizeof(*found->items));
		if (!error)
			order->count += found->count;
		order_deinit(found);
	}
	return error;
}

struct sp_error *order_make(struct order *order, const struct order_request *request)
{
	const struct record_layout *layout = reader_layout(request->reader);
	struct order_reader reading = {
		.request = request,
		/* perf decides by the first event, too. */
		.by_offset = request->options->in_file_order || !layout->event_count ||
			     !layout->events[0].attr.sample_id_all,
	};
	CLEANUP_FREE struct file_part *parts = make_parts(request, &reading.count);
	NEED(parts);
	reading.parts = parts;
	if (reading.count)
		parallel_run(reading.count < request->threads ? (unsigned int)reading.count :
								request->threads,
			     read_parts, &reading);
	TRY(join(order, parts, reading.count));
	set_missing_times(order->items, &order->count);
	return order_sort(order->items, order->count) ? NULL : error_no_memory();
}
