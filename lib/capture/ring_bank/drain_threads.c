/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/drain_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/wakeup.h"

/* Stack copies fill rings fast: each CPU has its own thread, or */
#define CPUS_EACH 16
/*
 * beyond CPUS_EACH CPUs, CPUS_SHARED share one. Small samples need threads only above CPUS_SMALL.
 */
#define CPUS_SHARED 8
#define CPUS_SMALL 64
#define CPUS_SHARED_SMALL 32

/* Sizes of relays: enough for 50 ms in which the reader is not scheduled. */
#define RELAY_STACKS (UINT64_C(16) << 20)
#define RELAY_SMALL (UINT64_C(2) << 20)
#define RELAY_ALL (UINT64_C(512) << 20)

/* Pages that are made before they are needed: of all rings at the start, of those that fill, of one. */
#define PREPARED_FIRST ((size_t)8 << 20)
#define PREPARED_ALL ((size_t)32 << 20)
#define PREPARED_AHEAD ((size_t)2 << 20)

#define EVENTS_AT_ONCE 64

/* A ring and what is behind it. */
struct drained_ring {
	struct relay relay;
	pthread_mutex_t lock; /* held while moving records */
	int fd;
	uint32_t cpu;
};

/* Intervals of polls: at first, and after IDLE_POLLS that found nothing. */
#define POLL_MS 1
#define IDLE_POLL_MS 10
#define IDLE_POLLS 50

struct drain_group {
	struct drain_threads *drain_threads;
	pthread_t thread;
	bool has_thread;
	int epoll_fd;
	size_t first, end;    /* range of places, which are ordered by group */
	uint64_t wakeups;     /* atomic */
	uint32_t idle_polls;  /* number of polls since one found records */
	void *state;          /* argument of on_arrival; NULL: it is not called */
};

struct drain_threads {
	struct drained_ring *places;
	size_t *index;        /* index in `places`, by the caller's order */
	size_t count;
	struct drain_group *groups;
	size_t group_count;
	uint64_t notify_bytes;
	size_t record_max;
	uint32_t realtime;
	bool polls;
	void (*on_arrival)(void *arg, void *state, const struct ring *ring, uint64_t end);
	void (*free_state)(void *state);
	void *arg;
	struct wakeup wakeup; /* wakes the reader */
	int stop_fd;
};

DEFINE_CLEANUP(struct drain_threads *, drain_threads_free)

/*
 * Returns the bytes that wait for the reader. `group`: the place's, if its thread moves; else
 * NULL.
 */
static uint64_t move(struct drain_threads *drain_threads, struct drained_ring *place,
		     struct drain_group *group)
{
	pthread_mutex_lock(&place->lock);
	if (group && ring_head(place->relay.source) != place->relay.source->tail)
		group->idle_polls = 0;
	if (group && group->state)
		drain_threads->on_arrival(drain_threads->arg, group->state, place->relay.source,
					  ring_head(place->relay.source));
	uint64_t waiting = relay_move(&place->relay, drain_threads->record_max);
	pthread_mutex_unlock(&place->lock);
	return waiting;
}

/* Pins the thread, within the CPUs that the process may use. */
static void stay_on_cpus(const struct drain_group *group)
{
	size_t most = 0;
	for (size_t i = group->first; i < group->end; i++)
		most = group->drain_threads->places[i].cpu > most ? group->drain_threads->places[i].cpu
								  : most;
	cpu_set_t *set = CPU_ALLOC(most + 1);
	size_t size = CPU_ALLOC_SIZE(most + 1);
	if (!set)
		return;
	CPU_ZERO_S(size, set);
	for (size_t i = group->first; i < group->end; i++)
		CPU_SET_S(group->drain_threads->places[i].cpu, size, set);
	(void)sched_setaffinity(0, size, set);
	CPU_FREE(set);
}

static void drain(struct drain_group *group, struct drained_ring *place)
{
	struct drain_threads *drain_threads = group->drain_threads;
	if (move(drain_threads, place, group) >= drain_threads->notify_bytes)
		wakeup_raise(&drain_threads->wakeup);
}

/* False: it is to end. */
static bool on_events(struct drain_group *group, const struct epoll_event *events, int count)
{
	struct drain_threads *drain_threads = group->drain_threads;
	for (int i = 0; i < count; i++) {
		size_t index = events[i].data.u64;
		if (index == SIZE_MAX)
			return false;
		struct drained_ring *place = &drain_threads->places[index];
		drain(group, place);
		/* The CPU is offline: the reader drains its ring. */
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(group->epoll_fd, EPOLL_CTL_DEL, place->fd, NULL);
	}
	return true;
}

