/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/timed_cells.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "profile/interval.h"

/* Parts of the recording from `first` up to `end`. */
struct part_range {
	size_t first, end;
};

struct placer {
	const struct times *times;
	struct cells *to;
	unsigned int shift;
	uint64_t first_ns, last_ns, base_ns;
	uint64_t number; /* first_ns >> shift */
	size_t parts;
	size_t spare_cells; /* limit for contradicting waits of threads without known states */
	/* Free time of one slice by state, then in any state; by part, 0 outside of `extent`. */
	uint64_t *room[TIME_STATES + 1];
	struct part_range extent;
	struct timed_cells left; /* a slice's cells that found no room in their state */
};

static void placer_deinit(struct placer *placer)
{
	for (int i = 0; i <= TIME_STATES; i++)
		free(placer->room[i]);
	vec_deinit(&placer->left);
}

unsigned int timed_cells_shift(uint64_t first_ns, uint64_t last_ns)
{
	unsigned int shift = 0;
	while ((last_ns >> shift) - (first_ns >> shift) >= TIMED_PARTS_MAX)
		shift++;
	return shift;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the part of a time: the first or the last one if it is outside of the recording. */
static size_t part_of(const struct placer *placer, uint64_t time_ns)
{
	uint64_t number = time_ns >> placer->shift;
	if (number < placer->number)
		return 0;
	return number - placer->number < placer->parts ? (size_t)(number - placer->number)
						       : placer->parts - 1;
}

static uint64_t begin_of(const struct placer *placer, size_t part)
{
	return (placer->number + part) << placer->shift;
}

/* Returns the end of a part; the last one has none. */
static uint64_t end_of(const struct placer *placer, size_t part)
{
	return part + 1 < placer->parts ? begin_of(placer, part + 1) : UINT64_MAX;
}

static struct part_range extent_of(const struct placer *placer, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct part_range){part_of(placer, begin_ns), part_of(placer, end_ns) + 1};
}

/* Moves time of a cell to a part. The first such time counts the samples. */
static bool put(struct placer *placer, struct sp_cell *cell, size_t part, uint64_t ns)
{
	struct sp_cell placed = *cell;
	if (part_of(placer, cell->time_ns) != part)
		placed.time_ns = begin_of(placer, part);
	placed.weight = ns;
	placed.time_ns -= placed.time_ns < placer->base_ns ? placed.time_ns : placer->base_ns;
	cell->weight -= ns;
	cell->samples = 0;
	return cells_add(placer->to, &placed);
}

/* Adds a cell's remaining time to the part in which its sample was taken. */
static bool put_rest(struct placer *placer, struct sp_cell *cell)
{
	return (!cell->weight && !cell->samples) ||
	       put(placer, cell, part_of(placer, cell->time_ns), cell->weight);
}

static void clear_room(const struct placer *placer, uint64_t *room)
{
	const struct part_range *extent = &placer->extent;
	memset(room + extent->first, 0, (extent->end - extent->first) * sizeof(*room));
}

static uint64_t sum_room(const struct placer *placer, const uint64_t *room)
{
	uint64_t sum = 0;
	for (size_t i = placer->extent.first; i < placer->extent.end; i++)
		sum += room[i];
	return sum;
}

/* Spreads time without samples evenly over free time. What finds no room stays in the cell. */
static bool spread(struct placer *placer, struct sp_cell *cell, uint64_t *room)
{
	uint64_t all = sum_room(placer, room), before = 0, done = 0, want = cell->weight;
	for (size_t i = placer->extent.first; i < placer->extent.end; i++) {
		before += room[i];
		uint64_t until =
			want < all ? weight_part(want, (double)before / (double)all) : before;
		uint64_t ns = earlier(until - done, room[i]);
		room[i] -= ns;
		done += ns;
		if (ns && !put(placer, cell, i, ns))
			return false;
	}
	return true;
}

/*
 * Fills free time with cells, in the order of their samples. If there is more of it than they need,
 * cells skip free time before their sample as long as enough is left for the others. If there is
 * less, all get the same share; the rest stays in the cells.
 */
