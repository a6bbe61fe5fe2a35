/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *	events      IN          OUT          WAKE       IN       EXIT
 *	pieces   0  |     1     |      2     |     3    |    4   |
 *	       blocked running    blocked      runnable   running
 *
 * Only records at both ends of a piece give its state, so a lost record makes at most the pieces
 * before and after it unknown.
 */
#include "states/task_lives.h"

#include "base/cleanup.h"

/* Part of a life's waits that must have a WAKE event, in percent, if all wake-ups were recorded. */
#define WAKES_PERCENT 90

void task_lives_deinit(struct task_lives *lives)
{
	vec_deinit(&lives->items);
}

/* State that an event requires just before it. */
enum needed {
	NEEDS_NOTHING, /* end of the recording */
	NEEDS_RUNNING,
	NEEDS_OFF,
	NEEDS_ANY,     /* the thread runs at the event; it may have begun to run there */
};

static enum needed needed_before(const struct task_lives *lives, const struct task_life *life,
				 size_t index)
{
	if (index == life->count)
		return life->totals.ended ? NEEDS_RUNNING : NEEDS_NOTHING;
	switch (lives->events->items.items[life->first + index].kind) {
	case TASK_EVENT_OUT:
	case TASK_EVENT_PREEMPT:
		return NEEDS_RUNNING;
	case TASK_EVENT_SEEN:
		return NEEDS_ANY;
	default:
		return NEEDS_OFF;
	}
}

static enum task_state state_after(unsigned int kind)
{
	switch (kind) {
	case TASK_EVENT_OUT:
		return TASK_BLOCKED;
	case TASK_EVENT_PREEMPT:
	case TASK_EVENT_WAKE:
		return TASK_RUNNABLE;
	default:
		return TASK_RUNNING;
	}
}

/* Returns the state before a life's first event. */
static enum task_state state_at_begin(const struct task_life *life, enum needed needed)
{
	if (life->totals.born)
		return TASK_RUNNABLE;
	if (!life->count && life->ran)
		return TASK_RUNNING;
	return needed == NEEDS_RUNNING || needed == NEEDS_ANY ? TASK_RUNNING : TASK_BLOCKED;
}

static bool agree(enum task_state state, enum needed needed)
{
	switch (needed) {
	case NEEDS_RUNNING:
		return state == TASK_RUNNING;
	case NEEDS_OFF:
		return state != TASK_RUNNING;
	default:
		return true;
	}
}

/* Returns the CPU of an event of a life; TASK_CPU_UNKNOWN: unknown. */
static uint32_t cpu_of(const struct task_event *event)
{
	return event->kind == TASK_EVENT_WAKE ? TASK_CPU_UNKNOWN : event->cpu;
}

/*
 * Gets the CPU on which the thread ran between two events, if it ran. Returns false if the events contradict
 * each other: they were on different CPUs.
 */
static bool cpu_between(const struct task_lives *lives, const struct task_life *life, size_t index,
			uint32_t *ret)
{
	const struct task_event *events = lives->events->items.items + life->first;
	uint32_t first = index ? cpu_of(&events[index - 1]) : TASK_CPU_UNKNOWN;
	uint32_t last = index < life->count ? cpu_of(&events[index]) : life->end_cpu;
	*ret = first != TASK_CPU_UNKNOWN ? first : last;
	return first == TASK_CPU_UNKNOWN || last == TASK_CPU_UNKNOWN || first == last;
}

/*
 * Splits a piece with contradicting ends at the gaps within it: the state before the first gap and
 * the state after the last one are known. Without gaps, all of it is unknown.
 */
