/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "states/task_states.h"

#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "record/note.h"
#include "record/task_change.h"
#include "record/types.h"
#include "states/task_cpu_time.h"
#include "states/task_lives.h"

/* Values of a schedstat note that lacks the time that reading took, as in older files. */
#define SCHEDSTAT_VALUES 5

struct cpu_time {
	uint32_t cpu;
	uint64_t time_ns;
};

/* A softirq's kernel stack, and the thread that was on its CPU. */
struct softirq {
	uint32_t tid;
	size_t ip_count;
	const uint64_t *ips;
};

struct task_states {
	struct task_events events;
	struct task_gaps gaps;
	struct task_lives lives;
	uint64_t first_ns, last_ns;   /* extent of all records; first_ns UINT64_MAX: none */
	bool switches;                /* switches were recorded */
	struct u64map last_of_cpu;    /* CPU -> index in last_times */
	VEC(struct cpu_time) last_times; /* latest switch of each CPU so far */
	uint64_t round_ns, before_ns; /* earliest switch of this round and the one before; UINT64_MAX: none */
	uint64_t begin_ns;            /* the file's begin within the recording; 0: the recording's */
	uint64_t end_ns;              /* the file's end within the recording; 0: the recording's */
	uint64_t off_ns;              /* no event was enabled since then; UINT64_MAX: all are */
	uint64_t switches_off_ns;     /* the same of context switches */
	bool partly_off;              /* single events were disabled for a time */
	uint64_t lost;                /* records, by LOST records */
	uint64_t lost_in_all;         /* the same by the kernel's final counts; 0: there are none */
	VEC(struct cpu_time) lost_at_end; /* CPUs that lost records after a time, by notes */
	VEC(struct softirq) softirqs; /* distinct, of wake-ups */
	struct u64map softirq_of;     /* hash -> index in softirqs */
	struct arena arena;           /* their stacks */
};

DEFINE_CLEANUP(struct task_states *, task_states_free)

struct sp_error *task_states_new(struct task_states **ret)
{
	CLEANUP(cleanup_task_states_free) struct task_states *states = calloc(1, sizeof(*states));
	NEED(states);
	states->first_ns = states->round_ns = states->before_ns = states->off_ns = UINT64_MAX;
	states->switches_off_ns = UINT64_MAX;
	*ret = take_ptr(states);
	return NULL;
}

void task_states_free(struct task_states *states)
{
	if (!states)
		return;
	task_events_deinit(&states->events);
	task_gaps_deinit(&states->gaps);
	task_lives_deinit(&states->lives);
	u64map_deinit(&states->last_of_cpu);
	vec_deinit(&states->last_times);
	vec_deinit(&states->lost_at_end);
	vec_deinit(&states->softirqs);
	u64map_deinit(&states->softirq_of);
	arena_deinit(&states->arena);
	free(states);
}

void task_states_expect_switches(struct task_states *states)
{
	states->switches = true;
}

/* Returns whether a tid is a thread's: 0 is the idle task, and UINT32_MAX a task that has ended. */
static bool is_thread(uint32_t tid)
{
	return tid && tid != UINT32_MAX;
}

static uint32_t cpu_of(const struct sp_record *record)
{
	const struct sp_sample_id *id = &record->id;
	return id->present & PERF_SAMPLE_CPU && id->cpu < TASK_CPU_UNKNOWN ? id->cpu : TASK_CPU_UNKNOWN;
}

static bool add_event(struct task_states *states, uint32_t pid, uint32_t tid, unsigned int kind,
		      uint64_t time_ns, uint32_t cpu)
{
	struct task_thread *thread = task_events_thread(&states->events, tid, pid);
	if (thread)
		thread->own = true;
	return thread && task_events_add(&states->events, thread, kind, time_ns, cpu);
}