static bool fill(struct placer *placer, struct timed_cell *cells, size_t count, uint64_t *room)
{
	uint64_t all = sum_room(placer, room), want = 0, seen = 0, done = 0;
	for (size_t i = 0; i < count; i++)
		want = weight_add(want, cells[i].cell.weight);
	uint64_t spare = all > want ? all - want : 0;
	size_t part = placer->extent.first, end = placer->extent.end;
	uint64_t here = room[part]; /* free in this part, and not skipped */
	for (size_t i = 0; i < count; i++) {
		struct sp_cell *cell = &cells[i].cell;
		size_t own = part_of(placer, cell->time_ns);
		seen = weight_add(seen, cell->weight);
		uint64_t until = want > all ? weight_part(all, (double)seen / (double)want) : seen;
		uint64_t ns = earlier(until - done, cell->weight);
		done += ns;
		while (part < own && part < end && (spare || !here)) {
			uint64_t skipped = earlier(here, spare);
			spare -= skipped;
			here -= skipped;
			if (!here)
				here = ++part < end ? room[part] : 0;
		}
		while (ns && part < end) {
			uint64_t used = earlier(here, ns);
			here -= used;
			ns -= used;
			room[part] -= used;
			if (used && !put(placer, cell, part, used))
				return false;
			if (!here)
				here = ++part < end ? room[part] : 0;
		}
	}
	return true;
}

/* Adds the states of a slice to its room. */
static void add_states(struct placer *placer, const struct slice *slice)
{
	for (size_t i = placer->extent.first; i < placer->extent.end; i++) {
		uint64_t ns[TASK_STATES] = {0};
		task_states_sum(placer->times->states, slice->lifetime,
				later(slice->begin_ns, begin_of(placer, i)),
				earlier(slice->end_ns, end_of(placer, i)), ns);
		placer->room[TIME_ON_CPU][i] = ns[TASK_RUNNING];
		placer->room[TIME_RUNNABLE][i] = ns[TASK_RUNNABLE];
		placer->room[TIME_BLOCKED][i] = ns[TASK_BLOCKED];
		placer->room[TIME_UNKNOWN][i] = ns[TASK_UNKNOWN];
	}
}

/* A slice while its latency is added. */
struct latency_lane {
	struct placer *placer;
	uint32_t pid;
	double ns[2];        /* sums by state */
	uint64_t rounded[2]; /* parts of them that are in the room */
};

/* Adds an interval in which the thread could run, divided by the number of such threads. */
static void add_latency(void *arg, const struct task_interval *interval)
{
	struct latency_lane *lane = arg;
	const struct runners *runners = &lane->placer->times->runners;
	enum time_state state = interval->state == TASK_RUNNING ? TIME_ON_CPU : TIME_RUNNABLE;
	if (!could_run(interval))
		return;
	for (uint64_t from = interval->begin_ns, until; from < interval->end_ns; from = until) {
		size_t part = part_of(lane->placer, from);
		until = earlier(interval->end_ns, end_of(lane->placer, part));
		lane->ns[state] += runners_latency(runners, lane->pid, from, until);
		uint64_t ns = weight_round(lane->ns[state]) - lane->rounded[state];
		lane->placer->room[state][part] += ns;
		lane->rounded[state] += ns;
	}
}

/* Adds time in which no thread of a process could run, blocked or unknown, to the room. */
static void add_idle(void *arg, uint64_t begin_ns, uint64_t end_ns, bool unknown)
{
	struct placer *placer = arg;
	uint64_t *room = placer->room[unknown ? TIME_UNKNOWN : TIME_BLOCKED];
	for (uint64_t from = begin_ns, until; from < end_ns; from = until) {
		size_t part = part_of(placer, from);
		until = earlier(end_ns, end_of(placer, part));
		room[part] += until - from;
	}
}

/* Makes the room of a slice with cells. */
static void make_room(struct placer *placer, const struct timed_cell *cells, size_t count)
{
	const struct times *times = placer->times;
	const struct slice slice = slices_get(&times->slices, cells->slice);
	placer->extent = extent_of(placer, slice.begin_ns, slice.end_ns);
	if (!times->weigher->needs_parallelism) {
		add_states(placer, &slice);
		return;
	}
	uint32_t pid = task_states_totals(times->states, slice.lifetime)->pid;
	struct latency_lane lane = {.placer = placer, .pid = pid};
	task_states_each(times->states, slice.lifetime, slice.begin_ns, slice.end_ns, add_latency,
			 &lane);
	/* Cells are in order of their states. */
	if (cells[count - 1].state < TIME_BLOCKED)
		return;
	uint64_t end_ns = times->strata.rests[slice.number].process_end_ns;
	runners_each_idle(&times->runners, pid, slice.begin_ns, end_ns, add_idle, placer);
	placer->extent = extent_of(placer, slice.begin_ns, later(slice.end_ns, end_ns));
}