static size_t split_lost(const struct task_lives *lives, const struct task_piece *whole,
			 enum needed needed, struct task_piece *ret)
{
	struct task_gap_list gaps = task_gaps_of(lives->gaps, whole->cpu);
	size_t begin = sorted_below(gaps.items, gaps.count, .begin_ns, whole->begin_ns);
	size_t end = sorted_below(gaps.items, gaps.count, .begin_ns, whole->end_ns);
	struct task_piece before = *whole, lost = *whole, after = *whole;
	lost.state = TASK_UNKNOWN;
	lost.certain = before.certain = after.certain = true;
	if (begin && gaps.items[begin - 1].end_ns > whole->begin_ns)
		begin--;
	if (begin == end) {
		ret[0] = lost;
		return 1;
	}
	if (gaps.items[begin].begin_ns > whole->begin_ns)
		lost.begin_ns = gaps.items[begin].begin_ns;
	if (gaps.items[end - 1].end_ns < whole->end_ns && needed != NEEDS_NOTHING)
		lost.end_ns = gaps.items[end - 1].end_ns;
	before.end_ns = lost.begin_ns;
	after.begin_ns = lost.end_ns;
	after.state = needed == NEEDS_RUNNING ? TASK_RUNNING : TASK_BLOCKED;
	ret[0] = before;
	ret[1] = lost;
	ret[2] = after;
	return 3;
}

size_t task_life_pieces(const struct task_lives *lives, const struct task_life *life, size_t index,
			struct task_piece ret[TASK_PIECES])
{
	const struct task_event *events = lives->events->items.items + life->first;
	enum needed needed = needed_before(lives, life, index);
	struct task_piece piece = {
		.begin_ns = index ? events[index - 1].time_ns : life->totals.begin_ns,
		.end_ns = index < life->count ? events[index].time_ns : life->totals.end_ns,
		.state = index ? state_after(events[index - 1].kind) : state_at_begin(life, needed),
		.cpu = TASK_CPU_UNKNOWN,
		.open = index == life->count && !life->totals.ended,
	};
	if (!lives->known)
		piece.state = TASK_UNKNOWN;
	bool agrees = agree(piece.state, needed);
	if (piece.state == TASK_RUNNING)
		agrees &= cpu_between(lives, life, index, &piece.cpu) || needed != NEEDS_RUNNING;
	/*
	 * A thread that could run when records were lost may since have blocked. Only the record that ends
	 * its running would contradict that.
	 */
	bool may_block = piece.state == TASK_RUNNABLE ? needed != NEEDS_RUNNING
			 : piece.state == TASK_RUNNING && needed == NEEDS_NOTHING;
	bool ends_unseen = may_block && task_gaps_overlap(task_gaps_of(lives->gaps, piece.cpu),
							  piece.begin_ns, piece.end_ns);
	/* Without records of any CPU, as of disabled events, it may even have woken again. */
	if (lives->gaps->any_cpu && piece.state == TASK_RUNNING)
		agrees &= !task_gaps_overlap(task_gaps_of(lives->gaps, piece.cpu), piece.begin_ns,
					     piece.end_ns);
	if (piece.state != TASK_UNKNOWN && (!agrees || ends_unseen)) {
		if (!ends_unseen)
			piece.cpu = TASK_CPU_UNKNOWN;
		return split_lost(lives, &piece, ends_unseen ? NEEDS_NOTHING : needed, ret);
	}
	ret[0] = piece;
	return 1;
}

size_t task_life_index(const struct task_lives *lives, const struct task_life *life, uint64_t time_ns)
{
	return sorted_up_to(lives->events->items.items + life->first, life->count, .time_ns, time_ns);
}

/* State of the loop that makes the lifetimes of one thread. */
struct life_builder {
	struct task_lives *lives;
	struct task_thread *thread;
	struct task_event *items; /* all events */
	size_t next;              /* events before this index stay */
	struct task_life *life;   /* the current one; NULL: none */
	VEC(uint64_t) execs;      /* their times, by thread */
	bool dead;                /* an EXIT came last: events without FORK or exec are of its end */
};

static void life_builder_deinit(struct life_builder *maker)
{
	vec_deinit(&maker->execs);
}