/* Returns how long to wait for events. */
static int timeout_ms(const struct drain_group *group)
{
	if (!group->drain_threads->polls)
		return -1;
	return group->idle_polls < IDLE_POLLS ? POLL_MS : IDLE_POLL_MS;
}

static void *work(void *arg)
{
	struct drain_group *group = arg;
	struct epoll_event events[EVENTS_AT_ONCE];
	struct thread_priority thread_priority = {0};
	int count;
	stay_on_cpus(group);
	/* thread_priority_begin() reported whether that is allowed. */
	sp_error_free(thread_priority_begin(&thread_priority, group->drain_threads->realtime));
	do {
		count = epoll_wait(group->epoll_fd, events, EVENTS_AT_ONCE, timeout_ms(group));
		__atomic_add_fetch(&group->wakeups, 1, __ATOMIC_RELAXED);
		/* After a time without events: records that wake no thread. */
		group->idle_polls += !count;
		for (size_t i = group->first; !count && i < group->end; i++)
			drain(group, &group->drain_threads->places[i]);
	} while ((count < 0 && errno == EINTR) ||
		 (count >= 0 && on_events(group, events, count)));
	return NULL;
}

static struct sp_error *watch(int epoll_fd, int fd, uint64_t index)
{
	/* Edge-triggered: one event for all that is there. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = index};
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? error_os(errno, "epoll_ctl")
								  : NULL;
}

static struct sp_error *start(struct drain_group *group,
			      const struct drain_threads_options *options)
{
	sigset_t all, before;
	group->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (group->epoll_fd < 0)
		return error_os(errno, "epoll_create1");
	if (options->on_arrival)
		group->state = options->new_state(options->arg);
	struct sp_error *error = watch(group->epoll_fd, group->drain_threads->stop_fd, SIZE_MAX);
	for (size_t i = group->first; i < group->end && !error; i++)
		error = watch(group->epoll_fd, group->drain_threads->places[i].fd, i);
	if (error)
		return error;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int errnum = pthread_create(&group->thread, NULL, work, group);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	group->has_thread = !errnum;
	return errnum ? error_os(errnum, "cannot make a thread") : NULL;
}

/* Places stand side by side with those of their group. */
static struct sp_error *make_places(struct drain_threads *drain_threads,
				    const struct drain_threads_options *options)
{
	for (size_t g = 0; g < options->threads; g++) {
		struct drain_group *group = &drain_threads->groups[drain_threads->group_count++];
		*group = (struct drain_group){
			.drain_threads = drain_threads, .epoll_fd = -1, .first = drain_threads->count};
		for (size_t i = 0; i < options->count; i++) {
			const struct drain_place *given = &options->places[i];
			struct drained_ring *place = &drain_threads->places[drain_threads->count];
			if (given->group != g)
				continue;
			TRY(relay_init(&place->relay, given->ring, options->relay_bytes));
			pthread_mutex_init(&place->lock, NULL);
			place->fd = given->fd;
			place->cpu = given->cpu;
			drain_threads->index[i] = drain_threads->count++;
		}
		group->end = drain_threads->count;
	}
	return NULL;
}

/* For each ring its part of `all`. */
static size_t ahead(const struct drain_threads *drain_threads, size_t all)
{
	size_t part = all / drain_threads->count;
	return part < PREPARED_AHEAD ? part : PREPARED_AHEAD;
}

struct sp_error *drain_threads_new(const struct drain_threads_options *options, struct drain_threads **ret)
{
	CLEANUP(cleanup_drain_threads_free)
	struct drain_threads *drain_threads = calloc(1, sizeof(*drain_threads));
	NEED(drain_threads);
	drain_threads->notify_bytes = options->notify_bytes;
	drain_threads->record_max = options->record_max;
	drain_threads->realtime = options->realtime;
	drain_threads->polls = options->polls;
	drain_threads->on_arrival = options->on_arrival;
	drain_threads->free_state = options->free_state;
	drain_threads->arg = options->arg;
	drain_threads->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	drain_threads->wakeup.fd = -1;
	if (drain_threads->stop_fd < 0)
		return error_os(errno, "eventfd");
	TRY(wakeup_init(&drain_threads->wakeup));
	wakeup_arm(&drain_threads->wakeup, true);
	drain_threads->places = calloc(options->count, sizeof(*drain_threads->places));
	drain_threads->index = calloc(options->count, sizeof(*drain_threads->index));
	drain_threads->groups = calloc(options->threads, sizeof(*drain_threads->groups));
	NEED(drain_threads->places && drain_threads->index && drain_threads->groups);
	struct sp_error *error = make_places(drain_threads, options);
	for (size_t i = 0; i < drain_threads->group_count && !error && !options->by_reader; i++)
		error = start(&drain_threads->groups[i], options);
	for (size_t i = 0; i < drain_threads->count && !error; i++)
		relay_prepare(&drain_threads->places[i].relay, ahead(drain_threads, PREPARED_FIRST));
	if (!error)
		*ret = take_ptr(drain_threads);
	return error;
}

void drain_threads_free(struct drain_threads *drain_threads)
{
	const uint64_t one = 1;
	if (!drain_threads)
		return;
	if (drain_threads->stop_fd >= 0)
		(void)!io_write(drain_threads->stop_fd, &one, sizeof(one));
	for (size_t i = 0; i < drain_threads->group_count; i++) {
		if (drain_threads->groups[i].has_thread)
			pthread_join(drain_threads->groups[i].thread, NULL);
		cleanup_close(&drain_threads->groups[i].epoll_fd);
		if (drain_threads->groups[i].state)
			drain_threads->free_state(drain_threads->groups[i].state);
	}
	for (size_t i = 0; i < drain_threads->count; i++) {
		relay_deinit(&drain_threads->places[i].relay);
		pthread_mutex_destroy(&drain_threads->places[i].lock);
	}
	wakeup_deinit(&drain_threads->wakeup);
	cleanup_close(&drain_threads->stop_fd);
	free(drain_threads->groups);
	free(drain_threads->index);
	free(drain_threads->places);
	free(drain_threads);
}

struct ring *drain_threads_ring(struct drain_threads *drain_threads, size_t index)
{
	return &drain_threads->places[drain_threads->index[index]].relay.out;
}

int drain_threads_fd(const struct drain_threads *drain_threads)
{
	return drain_threads->wakeup.fd;
}

bool drain_threads_is_by_reader(const struct drain_threads *drain_threads)
{
	return !drain_threads->groups[0].has_thread;
}

void drain_threads_move(struct drain_threads *drain_threads)
{
	wakeup_arm(&drain_threads->wakeup, true);
	for (size_t i = 0; i < drain_threads->count; i++) {
		struct drained_ring *place = &drain_threads->places[i];
		move(drain_threads, place, NULL);
		/* Prepares pages as the relay fills: an idle CPU's takes no memory. */
		if (ring_head(&place->relay.out))
			relay_prepare(&place->relay, ahead(drain_threads, PREPARED_ALL));
	}
}

bool drain_threads_was_full(const struct drain_threads *drain_threads, size_t index)
{
	return relay_was_full(&drain_threads->places[drain_threads->index[index]].relay);
}

bool drain_threads_are_full(const struct drain_threads *drain_threads)
{
	for (size_t i = 0; i < drain_threads->count; i++)
		if (relay_is_full(&drain_threads->places[i].relay))
			return true;
	return false;
}

struct drain_threads_counts drain_threads_counts(const struct drain_threads *drain_threads)
{
	struct drain_threads_counts counts = {0};
	for (size_t i = 0; i < drain_threads->group_count; i++) {
		const struct drain_group *group = &drain_threads->groups[i];
		if (!group->has_thread)
			continue;
		counts.threads++;
		counts.wakeups += __atomic_load_n(&group->wakeups, __ATOMIC_RELAXED);
		counts.cpu_ns += clock_thread_ns(group->thread);
	}
	return counts;
}

size_t drain_threads_worthwhile(size_t cpus, uint32_t stack_bytes)
{
	if (!stack_bytes)
		return cpus <= CPUS_SMALL ? 0 : (cpus + CPUS_SHARED_SMALL - 1) / CPUS_SHARED_SMALL;
	if (cpus <= CPUS_EACH)
		return cpus;
	size_t shared = (cpus + CPUS_SHARED - 1) / CPUS_SHARED;
	return shared > CPUS_EACH ? shared : CPUS_EACH;
}

uint64_t drain_threads_relay_bytes(uint64_t ring_bytes, size_t cpus, uint32_t stack_bytes)
{
	uint64_t wanted = stack_bytes ? RELAY_STACKS : RELAY_SMALL;
	while (wanted > 2 * ring_bytes && wanted * cpus > RELAY_ALL)
		wanted /= 2;
	return wanted > 2 * ring_bytes ? wanted : 2 * ring_bytes;
}