/* Places the cells of a slice in one state. What finds no room is added to `left`. */
static bool place_state(struct placer *placer, struct timed_cell *cells, size_t count)
{
	uint64_t *room = placer->room[cells->state];
	size_t rests = 0;
	for (; rests < count && cells[rests].rest; rests++)
		if (!spread(placer, &cells[rests].cell, room))
			return false;
	if (!fill(placer, cells + rests, count - rests, room) ||
	    !vec_reserve(&placer->left, placer->left.count + count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (cells[i].cell.weight || cells[i].cell.samples)
			*vec_push(&placer->left) = cells[i];
	for (size_t i = placer->extent.first; i < placer->extent.end; i++)
		placer->room[TIME_STATES][i] += room[i];
	return true;
}

static int compare_times(const void *a, const void *b)
{
	const struct timed_cell *x = a, *y = b;
	return u64_order(x->cell.time_ns, y->cell.time_ns);
}

/* Places cells of a slice in other states, and then without regard to room. */
static bool place_left(struct placer *placer)
{
	struct timed_cells *left = &placer->left;
	if (!left->count)
		return true;
	vec_sort(left, compare_times);
	if (!fill(placer, left->items, left->count, placer->room[TIME_STATES]))
		return false;
	vec_each (item, left)
		if (!put_rest(placer, &item->cell))
			return false;
	left->count = 0;
	return true;
}

static bool place_slice(struct placer *placer, struct timed_cell *cells, size_t count)
{
	make_room(placer, cells, count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && cells[end].state == cells[i].state;)
			end++;
		if (!place_state(placer, cells + i, end - i))
			return false;
	}
	if (!place_left(placer))
		return false;
	for (int i = 0; i <= TIME_STATES; i++)
		clear_room(placer, placer->room[i]);
	return true;
}

/* Spreads a cell over the recording. */
static bool spread_over_all(struct placer *placer, struct sp_cell *cell)
{
	uint64_t *room = placer->room[TIME_STATES];
	placer->extent = (struct part_range){0, placer->parts};
	for (size_t i = 0; i < placer->parts; i++)
		room[i] = earlier(placer->last_ns, end_of(placer, i)) -
			  later(placer->first_ns, begin_of(placer, i));
	bool done = spread(placer, cell, room);
	clear_room(placer, room);
	return done && put_rest(placer, cell);
}

/*
 * Places a cell of a thread without known states. A wait that would end after the recording is the
 * sum of many, which perf writes at its end: it may have been at any time.
 */
static bool place_unknown(struct placer *placer, struct timed_cell *timed)
{
	struct sp_cell *cell = &timed->cell;
	if (timed->state != TIME_BLOCKED || placer->spare_cells < placer->parts)
		return put_rest(placer, cell);
	if (cell->time_ns > placer->last_ns || cell->weight > placer->last_ns - cell->time_ns) {
		placer->spare_cells -= placer->parts;
		return spread_over_all(placer, cell);
	}
	for (uint64_t at = cell->time_ns, until; cell->weight; at = until) {
		size_t part = part_of(placer, at);
		until = end_of(placer, part);
		if (!put(placer, cell, part, earlier(cell->weight, until - at)))
			return false;
		placer->spare_cells--;
	}
	return put_rest(placer, cell);
}

/* Rests come before the samples of their state. */
static int compare_cells(const void *a, const void *b)
{
	const struct timed_cell *x = a, *y = b;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->rest != y->rest)
		return x->rest ? -1 : 1;
	return u64_order(x->cell.time_ns, y->cell.time_ns) ?: u64_order(x->cell.node, y->cell.node);
}

bool timed_cells_place(struct timed_cells *from, const struct times *times, uint64_t first_ns,
		       uint64_t last_ns, uint64_t base_ns, struct cells *to)
{
	unsigned int shift = timed_cells_shift(first_ns, last_ns);
	CLEANUP(placer_deinit) struct placer placer = {
		.times = times,
		.to = to,
		.shift = shift,
		.first_ns = first_ns,
		.last_ns = last_ns,
		.base_ns = base_ns,
		.number = first_ns >> shift,
		.parts = (size_t)((last_ns >> shift) - (first_ns >> shift)) + 1,
		.spare_cells = from->count * 8 + 64 * TIMED_PARTS_MAX,
	};
	for (int i = 0; i <= TIME_STATES; i++)
		if (!(placer.room[i] = calloc(placer.parts, sizeof(**placer.room))))
			return false;
	vec_sort(from, compare_cells);
	for (size_t i = 0, end; i < from->count; i = end) {
		struct timed_cell *cells = &from->items[i];
		for (end = i; end < from->count && from->items[end].slice == cells->slice;)
			end++;
		for (size_t j = i; cells->slice == SLICE_NONE && j < end; j++)
			if (!place_unknown(&placer, &from->items[j]))
				return false;
		if (cells->slice != SLICE_NONE && !place_slice(&placer, cells, end - i))
			return false;
	}
	return true;
}