/* Returns whether a thread was on a CPU for most of the time between its counts of schedstat. */
static bool mostly_ran(const struct task_lives *lives, const struct task_thread *thread)
{
	if (thread->stat_count < 2)
		return false;
	const struct task_schedstat *early = lives->events->schedstats.items + thread->first_stat;
	const struct task_schedstat *late = early + thread->stat_count - 1;
	return late->time_ns > early->time_ns && late->run_ns > early->run_ns &&
	       late->run_ns - early->run_ns > (late->time_ns - early->time_ns) / 2;
}

static bool begin_life(struct life_builder *maker, uint64_t begin_ns, bool born, uint32_t pid)
{
	maker->life = vec_push(&maker->lives->items);
	if (!maker->life)
		return false;
	*maker->life = (struct task_life){
		.totals = {.pid = pid ? pid : maker->thread->tid,
			   .tid = maker->thread->tid,
			   .begin_ns = begin_ns,
			   .born = born},
		.first = maker->next,
		.thread = maker->thread - maker->lives->events->threads.items,
		.ran = maker->thread->sampled || mostly_ran(maker->lives, maker->thread),
	};
	maker->thread->life_count++;
	maker->dead = false;
	return true;
}

static void end_life(struct life_builder *maker, uint64_t end_ns, bool ended, uint32_t cpu)
{
	struct task_totals *totals = &maker->life->totals;
	totals->end_ns = end_ns > totals->begin_ns ? end_ns : totals->begin_ns;
	totals->ended = ended;
	maker->life->count = maker->next - maker->life->first;
	maker->life->end_cpu = cpu;
	maker->life = NULL;
}

/* Returns whether an event changes the state that follows from the events of the life so far. */
static bool changes_state(const struct life_builder *maker, unsigned int kind)
{
	bool any = maker->next > maker->life->first;
	enum task_state state = any ? state_after(maker->items[maker->next - 1].kind) : TASK_UNKNOWN;
	if (kind == TASK_EVENT_WAKE)
		return state == TASK_BLOCKED || (!any && !maker->life->totals.born);
	return kind != TASK_EVENT_SEEN || state != TASK_RUNNING;
}

/* Returns false when out of memory. */
static bool add_event(struct life_builder *maker, struct task_event event)
{
	unsigned int kind = event.kind & ~(unsigned int)TASK_EVENT_TRACE;
	uint32_t pid = maker->thread->pid;
	if (event.kind & TASK_EVENT_TRACE && maker->thread->switched)
		return true;
	if (event.time_ns > maker->lives->last_ns) {
		maker->dead |= kind == TASK_EVENT_FORK && !maker->life;
		return true;
	}
	if (event.time_ns < maker->lives->begin_ns) {
		maker->dead = kind == TASK_EVENT_EXIT;
		return true;
	}
	if (kind == TASK_EVENT_FORK) {
		/* Each event that has task records may have written one. */
		if (maker->life && maker->life->totals.born && maker->next == maker->life->first)
			return true;
		if (maker->life)
			end_life(maker, event.time_ns, false, TASK_CPU_UNKNOWN);
		return begin_life(maker, event.time_ns, true, event.cpu);
	}
	if (maker->dead && kind != TASK_EVENT_EXEC)
		return true;
	if (!maker->life && !begin_life(maker, maker->dead ? event.time_ns : maker->lives->first_ns,
					false, pid))
		return false;
	if (kind == TASK_EVENT_EXIT) {
		end_life(maker, event.time_ns, true, event.cpu);
		maker->dead = true;
		return true;
	}
	event.kind = (kind == TASK_EVENT_EXEC ? TASK_EVENT_SEEN : kind) & 0xff;
	if (changes_state(maker, event.kind))
		maker->items[maker->next++] = event;
	return true;
}

/* Lists the times of execs, which are no events of lives. Returns false when out of memory. */
static bool list_execs(struct life_builder *maker, struct task_events *events)
{
	vec_each (event, &events->items) {
		struct task_thread *thread = &events->threads.items[event->thread];
		if (event->kind != TASK_EVENT_EXEC)
			continue;
		if (!vec_reserve(&maker->execs, maker->execs.count + 1))
			return false;
		if (!thread->exec_count++)
			thread->first_exec = maker->execs.count;
		*vec_push(&maker->execs) = event->time_ns;
	}
	return true;
}

