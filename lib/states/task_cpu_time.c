/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "states/task_cpu_time.h"

#include "base/bytes.h"

/*
 * CPU time between the earliest and latest moment to which a count may apply, at most. The kernel
 * updates the count of a thread that runs at ticks and switches.
 */
#define UNCERTAIN_NS 100000

/* More is not the time of a switch: a host may have run other guests, which switches do not show.
 */
#define SWITCH_MAX_NS 500000

/* CPU time of a life by its switches, at a moment of a walk through it. */
struct cpu_time_point {
	uint64_t ran_ns;   /* until then */
	uint64_t switches; /* to the thread */
	uint64_t part;	   /* number of times before in which records were lost */
};

/* A count, and the moments between which it was made. */
struct anchor {
	uint64_t run_ns;
	struct cpu_time_point from, until;
};

/* Walk through a life. Times must ascend. */
struct life_walk {
	const struct task_lives *lives;
	const struct task_life *life;
	size_t index;		/* index of the event after the current piece */
	struct cpu_time_point at_begin; /* moment of the event before */
};

static bool is_broken(const struct task_lives *lives, const struct task_piece *piece)
{
	if (piece->state == TASK_UNKNOWN)
		return piece->end_ns > piece->begin_ns;
	return !piece->certain && task_gaps_overlap(task_gaps_of(lives->gaps, piece->cpu),
						    piece->begin_ns, piece->end_ns);
}

/* Adds the part of the current pieces before a time. *run_begin_ns: begin of the run then; 0: none.
 */
static struct cpu_time_point moment_at(const struct life_walk *walk, uint64_t time_ns,
				       uint64_t *run_begin_ns)
{
	struct task_piece pieces[TASK_PIECES];
	struct cpu_time_point moment = walk->at_begin;
	size_t count = task_life_pieces(walk->lives, walk->life, walk->index, pieces);
	*run_begin_ns = 0;
	for (size_t i = 0; i < count && pieces[i].begin_ns < time_ns; i++) {
		const struct task_piece *piece = &pieces[i];
		/* After the life's end, its last state is taken to stay. */
		bool ends = piece->end_ns < time_ns &&
			    !(i + 1 == count && walk->index == walk->life->count && piece->open);
		uint64_t end_ns = ends ? piece->end_ns : time_ns;
		moment.part += is_broken(walk->lives, piece);
		if (piece->state != TASK_RUNNING)
			continue;
		moment.ran_ns += end_ns - piece->begin_ns;
		if (!ends)
			*run_begin_ns = piece->begin_ns;
	}
	return moment;
}

/* Advances to the pieces that include a time. */
static void walk_to(struct life_walk *walk, uint64_t time_ns)
{
	const struct task_event *events = walk->lives->events->items.items + walk->life->first;
	uint64_t run_begin_ns;
	while (walk->index < walk->life->count && events[walk->index].time_ns <= time_ns) {
		walk->at_begin = moment_at(walk, events[walk->index].time_ns, &run_begin_ns);
		walk->at_begin.switches += events[walk->index].kind == TASK_EVENT_IN;
		walk->index++;
	}
}

/* Gets the anchor of a count. Returns false if it does not apply to one moment. */
static bool anchor_of(struct life_walk *walk, const struct task_schedstat *stat, struct anchor *ret)
{
	uint64_t begin_ns = stat->time_ns > stat->took_ns ? stat->time_ns - stat->took_ns : 0;
	uint64_t from_ns, until_ns;
	if (begin_ns < walk->life->totals.begin_ns)
		begin_ns = walk->life->totals.begin_ns;
	walk_to(walk, begin_ns);
	ret->run_ns = stat->run_ns;
	ret->from = moment_at(walk, begin_ns, &from_ns);
	if (from_ns)
		ret->from.ran_ns -= begin_ns - from_ns;
	walk_to(walk, stat->time_ns);
	ret->until = moment_at(walk, stat->time_ns, &until_ns);
	return ret->from.part == ret->until.part &&
	       ret->until.ran_ns - ret->from.ran_ns <= UNCERTAIN_NS;
}