/* Keeps the time of a switch, from which a later LOST record of its ring buffer lost records. */
static bool on_switch_time(struct task_states *states, uint32_t cpu, uint64_t time_ns)
{
	bool added;
	if (time_ns < states->round_ns)
		states->round_ns = time_ns;
	if (cpu == TASK_CPU_UNKNOWN)
		return true;
	if (!vec_reserve(&states->last_times, states->last_times.count + 1))
		return false;
	const uint32_t *index =
		u64map_put(&states->last_of_cpu, cpu, states->last_times.count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(&states->last_times) = (struct cpu_time){cpu, time_ns};
	else if (time_ns > states->last_times.items[*index].time_ns)
		states->last_times.items[*index].time_ns = time_ns;
	return true;
}

static bool add_switch(struct task_states *states, const struct sp_record *record)
{
	const struct sp_sample_id *id = &record->id;
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	unsigned int out_kind = preempted ? TASK_EVENT_PREEMPT : TASK_EVENT_OUT;
	if (!on_switch_time(states, cpu_of(record), id->time_ns))
		return false;
	if (!is_thread(id->tid))
		return true;
	struct task_thread *thread = task_events_thread(&states->events, id->tid, id->pid);
	if (!thread)
		return false;
	states->switches = thread->switched = thread->own = true;
	return task_events_add(&states->events, thread, out ? out_kind : TASK_EVENT_IN, id->time_ns,
			       cpu_of(record));
}

/*
 * Adds a change of a task. Synthesized ones have no time: the thread is older than the recording,
 * or has even ended before.
 */
static bool add_change(struct task_states *states, const struct sp_record *record,
		       const struct task_change *change)
{
	uint32_t pid = change->pid, tid = change->tid;
	uint64_t time_ns = record->id.time_ns;
	if (!is_thread(tid))
		return true;
	if (change->kind == TASK_ENDED && time_ns)
		return add_event(states, pid, tid, TASK_EVENT_EXIT, time_ns, cpu_of(record));
	if (change->kind == TASK_FORKED && time_ns && !change->is_synthesised)
		return add_event(states, pid, tid, TASK_EVENT_FORK, time_ns, pid);
	if (change->kind == TASK_EXECED && time_ns)
		return add_event(states, pid, tid, TASK_EVENT_EXEC, time_ns, cpu_of(record));
	/* A recorded thread that changes its name has other records, too: it may only be another's waker. */
	if (change->kind == TASK_RENAMED && time_ns)
		return true;
	struct task_thread *thread = task_events_thread(&states->events, tid, pid);
	if (!thread)
		return false;
	thread->own = true;
	thread->over |= change->kind == TASK_ENDED;
	return true;
}

/* Returns the time from which a LOST record's ring buffer lost records: its last switch, as far as known. */
static uint64_t lost_from(const struct task_states *states, uint32_t cpu)
{
	const uint32_t *index = u64map_find(&states->last_of_cpu, cpu);
	if (index)
		return states->last_times.items[*index].time_ns;
	return states->round_ns < states->before_ns ? states->round_ns : states->before_ns;
}

static bool add_lost(struct task_states *states, const struct sp_record *record)
{
	uint64_t end_ns = record->id.time_ns, begin_ns = lost_from(states, cpu_of(record));
	if (begin_ns > end_ns)
		begin_ns = states->before_ns < states->round_ns ? states->before_ns : states->round_ns;
	if (begin_ns > end_ns)
		begin_ns = end_ns;
	states->lost += record->lost.lost;
	return task_gaps_add(&states->gaps, cpu_of(record), begin_ns, end_ns);
}

static bool add_schedstat(struct task_states *states, const struct sp_note *note)
{
	if (note->value_count < SCHEDSTAT_VALUES || !note->time_ns || !is_thread(note->values[1]))
		return true;
	struct task_thread *thread =
		task_events_thread(&states->events, note->values[1], note->values[0]);
	if (!thread)
		return false;
	thread->own = true;
	const struct task_schedstat stat = {
		.time_ns = note->time_ns, .run_ns = note->values[2], .wait_ns = note->values[3],
		.took_ns = note->value_count > SCHEDSTAT_VALUES ? note->values[SCHEDSTAT_VALUES]
								: UINT64_MAX,
	};
	return task_events_add_schedstat(&states->events, thread, &stat);
}

/* While all events were disabled, no switches were recorded. An event's own note has its name. */
static bool add_sampling(struct task_states *states, const struct sp_note *note)
{
	/* A recording that begins disabled has no note of that. */
	uint64_t off_ns = states->off_ns == UINT64_MAX ? 0 : states->off_ns;
	if (note->object_size) {
		states->partly_off = true;
		return true;
	}
	if (note->kind != NOTE_SAMPLING_ON) {
		if (note->time_ns < states->off_ns)
			states->off_ns = note->kind == NOTE_SAMPLING_WAS_OFF ? 0 : note->time_ns;
		return true;
	}
	states->off_ns = UINT64_MAX;
	return off_ns >= note->time_ns ||
	       task_gaps_add(&states->gaps, TASK_CPU_UNKNOWN, off_ns, note->time_ns);
}

/* Adds the time without context switches, which ends at a time. */
static bool end_switches_off(struct task_states *states, uint64_t end_ns)
{
	uint64_t off_ns = states->switches_off_ns;
	states->switches_off_ns = UINT64_MAX;
	return off_ns >= end_ns ||
	       task_gaps_add(&states->gaps, TASK_CPU_UNKNOWN, off_ns, end_ns);
}

static bool add_lost_note(struct task_states *states, const struct sp_note *note)
{
	if (note->value_count < note_value_count(NOTE_LOST_AT_END))
		return true;
	struct cpu_time *lost = vec_push(&states->lost_at_end);
	if (lost)
		*lost = (struct cpu_time){note->values[0] < TASK_CPU_UNKNOWN ? (uint32_t)note->values[0]
									     : TASK_CPU_UNKNOWN,
					  note->time_ns};
	return lost;
}

static void extend_to(struct task_states *states, uint64_t time_ns)
{
	if (time_ns && time_ns < states->first_ns)
		states->first_ns = time_ns;
	if (time_ns > states->last_ns)
		states->last_ns = time_ns;
}

static bool add_note(struct task_states *states, const struct sp_record *record)
{
	struct sp_note note;
	if (!sp_record_note(record, &note))
		return true;
	switch (note.kind) {
	case NOTE_SCHEDSTAT:
		return add_schedstat(states, &note);
	case NOTE_FILE_ENDS:
		states->end_ns = note.time_ns;
		return true;
	case NOTE_LOST_AT_END:
		return add_lost_note(states, &note);
	case NOTE_FILE_BEGINS:
		states->begin_ns = note.time_ns;
		return true;
	case NOTE_RECORDED:
		if (note.value_count < note_value_count(NOTE_RECORDED))
			return true;
		extend_to(states, note.values[0]);
		extend_to(states, note.values[1]);
		return true;
	case NOTE_SWITCHES_OFF:
		if (note.time_ns < states->switches_off_ns)
			states->switches_off_ns = note.time_ns;
		return true;
	case NOTE_SWITCHES_ON:
		return end_switches_off(states, note.time_ns);
	case NOTE_SAMPLING_ON:
	case NOTE_SAMPLING_OFF:
	case NOTE_SAMPLING_WAS_OFF:
	case NOTE_SAMPLING_UNSTABLE: /* later changes have no notes */
		return add_sampling(states, &note);
	default:
		return true;
	}
}

struct sp_error *task_states_add(struct task_states *states, const struct sp_record *record)
{
	uint64_t time_ns = record->id.time_ns;
	struct task_change change;
	bool done = true;
	extend_to(states, time_ns);
	switch (record->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		done = !time_ns || add_switch(states, record);
		break;
	case PERF_RECORD_LOST:
		done = !time_ns || add_lost(states, record);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		states->lost_in_all += time_ns ? 0 : record->lost.lost;
		break;
	case SP_RECORD_FINISHED_ROUND:
		states->before_ns = states->round_ns;
		states->round_ns = UINT64_MAX;
		break;
	case SP_RECORD_EVENT_UPDATE:
		done = add_note(states, record);
		break;
	default:
		done = !task_change_of(record, &change) || add_change(states, record, &change);
	}
	return done ? NULL : error_no_memory();
}

/*
 * Gets the word of a softirq's wake-up: the number of its kernel stack and thread, interned, or
 * TASK_WAKE_SOFTIRQ without these, or if there are too many. Returns false when out of memory.
 */
static bool softirq_word(struct task_states *states, const struct task_switched *switched,
			 uint32_t *ret)
{
	size_t count = 0, size;
	*ret = TASK_WAKE_SOFTIRQ;
	while (count < switched->ip_count && switched->ips[count] != (uint64_t)PERF_CONTEXT_USER)
		count++;
	if (!switched->waker_tid || !count)
		return true;
	size = count * sizeof(*switched->ips);
	uint64_t hash = hash_pair(hash_bytes(switched->ips, size), switched->waker_tid);
	if (states->softirqs.count >= TASK_WAKE_SOFTIRQ - TASK_WAKE_STACKS &&
	    !u64map_find(&states->softirq_of, hash))
		return true;
	struct softirq *softirq = u64map_item(&states->softirq_of, hash, &states->softirqs);
	if (softirq && !softirq->ips) {
		uint64_t *ips = arena_alloc(&states->arena, size);
		if (!ips)
			return false;
		memcpy(ips, switched->ips, size);
		*softirq = (struct softirq){switched->waker_tid, count, ips};
	}
	if (softirq)
		*ret = TASK_WAKE_STACKS + (uint32_t)(softirq - states->softirqs.items);
	return softirq;
}

/* Returns the word of a WAKE event for its waker, which is no softirq. */
static uint32_t wake_word(const struct task_switched *switched)
{
	switch (switched->waker) {
	case TASK_WAKER_THREAD:
		return switched->waker_tid < TASK_WAKE_STACKS ? switched->waker_tid
							      : TASK_WAKE_UNKNOWN;
	case TASK_WAKER_IDLE:
		return 0;
	case TASK_WAKER_INTERRUPT:
		return TASK_WAKE_INTERRUPT;
	default:
		return TASK_WAKE_UNKNOWN;
	}
}

struct sp_error *task_states_add_switch(struct task_states *states, const struct task_switched *switched)
{
	static const unsigned int kinds[] = {
		[TASK_SWITCH_IN] = TASK_EVENT_IN | TASK_EVENT_TRACE,
		[TASK_SWITCH_BLOCK] = TASK_EVENT_OUT | TASK_EVENT_TRACE,
		[TASK_SWITCH_PREEMPT] = TASK_EVENT_PREEMPT | TASK_EVENT_TRACE,
		[TASK_SWITCH_EXIT] = TASK_EVENT_EXIT | TASK_EVENT_TRACE,
		[TASK_SWITCH_WAKE] = TASK_EVENT_WAKE,
		[TASK_SWITCH_SEEN] = TASK_EVENT_SEEN | TASK_EVENT_TRACE,
		[TASK_SWITCH_WAKER] = TASK_EVENT_SEEN | TASK_EVENT_TRACE,
	};
	uint32_t cpu = switched->cpu < TASK_CPU_UNKNOWN ? switched->cpu : TASK_CPU_UNKNOWN;
	bool runs = switched->kind == TASK_SWITCH_SEEN || switched->kind == TASK_SWITCH_WAKER;
	bool wakes = switched->kind == TASK_SWITCH_WAKE;
	extend_to(states, switched->time_ns);
	if (!runs && !wakes && !on_switch_time(states, cpu, switched->time_ns))
		return error_no_memory();
	if (!is_thread(switched->tid))
		return NULL;
	struct task_thread *thread = task_events_thread(&states->events, switched->tid, switched->pid);
	NEED(thread);
	thread->own |= switched->kind != TASK_SWITCH_IN && switched->kind != TASK_SWITCH_WAKER && !wakes;
	if (wakes && switched->waker != TASK_WAKER_SOFTIRQ)
		cpu = wake_word(switched);
	else if (wakes)
		NEED(softirq_word(states, switched, &cpu));
	/* One of many samples between two switches is enough. */
	if (runs && thread->seen)
		return NULL;
	NEED(task_events_add(&states->events, thread, kinds[switched->kind], switched->time_ns,
			     cpu));
	thread->seen = runs || switched->kind == TASK_SWITCH_IN;
	states->switches |= !runs && !wakes;
	return NULL;
}

struct sp_error *task_states_add_seen(struct task_states *states, uint32_t pid, uint32_t tid)
{
	struct task_thread *thread = is_thread(tid) ? task_events_thread(&states->events, tid, pid) : NULL;
	if (!thread)
		return is_thread(tid) ? error_no_memory() : NULL;
	thread->own = thread->sampled = true;
	return NULL;
}

/*
 * The kernel writes a LOST record with the next record that finds room: losses at the recording's end have
 * none. Notes have their CPUs. Without notes, the final counts of all CPUs show that there were some.
 */
static bool add_lost_at_end(struct task_states *states)
{
	bool noted = states->lost_at_end.count;
	size_t count = noted ? states->lost_at_end.count : states->last_times.count;
	if (!noted && states->lost_in_all <= states->lost)
		return true;
	for (size_t i = 0; i < count; i++) {
		const struct cpu_time *last = noted ? &states->lost_at_end.items[i]
						    : &states->last_times.items[i];
		if (last->time_ns < states->last_ns &&
		    !task_gaps_add(&states->gaps, last->cpu, last->time_ns, states->last_ns))
			return false;
	}
	return true;
}

struct sp_error *task_states_seal(struct task_states *states, uint64_t first_ns, uint64_t last_ns)
{
	if (first_ns && first_ns < states->first_ns)
		states->first_ns = first_ns;
	if (last_ns > states->last_ns)
		states->last_ns = last_ns;
	if (states->end_ns)
		states->last_ns = states->end_ns;
	if (states->first_ns < states->begin_ns)
		states->first_ns = states->begin_ns;
	if (states->first_ns > states->last_ns)
		states->first_ns = states->last_ns;
	if (states->off_ns < states->last_ns &&
	    !task_gaps_add(&states->gaps, TASK_CPU_UNKNOWN, states->off_ns, states->last_ns))
		return error_no_memory();
	NEED(end_switches_off(states, states->last_ns));
	states->lives.events = &states->events;
	states->lives.gaps = &states->gaps;
	states->lives.first_ns = states->first_ns;
	states->lives.last_ns = states->last_ns;
	states->lives.begin_ns = states->begin_ns;
	states->lives.known = states->switches;
	NEED(add_lost_at_end(states) && task_events_sort(&states->events) &&
	     task_gaps_seal(&states->gaps) && task_lives_make(&states->lives, &states->events));
	task_cpu_time_fit(&states->lives, &states->events, states->end_ns);
	NEED(task_lives_sum(&states->lives));
	return NULL;
}

bool task_states_known(const struct task_states *states)
{
	return states->switches;
}

bool task_states_partly_off(const struct task_states *states)
{
	return states->partly_off;
}

uint64_t task_states_first_ns(const struct task_states *states)
{
	return states->first_ns;
}

uint64_t task_states_last_ns(const struct task_states *states)
{
	return states->last_ns;
}

size_t task_states_count(const struct task_states *states)
{
	return states->lives.items.count;
}

const struct task_totals *task_states_totals(const struct task_states *states, size_t index)
{
	assert(index < states->lives.items.count);
	return &states->lives.items.items[index].totals;
}

size_t task_states_find(const struct task_states *states, uint32_t tid, size_t *count_ret)
{
	const uint32_t *index = u64map_find(&states->events.thread_of, tid);
	const struct task_thread *thread = index ? &states->events.threads.items[*index] : NULL;
	*count_ret = thread ? thread->life_count : 0;
	return thread ? thread->first_life : 0;
}

size_t task_states_lifetime(const struct task_states *states, uint32_t tid, uint64_t time_ns)
{
	size_t count, first = task_states_find(states, tid, &count);
	size_t before = sorted_up_to(states->lives.items.items + first, count, .totals.begin_ns, time_ns);
	return before ? first + before - 1 : SIZE_MAX;
}

/* Gets the part of a piece that includes a time, between gaps or within one. */
static struct task_interval interval_at(const struct task_states *states, const struct task_piece *piece,
					uint64_t time_ns)
{
	struct task_interval interval = {piece->begin_ns, piece->end_ns, piece->state, piece->open};
	if (piece->certain)
		return interval;
	if (task_gaps_cut(task_gaps_of(&states->gaps, piece->cpu), time_ns, &interval.begin_ns,
			  &interval.end_ns))
		interval.state = TASK_UNKNOWN;
	interval.open = piece->open && interval.end_ns == piece->end_ns;
	return interval;
}

/* Gets the interval of a life that includes a time. At the life's end, it is the last one. */
static void life_at(const struct task_states *states, const struct task_life *life, uint64_t time_ns,
		    struct task_interval *ret)
{
	struct task_piece pieces[TASK_PIECES];
	size_t count = task_life_pieces(&states->lives, life,
					task_life_index(&states->lives, life, time_ns), pieces);
	size_t at = 0;
	while (at + 1 < count && time_ns >= pieces[at].end_ns)
		at++;
	*ret = interval_at(states, &pieces[at], time_ns);
}

/* Returns the thread's life at that time, or NULL. */
static const struct task_life *life_of(const struct task_states *states, uint32_t tid,
				       uint64_t time_ns)
{
	size_t index = task_states_lifetime(states, tid, time_ns);
	return index != SIZE_MAX ? &states->lives.items.items[index] : NULL;
}

bool task_states_at(const struct task_states *states, uint32_t tid, uint64_t time_ns,
		    struct task_interval *ret)
{
	const struct task_life *life = life_of(states, tid, time_ns);
	if (!life || time_ns > life->totals.end_ns)
		return false;
	life_at(states, life, time_ns, ret);
	return true;
}

void task_states_each(const struct task_states *states, size_t index, uint64_t from_ns,
		      uint64_t until_ns,
		      void (*visit)(void *arg, const struct task_interval *interval), void *arg)
{
	assert(index < states->lives.items.count);
	const struct task_life *life = &states->lives.items.items[index];
	uint64_t at = from_ns > life->totals.begin_ns ? from_ns : life->totals.begin_ns;
	if (until_ns > life->totals.end_ns)
		until_ns = life->totals.end_ns;
	size_t i = task_life_index(&states->lives, life, at);
	for (; at < until_ns && i <= life->count; i++) {
		struct task_piece pieces[TASK_SPLIT_PIECES];
		size_t count = task_life_split_pieces(&states->lives, life, i, pieces);
		for (size_t j = 0; j < count; j++) {
			while (at < pieces[j].end_ns && at < until_ns) {
				struct task_interval interval = interval_at(states, &pieces[j], at);
				interval.begin_ns = at;
				if (interval.end_ns > until_ns)
					interval.end_ns = until_ns;
				at = interval.end_ns;
				visit(arg, &interval);
			}
		}
	}
}

bool task_states_next_wait(const struct task_states *states, uint32_t tid, uint64_t time_ns,
			   struct task_interval *ret)
{
	const struct task_life *life = life_of(states, tid, time_ns);
	if (!life)
		return false;
	const struct task_event *events = states->events.items.items + life->first;
	for (size_t i = sorted_below(events, life->count, .time_ns, time_ns); i < life->count; i++) {
		struct task_piece pieces[TASK_PIECES];
		if (events[i].kind != TASK_EVENT_OUT && events[i].kind != TASK_EVENT_PREEMPT)
			continue;
		task_life_pieces(&states->lives, life, i + 1, pieces);
		*ret = interval_at(states, &pieces[0], events[i].time_ns);
		return true;
	}
	return false;
}

void task_states_each_wait(const struct task_states *states, size_t index, uint64_t from_ns,
			   uint64_t until_ns,
			   void (*visit)(void *arg, const struct task_wait *wait), void *arg)
{
	assert(index < states->lives.items.count);
	const struct task_lives *lives = &states->lives;
	const struct task_life *life = &lives->items.items[index];
	const struct task_event *events = states->events.items.items + life->first;
	size_t i = sorted_below(events, life->count, .time_ns, from_ns);
	struct task_wait wait = {0};
	bool within = false; /* the wait has a part there */
	/* A thread that was woken before has its wait before that. */
	for (i -= i > 0; i <= life->count && (!i || events[i - 1].time_ns < until_ns); i++) {
		struct task_piece pieces[TASK_PIECES];
		size_t count = task_life_pieces(lives, life, i, pieces);
		bool woken = i && events[i - 1].kind == TASK_EVENT_WAKE;
		for (size_t j = 0; j < count; j++) {
			const struct task_piece *piece = &pieces[j];
			bool overlaps = piece->end_ns > from_ns && piece->begin_ns < until_ns;
			if (woken && piece->state == TASK_RUNNABLE) {
				wait.woken_ns += task_piece_known_ns(lives, piece, from_ns,
								     until_ns);
				within |= overlaps;
			}
			if (piece->state != TASK_BLOCKED || piece->begin_ns == piece->end_ns)
				continue;
			if (wait.duration_ns && within)
				visit(arg, &wait);
			struct task_interval known = interval_at(states, piece, piece->begin_ns);
			uint64_t wake_ns = task_life_wake_ns(lives, life, i, piece);
			uint64_t off_ns = task_piece_known_ns(lives, piece, from_ns, until_ns);
			struct task_piece end = *piece;
			end.begin_ns = end.end_ns - wake_ns;
			uint64_t woken_ns =
				wake_ns ? task_piece_known_ns(lives, &end, from_ns, until_ns) : 0;
			wait = (struct task_wait){
				.duration_ns = known.end_ns - known.begin_ns,
				.blocked_ns = off_ns - woken_ns,
				.woken_ns = woken_ns,
			};
			within = overlaps;
		}
	}
	if (wait.duration_ns && within)
		visit(arg, &wait);
}

/* Sets the waker by the word of a WAKE event. */
static void set_waker(const struct task_states *states, uint32_t word, struct task_wakeup *ret)
{
	if (word >= TASK_WAKE_STACKS && word < TASK_WAKE_SOFTIRQ) {
		const struct softirq *softirq = &states->softirqs.items[word - TASK_WAKE_STACKS];
		ret->waker = TASK_WAKER_SOFTIRQ;
		ret->tid = softirq->tid;
		ret->pid = task_states_pid(states, softirq->tid);
		ret->ips = softirq->ips;
		ret->ip_count = softirq->ip_count;
		return;
	}
	if (word && word < TASK_WAKE_STACKS) {
		ret->waker = TASK_WAKER_THREAD;
		ret->tid = word;
		ret->pid = task_states_pid(states, word);
		return;
	}
	ret->waker = !word ? TASK_WAKER_IDLE :
		     word == TASK_WAKE_INTERRUPT ? TASK_WAKER_INTERRUPT :
		     word == TASK_WAKE_SOFTIRQ ? TASK_WAKER_SOFTIRQ : TASK_WAKER_UNKNOWN;
}

/* Gets the wake-up of a life's event, unless records between it and the event before were lost. */
static bool wakeup_at(const struct task_states *states, const struct task_life *life, size_t index,
		      struct task_wakeup *ret)
{
	const struct task_event *event = &states->events.items.items[life->first + index];
	struct task_piece pieces[TASK_PIECES];
	task_life_pieces(&states->lives, life, index, pieces);
	if (pieces[0].state != TASK_BLOCKED)
		return false;
	*ret = (struct task_wakeup){
		.begin_ns = pieces[0].begin_ns,
		.wake_ns = event->time_ns,
		.run_ns = index + 1 < life->count ? event[1].time_ns : life->totals.end_ns,
	};
	ret->blocked_ns = event->time_ns - ret->begin_ns -
			  task_gaps_overlap(task_gaps_of(&states->gaps, pieces[0].cpu), ret->begin_ns,
					    event->time_ns);
	set_waker(states, event->cpu, ret);
	return true;
}

bool task_states_wakeup(const struct task_states *states, uint32_t tid, uint64_t time_ns,
			struct task_wakeup *ret)
{
	const struct task_life *life = life_of(states, tid, time_ns);
	if (!life)
		return false;
	const struct task_event *events = states->events.items.items + life->first;
	for (size_t i = sorted_below(events, life->count, .time_ns, time_ns);
	     i < life->count && events[i].time_ns == time_ns; i++)
		if (events[i].kind == TASK_EVENT_WAKE)
			return wakeup_at(states, life, i, ret);
	return false;
}

uint32_t task_states_pid(const struct task_states *states, uint32_t tid)
{
	const uint32_t *index = u64map_find(&states->events.thread_of, tid);
	return index ? states->events.threads.items[*index].pid : 0;
}

void task_states_window(const struct task_states *states, size_t index, uint64_t from_ns,
			uint64_t until_ns, struct task_totals *ret)
{
	assert(index < states->lives.items.count);
	if (from_ns < until_ns)
		task_life_sum(&states->lives, &states->lives.items.items[index], from_ns, until_ns, ret);
}

void task_states_sum(const struct task_states *states, size_t index, uint64_t from_ns,
		     uint64_t until_ns, uint64_t ret[TASK_STATES])
{
	struct task_totals totals = {0};
	task_states_window(states, index, from_ns, until_ns, &totals);
	ret[TASK_UNKNOWN] += totals.unknown_ns;
	ret[TASK_RUNNING] += totals.running_ns;
	ret[TASK_RUNNABLE] += totals.runnable_ns;
	ret[TASK_BLOCKED] += totals.blocked_ns;
}