/* Returns the process's first exec after a time, if it is another thread's; else UINT64_MAX. */
static uint64_t exec_after(const struct life_builder *maker, uint64_t time_ns)
{
	const struct task_events *events = maker->lives->events;
	const uint32_t *index = u64map_find(&events->thread_of, maker->thread->pid);
	const struct task_thread *first = index ? &events->threads.items[*index] : NULL;
	for (size_t i = 0; first && first != maker->thread && i < first->exec_count; i++)
		if (maker->execs.items[first->first_exec + i] > time_ns)
			return maker->execs.items[first->first_exec + i];
	return UINT64_MAX;
}

/* Ends a life without an EXIT. A thread that executes a program goes on with the process's tid. */
static void end_last_life(struct life_builder *maker)
{
	bool any = maker->next > maker->life->first, runs = false;
	uint64_t last_ns = maker->life->totals.begin_ns, end_ns = maker->lives->last_ns;
	if (any) {
		last_ns = maker->items[maker->next - 1].time_ns;
		runs = state_after(maker->items[maker->next - 1].kind) == TASK_RUNNING;
	}
	uint64_t exec_ns = exec_after(maker, last_ns);
	bool ends = exec_ns <= end_ns;
	end_life(maker, ends ? exec_ns : end_ns, ends && runs, TASK_CPU_UNKNOWN);
}

/* Returns whether a thread had ended when the recording began. A ring in overwrite mode describes its end. */
static bool was_over(const struct task_thread *thread, const struct task_event *events)
{
	if (!thread->over || thread->sampled)
		return false;
	return !thread->count || events[thread->first].kind == TASK_EVENT_FORK ||
	       events[thread->first].kind == TASK_EVENT_EXEC;
}