/* Sums over the parts of a life without lost records. */
struct difference {
	int64_t ns; /* the kernel's count minus the time between switches */
	uint64_t switches;
};

/* Adds the difference between two counts: the least that agrees with both. */
static void add_difference(const struct anchor *early, const struct anchor *late,
			   struct difference *sum)
{
	int64_t counted_ns = late->run_ns - early->run_ns;
	int64_t most_ns = late->until.ran_ns - early->from.ran_ns;
	int64_t least_ns = late->from.ran_ns - early->until.ran_ns;
	if (late->run_ns < early->run_ns)
		return;
	sum->switches += late->from.switches - early->from.switches;
	sum->ns += counted_ns > most_ns	   ? counted_ns - most_ns
		   : counted_ns < least_ns ? counted_ns - least_ns
					   : 0;
}

static struct difference difference_of(const struct task_lives *lives, size_t index,
				       uint64_t file_end_ns)
{
	const struct task_life *life = &lives->items.items[index];
	struct task_schedstats stats = task_life_schedstats(lives, index);
	struct life_walk walk = {.lives = lives, .life = life};
	struct difference sum = {0};
	/* A new thread has not run. */
	struct anchor early = {0}, late = early, next;
	bool has_early = life->totals.born, has_late = false;
	vec_each (item, &stats) {
		bool is_later = file_end_ns && item->time_ns > file_end_ns;
		if (item->took_ns == UINT64_MAX || (is_later && !life->totals.ended) ||
		    !anchor_of(&walk, item, &next))
			continue;
		if (has_early && next.from.part == early.from.part) {
			late = next;
			has_late = true;
			continue;
		}
		if (has_late)
			add_difference(&early, &late, &sum);
		early = next;
		has_early = true;
		has_late = false;
	}
	if (has_late)
		add_difference(&early, &late, &sum);
	return sum;
}

/* Returns the part of a difference that switches to a thread so far have. */
static int64_t part_of(const struct difference *difference, uint64_t switches)
{
	return (double)difference->ns * ((double)switches / (double)difference->switches);
}

/* Moves the switches to a thread. A wait may be too short for one: then later switches move more.
 */
static void move_switches(const struct task_lives *lives, const struct task_life *life,
			  struct task_event *events, const struct difference *difference)
{
	uint64_t before_ns = life->totals.begin_ns, switches = 0;
	int64_t moved_ns = 0;
	for (size_t i = 0; i < life->count; i++) {
		uint64_t after_ns =
			i + 1 < life->count ? events[i + 1].time_ns : life->totals.end_ns;
		uint64_t time_ns = events[i].time_ns;
		struct task_piece pieces[TASK_PIECES];
		bool moves = events[i].kind == TASK_EVENT_IN;
		if (moves) {
			size_t count = task_life_pieces(lives, life, i, pieces);
			switches++;
			moves = count == 1 && !is_broken(lives, &pieces[0]);
		}
		if (moves) {
			int64_t earlier = (int64_t)(time_ns - before_ns) - 1;
			int64_t later = (int64_t)(after_ns - time_ns) - 1;
			int64_t move_ns = part_of(difference, switches) - moved_ns;
			if (move_ns > earlier)
				move_ns = earlier > 0 ? earlier : 0;
			if (-move_ns > later)
				move_ns = later > 0 ? -later : 0;
			events[i].time_ns -= (uint64_t)move_ns;
			moved_ns += move_ns;
		}
		before_ns = events[i].time_ns;
	}
}

void task_cpu_time_fit(struct task_lives *lives, struct task_events *events, uint64_t file_end_ns)
{
	for (size_t i = 0; i < lives->items.count && lives->known; i++) {
		struct task_life *life = &lives->items.items[i];
		const struct difference difference = difference_of(lives, i, file_end_ns);
		uint64_t most_ns = difference.switches * SWITCH_MAX_NS;
		uint64_t size_ns = difference.ns < 0 ? -difference.ns : difference.ns;
		if (!difference.switches || size_ns > most_ns)
			continue;
		life->totals.counted = true;
		life->totals.switch_ns = part_of(&difference, 1);
		move_switches(lives, life, events->items.items + life->first, &difference);
	}
}
