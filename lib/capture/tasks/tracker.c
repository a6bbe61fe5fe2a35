/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A task with two side-band events (one inherited and one of its own: see double_sampling.h) writes
 * each record twice, consecutively, into its CPU's ring. The two differ only in the event's id and
 * some nanoseconds. The second is dropped. Two changes that merely look alike have the same id, and
 * both stay.
 */
#include "capture/tasks/tracker.h"

#include "base/cleanup.h"
#include "record/record_length.h"
#include "record/types.h"

/* Limit of the time between the two: the kernel writes them together. */
#define REPEAT_NS 1000000

/* Records of tasks and mappings begin with the pid. FORK and EXIT have at most TASK_END bytes. */
enum { BODY = 8, FORK_TIME = 24, TASK_END = 32, LOST_COUNT = 16 };

/* The command's ring as tracker_item.ring: records of equal time follow those of other rings. */
#define OWN_RING UINT32_MAX

void tracker_deinit(struct tracker *tracker)
{
	vec_deinit(&tracker->births);
	vec_deinit(&tracker->kept);
	vec_deinit(&tracker->items);
}

static uint64_t trailer_u64(const struct ring *ring, const struct tracker_item *item,
			    uint32_t from_end)
{
	return ring_u64(ring, item->position + item->size - from_end);
}

static bool can_repeat(uint32_t type)
{
	return task_change_is_in(type) || type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
	       type == PERF_RECORD_NAMESPACES;
}

/*
 * Returns whether `item` is the same change as `before`, the last one of its ring, written by
 * another event shortly after. Times may differ.
 */
static bool repeats(const struct tracker *tracker, const struct ring *ring,
		    const struct tracker_item *before, const struct tracker_item *item)
{
	struct perf_event_header header = ring_header(ring, item->position);
	struct perf_event_header other = ring_header(ring, before->position);
	if (memcmp(&header, &other, sizeof(header)) || !can_repeat(header.type) ||
	    item->time_ns - before->time_ns > REPEAT_NS)
		return false;
	const struct record_fields *fields = &tracker->fields;
	if (trailer_u64(ring, item, fields->trailer_id) ==
	    trailer_u64(ring, before, fields->trailer_id))
		return false;
	uint32_t time_at = header.size - fields->trailer_time;
	for (uint32_t at = BODY; at < header.size - fields->trailer_id; at += 8)
		if (at != time_at && !(task_change_is_life(header.type) && at == FORK_TIME) &&
		    ring_u64(ring, item->position + at) != ring_u64(ring, before->position + at))
			return false;
	return true;
}

/* The longest name of a kernel symbol, with the fields before it, is well below this. */
#define MEND_SIZE 1024

/* Returns a record's size without the garbage after its fields: see record/record_length.h. */
static uint16_t true_size(const struct tracker *tracker, const struct ring *ring,
			  uint64_t position, const struct perf_event_header *header)
{
	uint8_t bytes[MEND_SIZE];
	size_t size = header->size < sizeof(bytes) ? header->size : sizeof(bytes);
	if (!record_size_is_doubtful(header->type))
		return header->size;
	ring_copy(ring, position, size, bytes);
	const struct raw_record raw = {.type = header->type, .size = size, .bytes = bytes};
	size_t end = record_fields_end(&raw, false);
	size_t whole = end + tracker->fields.trailer_tid;
	return end && whole < header->size ? (uint16_t)whole : header->size;
}

static struct sp_error *gather_ring(struct tracker *tracker, const struct ring *ring,
				    uint32_t index, uint64_t end)
{
	struct tracker_item before = {0};
	bool has_before = false;
	for (uint64_t position = ring->tail; position < end;) {
		struct perf_event_header header;
		if (!ring_record(ring, position, end, &header) ||
		    header.size < BODY + tracker->fields.trailer_tid) {
			tracker->counts.damaged += end - position;
			return NULL;
		}
		struct tracker_item item = {.position = position, .ring = index};
		item.size = true_size(tracker, ring, position, &header);
		item.time_ns = trailer_u64(ring, &item, tracker->fields.trailer_time) +
			       (tracker->rewrite ? tracker->rewrite->shift_ns : 0);
		position += header.size;
		if (has_before && repeats(tracker, ring, &before, &item)) {
			tracker->counts.repeated++;
			continue;
		}
		NEED(vec_append(&tracker->items, before = item));
		has_before = true;
	}
	return NULL;
}