bool task_lives_make(struct task_lives *lives, struct task_events *events)
{
	CLEANUP(life_builder_deinit)
	struct life_builder maker = {.lives = lives, .items = events->items.items};
	if (!list_execs(&maker, events))
		return false;
	vec_each (item, &events->threads) {
		struct task_thread *thread = maker.thread = item;
		thread->first_life = lives->items.count;
		maker.dead = was_over(thread, events->items.items);
		/* Switches of a thread that is not recorded are incomplete. */
		if (!thread->own)
			continue;
		for (size_t j = 0; j < thread->count; j++)
			if (!add_event(&maker, events->items.items[thread->first + j]))
				return false;
		bool silent = !thread->life_count && !maker.dead;
		if (silent && !begin_life(&maker, lives->first_ns, false, thread->pid))
			return false;
		if (maker.life)
			end_last_life(&maker);
	}
	events->items.count = maker.next;
	return true;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

static bool is_unwoken(const struct task_lives *lives, const struct task_life *life, size_t index,
		       const struct task_piece *piece)
{
	const struct task_event *events = lives->events->items.items + life->first;
	return piece->state == TASK_BLOCKED &&
	       (index == life->count || events[index].kind != TASK_EVENT_WAKE);
}

uint64_t task_life_wake_ns(const struct task_lives *lives, const struct task_life *life,
			   size_t index, const struct task_piece *piece)
{
	uint64_t duration_ns = piece->end_ns - piece->begin_ns, wake_ns = life->totals.wake_ns;
	if (!wake_ns || !is_unwoken(lives, life, index, piece))
		return 0;
	return wake_ns < duration_ns ? wake_ns : duration_ns;
}

size_t task_life_split_pieces(const struct task_lives *lives, const struct task_life *life,
			      size_t index, struct task_piece ret[TASK_SPLIT_PIECES])
{
	struct task_piece pieces[TASK_PIECES];
	size_t count = task_life_pieces(lives, life, index, pieces), split = 0;
	for (size_t i = 0; i < count; i++) {
		struct task_piece before = pieces[i], woken = pieces[i];
		uint64_t wake_ns = task_life_wake_ns(lives, life, index, &pieces[i]);
		before.end_ns = woken.begin_ns = woken.end_ns - wake_ns;
		before.open &= !wake_ns;
		woken.state = TASK_RUNNABLE;
		if (before.end_ns > before.begin_ns || !wake_ns)
			ret[split++] = before;
		if (wake_ns)
			ret[split++] = woken;
	}
	return split;
}

uint64_t task_piece_known_ns(const struct task_lives *lives, const struct task_piece *piece,
			     uint64_t from_ns, uint64_t until_ns)
{
	uint64_t begin_ns = clamp(piece->begin_ns, from_ns, until_ns);
	uint64_t end_ns = clamp(piece->end_ns, from_ns, until_ns);
	if (piece->certain || begin_ns == end_ns)
		return end_ns - begin_ns;
	return end_ns - begin_ns -
	       task_gaps_overlap(task_gaps_of(lives->gaps, piece->cpu), begin_ns, end_ns);
}

/*
 * Adds the part of a piece within a time. `woken`: the piece begins when the thread is woken;
 * `wake_ns`: estimated time from waking to running at its end.
 */
static void add_piece(const struct task_lives *lives, const struct task_piece *piece, bool woken,
		      uint64_t wake_ns, uint64_t from_ns, uint64_t until_ns,
		      struct task_totals *ret)
{
	uint64_t length = clamp(piece->end_ns, from_ns, until_ns) -
			  clamp(piece->begin_ns, from_ns, until_ns);
	uint64_t known = task_piece_known_ns(lives, piece, from_ns, until_ns);
	uint64_t *const sums[TASK_STATES] = {&ret->unknown_ns, &ret->running_ns, &ret->runnable_ns,
					     &ret->blocked_ns};
	struct task_piece end = *piece;
	end.begin_ns = end.end_ns - wake_ns;
	wake_ns = wake_ns ? task_piece_known_ns(lives, &end, from_ns, until_ns) : 0;
	*sums[piece->state] += known - wake_ns;
	ret->runnable_ns += wake_ns;
	ret->unknown_ns += length - known;
	ret->woken_ns += woken && piece->state == TASK_RUNNABLE ? known : wake_ns;
	if (piece->state != TASK_BLOCKED || !length)
		return;
	ret->waits++;
	if (known > ret->longest_wait_ns)
		ret->longest_wait_ns = known;
}

void task_life_sum(const struct task_lives *lives, const struct task_life *life, uint64_t from_ns,
		   uint64_t until_ns, struct task_totals *ret)
{
	const struct task_event *events = lives->events->items.items + life->first;
	/* An event at `from_ns` belongs to this time, and one at `until_ns` to the next. */
	size_t begin = sorted_below(events, life->count, .time_ns, from_ns);
	for (size_t i = begin; i <= life->count; i++) {
		struct task_piece pieces[TASK_PIECES];
		size_t count = task_life_pieces(lives, life, i, pieces);
		bool woken = i && events[i - 1].kind == TASK_EVENT_WAKE;
		for (size_t j = 0; j < count; j++)
			add_piece(lives, &pieces[j], woken,
				  task_life_wake_ns(lives, life, i, &pieces[j]), from_ns, until_ns,
				  ret);
		if (i == life->count || events[i].time_ns >= until_ns)
			return;
	}
}

/* Returns the source of the time from waking to running: wake-ups, if nearly all waits have one. */
static enum task_split split_of(const struct task_lives *lives, const struct task_life *life)
{
	const struct task_event *events = lives->events->items.items + life->first;
	uint64_t wakes = 0, outs = 0;
	for (size_t i = 0; i < life->count; i++) {
		wakes += events[i].kind == TASK_EVENT_WAKE;
		outs += events[i].kind == TASK_EVENT_OUT;
	}
	return wakes && wakes * 100 >= outs * WAKES_PERCENT ? TASK_SPLIT_WAKING : TASK_SPLIT_NONE;
}

struct task_schedstats task_life_schedstats(const struct task_lives *lives, size_t life_index)
{
	const struct task_life *life = &lives->items.items[life_index];
	const struct task_thread *thread =
		&lives->events->threads.items[life->thread];
	if (!thread->stat_count)
		return (struct task_schedstats){0};
	const struct task_schedstat *items = lives->events->schedstats.items + thread->first_stat;
	bool is_last = life_index + 1 == thread->first_life + thread->life_count;
	size_t begin = sorted_below(items, thread->stat_count, .time_ns, life->totals.begin_ns);
	size_t end = is_last ? thread->stat_count
			     : sorted_below(items, thread->stat_count, .time_ns,
					    life[1].totals.begin_ns);
	return (struct task_schedstats){items + begin, end > begin ? end - begin : 0};
}

struct durations {
	VEC(uint64_t);
};

/* Adds the duration of each wait without a recorded wake-up. */
static bool add_durations(const struct task_lives *lives, const struct task_life *life,
			  struct durations *ret)
{
	for (size_t i = 0; i <= life->count; i++) {
		struct task_piece pieces[TASK_PIECES];
		size_t count = task_life_pieces(lives, life, i, pieces);
		for (size_t j = 0; j < count; j++)
			if (is_unwoken(lives, life, i, &pieces[j])) {
				uint64_t *duration = vec_push(ret);
				if (!duration)
					return false;
				*duration = pieces[j].end_ns - pieces[j].begin_ns;
			}
	}
	return true;
}

/* Returns the most that a wait has of `sum`: all have as much, or their duration if it is less. */
static uint64_t share_of_waits(struct durations *waits, uint64_t sum)
{
	uint64_t share = 0;
	for (size_t left = waits->count, longer = 0; left; left = longer) {
		share = sum / left;
		longer = 0;
		for (size_t i = 0; i < left; i++)
			if (waits->items[i] > share)
				waits->items[longer++] = waits->items[i];
			else
				sum -= waits->items[i];
		if (longer == left)
			break;
	}
	return share;
}

/*
 * Moves the time from waking to running, which only the sum of schedstat gives, to runnable_ns. The
 * delay does not depend on the wait's duration. Returns false when out of memory.
 */
static bool split_blocked(const struct task_lives *lives, struct task_life *life,
			  struct task_schedstats stats)
{
	struct task_totals *totals = &life->totals;
	if (totals->split != TASK_SPLIT_NONE || !stats.count || (!totals->born && stats.count < 2))
		return true;
	uint64_t before = totals->born ? 0 : stats.items[0].wait_ns;
	uint64_t until = stats.items[stats.count - 1].wait_ns;
	if (until < before)
		return true;
	uint64_t wait = until - before;
	uint64_t more = wait > totals->runnable_ns ? wait - totals->runnable_ns : 0;
	if (more > totals->blocked_ns)
		more = totals->blocked_ns;
	totals->split = TASK_SPLIT_SCHEDSTAT;
	struct durations waits = {0};
	bool done = !more || add_durations(lives, life, &waits);
	totals->wake_ns = share_of_waits(&waits, more);
	vec_deinit(&waits);
	/* Sums are those of the intervals, which lack up to 1 ns of each wait. */
	struct task_totals sums = {0};
	task_life_sum(lives, life, 0, UINT64_MAX, &sums);
	totals->runnable_ns = sums.runnable_ns;
	totals->woken_ns = sums.woken_ns;
	totals->blocked_ns = sums.blocked_ns;
	return done;
}

bool task_lives_sum(struct task_lives *lives)
{
	for (size_t i = 0; i < lives->items.count; i++) {
		struct task_life *life = &lives->items.items[i];
		task_life_sum(lives, life, 0, UINT64_MAX, &life->totals);
		life->totals.split = split_of(lives, life);
		if (lives->known && !split_blocked(lives, life, task_life_schedstats(lives, i)))
			return false;
	}
	return true;
}