/*
 * Returns whether the command's own ring has the record, too. The kernel writes the thread's EXIT
 * to both rings, and then the event is gone: another thread's exec may continue under its number.
 */
static bool is_in_own_ring(const struct tracker *tracker, const struct ring *ring,
			   const struct tracker_item *item, uint32_t type)
{
	const struct command_ring *own = &tracker->own;
	if (!own->ring.page || item->ring == OWN_RING || !can_repeat(type) ||
	    second_u32(trailer_u64(ring, item, tracker->fields.trailer_tid)) != own->tid)
		return false;
	return !own->ended_ns || (type == PERF_RECORD_EXIT &&
				  item->time_ns - own->ended_ns + REPEAT_NS < 2 * REPEAT_NS);
}

static int by_time(const void *a, const void *b)
{
	const struct tracker_item *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static bool is_sorted(const struct tracker *tracker)
{
	for (size_t i = 1; i < tracker->items.count; i++)
		if (tracker->items.items[i].time_ns < tracker->items.items[i - 1].time_ns)
			return false;
	return true;
}

static bool on_fork(struct tracker *tracker, const struct task_change *birth)
{
	const struct membership *membership = tracker->membership;
	if (tracker->collect_births)
		if (!vec_append(&tracker->births, *birth))
			return false;
	tracker->counts.followed_forks +=
		membership && membership_has(membership, birth->parent_pid, birth->parent_tid,
					     birth->time_ns);
	return !tracker->double_sampling ||
	       double_sampling_fork(tracker->double_sampling, birth->parent_tid, birth->tid);
}

/* Passes a change to the parts that count tasks. Returns false when out of memory. */
static bool on_change(struct tracker *tracker, const struct task_change *change, bool own)
{
	/* `spaces` may be the first again. */
	struct membership *const memberships[] = {
		tracker->membership, tracker->threads,
		tracker->spaces != tracker->membership ? tracker->spaces : NULL};
	bool starts = false, good = true;
	if (change->kind == TASK_FORKED) {
		good = on_fork(tracker, change);
	} else if (change->kind == TASK_ENDED) {
		if (own && change->tid == tracker->own.tid)
			tracker->own.ended_ns = change->time_ns;
		good = !tracker->double_sampling ||
		       double_sampling_exit(tracker->double_sampling, change->tid);
	} else if (change->kind == TASK_EXECED) {
		starts = change->pid == tracker->command_pid && !tracker->command_started;
		tracker->command_started |= starts;
	}
	for (size_t i = 0; good && i < count_of(memberships); i++)
		if (memberships[i])
			good = starts ? membership_add(memberships[i], change->pid, change->pid,
						       change->time_ns)
				      : membership_on_change(memberships[i], change);
	return good;
}

static bool on_record(struct tracker *tracker, const struct ring *ring,
		      const struct tracker_item *item, uint32_t type)
{
	uint8_t bytes[TASK_END];
	struct task_change change;
	size_t size = item->size - tracker->fields.trailer_tid;
	if (type == PERF_RECORD_LOST)
		tracker->counts.lost += ring_u64(ring, item->position + LOST_COUNT);
	if (!task_change_is_in(type))
		return true;
	size = size < sizeof(bytes) ? size : sizeof(bytes);
	ring_copy(ring, item->position, size, bytes);
	if (!task_change_decode(bytes, size, &change))
		return true;
	change.time_ns = item->time_ns;
	return on_change(tracker, &change, item->ring == OWN_RING);
}

/*
 * Returns whether a record lacks pid and tid in its body. Its trailer has those of the task that
 * ran.
 */
static bool is_of_who_ran(uint32_t type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE ||
	       type == RECORD_CALLCHAIN_DEFERRED;
}

static bool is_wanted(const struct tracker *tracker, const struct ring *ring,
		      const struct tracker_item *item, uint32_t type)
{
	if (tracker->spaces && !tracker->saves_all && is_of_who_ran(type)) {
		uint64_t tids = trailer_u64(ring, item, tracker->fields.trailer_tid);
		return membership_has(tracker->membership, first_u32(tids), second_u32(tids),
				      item->time_ns);
	}
	if (!tracker->spaces || tracker->saves_all || !can_repeat(type))
		return true; /* other records are of the kernel, or of the ring */
	/* All of these begin with the pid; a FORK begins with the child's. */
	uint32_t pid = first_u32(ring_u64(ring, item->position + BODY));
	return membership_has(tracker->spaces, pid, pid, item->time_ns);
}

static bool save(struct tracker *tracker, const struct ring *ring,
		 const struct tracker_item *item)
{
	struct record_buffer *kept = &tracker->kept;
	if (!vec_reserve(kept, kept->count + item->size))
		return false;
	uint8_t *copy = kept->items + kept->count;
	ring_copy(ring, item->position, item->size, copy);
	memcpy(copy + offsetof(struct perf_event_header, size), &item->size, sizeof(item->size));
	if (rewrite_is_needed(tracker->rewrite))
		rewrite_copy(tracker->rewrite, &tracker->fields, copy,
			     ring_header(ring, item->position).type, item->size);
	if (item->ring == OWN_RING) {
		const uint64_t *id = &tracker->own.listed_id;
		memcpy(copy + item->size - tracker->fields.trailer_id, id, sizeof(*id));
		if (ring_header(ring, item->position).type == PERF_RECORD_LOST)
			memcpy(copy + BODY, id, sizeof(*id));
	}
	kept->count += item->size;
	tracker->counts.saved++;
	return true;
}

static struct sp_error *process_items(struct tracker *tracker, const struct ring *rings)
{
	vec_each (item, &tracker->items) {
		const struct ring *ring =
			item->ring == OWN_RING ? &tracker->own.ring : &rings[item->ring];
		struct perf_event_header header = ring_header(ring, item->position);
		if (is_in_own_ring(tracker, ring, item, header.type)) {
			tracker->counts.repeated++;
			continue;
		}
		NEED(on_record(tracker, ring, item, header.type));
		if (!is_wanted(tracker, ring, item, header.type))
			tracker->counts.filtered++;
		else if (!save(tracker, ring, item))
			return error_no_memory();
		if (item->time_ns > tracker->last_ns)
			tracker->last_ns = item->time_ns;
	}
	return NULL;
}

struct sp_error *tracker_drain(struct tracker *tracker, struct ring *rings, size_t ring_count)
{
	struct sp_error *error = NULL;
	tracker->items.count = 0;
	CLEANUP_FREE uint64_t *ends = calloc(ring_count, sizeof(*ends));
	NEED(ends);
	for (size_t i = 0; i < ring_count && !error; i++) {
		ends[i] = ring_head(&rings[i]);
		error = gather_ring(tracker, &rings[i], i, ends[i]);
	}
	/*
	 * This ring is read last: another ring may have a record of a task that the command has
	 * just forked.
	 */
	uint64_t own_end = tracker->own.ring.page ? ring_head(&tracker->own.ring) : 0;
	if (own_end && !error)
		error = gather_ring(tracker, &tracker->own.ring, OWN_RING, own_end);
	if (!error && !is_sorted(tracker))
		vec_sort(&tracker->items, by_time);
	if (!error)
		error = process_items(tracker, rings);
	for (size_t i = 0; i < ring_count && !error; i++)
		ring_release(&rings[i], ends[i]);
	if (own_end && !error)
		ring_release(&tracker->own.ring, own_end);
	return error;
}
