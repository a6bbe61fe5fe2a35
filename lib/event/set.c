/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PERF_FLAG_FD_OUTPUT directs an event to its holder's ring when it is opened. So an event that starts
 * enabled loses no samples, and no ioctl is needed. PERF_FLAG_FD_NO_GROUP prevents that the holder
 * becomes its group leader.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/error.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "event/set.h"

struct opened {
	int fd;
	uint32_t event; /* index in event_set_events(); the metadata event is the last */
	uint64_t id;    /* id given by the kernel */
	uint64_t listed; /* id of the first event opened at this place, which the file header lists
			  */
	struct event_total before; /* counts of earlier events at this place, which are closed */
	uint32_t cpu_index;
};

/* Last request for an event. */
enum switched {
	SWITCHED_NOT, /* no request: as it was opened */
	SWITCHED_ON,
	SWITCHED_OFF,
};

struct opened_list {
	VEC(struct opened);
};

struct event_set {
	const struct event_kernel *kernel;
	const struct event_plan *plan;
	uint32_t *cpus;
	size_t cpu_count;
	VEC(int) holders; /* descriptors; index: cpu_index * EVENT_ROLE_COUNT + role */
	struct opened_list opened;
	enum switched *switched; /* last request for each event, by index in event_set_events() */
	/* Last result of event_set_events(). */
	struct sp_event *events;
	uint64_t *ids;
};

/* Returns the planned event with that index in event_set_events(). */
static inline const struct event_planned *event_set_planned(const struct event_set *set,
							    size_t event)
{
	return event < set->plan->sample_count ? &set->plan->samples[event] : &set->plan->sideband;
}

/* An event to open. */
struct event_opening {
	enum event_role role;
	const struct event_planned *event;
	uint32_t index; /* index in event_set_events() */
	int leader_fd;  /* descriptor of the group's leader; -1: the event is no member */
};

/* Up to this number of places, opening is faster than moving the thread between CPUs. */
#define FEW_PLACES 8
/* Up to this number of places, opening is faster than creating threads. */
#define THREAD_PLACES 256

/* More threads would only wait for each other in the kernel's descriptor table. */
#define THREADS_MAX 16

DEFINE_CLEANUP(struct event_set *, event_set_free)

static struct sp_error *open_holders(struct event_set *set)
{
	for (size_t i = 0; i < set->cpu_count * EVENT_ROLE_COUNT; i++) {
		int *slot = vec_push(&set->holders);
		NEED(slot);
		*slot = set->kernel->open(set->kernel->arg,
					  &set->plan->holders[i % EVENT_ROLE_COUNT], 0,
					  set->cpus[i / EVENT_ROLE_COUNT], -1, 0);
		if (*slot < 0)
			return rights_explain(&set->plan->rights, RIGHTS_ANY_EVENT, "ring", -*slot);
	}
	return NULL;
}

struct sp_error *event_set_new(const struct event_kernel *kernel, const struct event_plan *plan,
			       const uint32_t *cpus, size_t cpu_count, struct event_set **ret)
{
	CLEANUP(cleanup_event_set_free) struct event_set *set = calloc(1, sizeof(*set));
	NEED(set);
	set->kernel = kernel;
	set->plan = plan;
	set->cpus = calloc(cpu_count + 1, sizeof(*set->cpus));
	set->switched = calloc(plan->sample_count + 1, sizeof(*set->switched));
	NEED(set->cpus && set->switched);
	memcpy(set->cpus, cpus, cpu_count * sizeof(*cpus));
	set->cpu_count = cpu_count;
	TRY(open_holders(set));
	*ret = take_ptr(set);
	return NULL;
}

void event_set_free(struct event_set *set)
{
	if (!set)
		return;
	vec_each (item, &set->opened)
		set->kernel->close(set->kernel->arg, item->fd);
	vec_each (holder, &set->holders)
		if (*holder >= 0)
			set->kernel->close(set->kernel->arg, *holder);
	vec_deinit(&set->opened);
	vec_deinit(&set->holders);
	free(set->events);
	free(set->ids);
	free(set->switched);
	free(set->cpus);
	free(set);
}

int event_set_ring_fd(const struct event_set *set, size_t cpu_index, enum event_role role)
{
	return set->holders.items[cpu_index * EVENT_ROLE_COUNT + role];
}

uint64_t event_set_fds_needed(const struct event_plan *plan, size_t cpu_count, size_t place_count)
{
	return (uint64_t)cpu_count * EVENT_ROLE_COUNT +
	       (uint64_t)place_count * (plan->sample_count + 1);
}

/* Returns the events of a role, and the index of the first. */
static const struct event_planned *role_events(const struct event_set *set, enum event_role role,
					       uint32_t *first_ret, size_t *count_ret)
{
	*first_ret = role == EVENT_ROLE_SAMPLES ? 0 : (uint32_t)set->plan->sample_count;
	*count_ret = role == EVENT_ROLE_SAMPLES ? set->plan->sample_count : 1;
	return role == EVENT_ROLE_SAMPLES ? set->plan->samples : &set->plan->sideband;
}

/*
 * Opens an event that writes to its holder's ring. Group members need the group_fd parameter for their
 * leader, so they are redirected later.
 */
static int open_to_ring(const struct event_set *set, enum event_role role,
			const struct event_planned *event, const struct event_place *place,
			int leader_fd)
{
	struct perf_event_attr attr = event->attr;
	uint32_t cpu = set->cpus[place->cpu_index];
	int output = event_set_ring_fd(set, place->cpu_index, role);
	bool in_cgroup = event->in_cgroup && place->tid < 0;
	struct event_target target = {
		.pid = in_cgroup ? event->cgroup_fd : place->tid,
		.cpu = cpu,
		.group_fd = leader_fd,
		.flags = in_cgroup ? PERF_FLAG_PID_CGROUP : 0,
	};
	/* The leader is enabled after all of its members are open. */
	if (event->member_count > 1)
		attr.disabled = 1;
	if (leader_fd < 0) {
		target.group_fd = output;
		target.flags |= PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
		return event_open_planned(set->kernel, event, &attr, &target);
	}
	int fd = event_open_planned(set->kernel, event, &attr, &target);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output) == 0)
		return fd;
	int errnum = errno;
	set->kernel->close(set->kernel->arg, fd);
	return -errnum;
}

static int open_event(const struct event_set *set, struct opened_list *list,
		      const struct event_place *place, const struct event_opening *opening)
{
	const struct event_planned *event = opening->event;
	struct opened *slot = vec_push(list);
	if (!slot)
		return ENOMEM;
	int fd = open_to_ring(set, opening->role, event, place, opening->leader_fd);
	if (fd < 0) {
		list->count--;
		return -fd;
	}
	int errnum = event->filter ? event_set_filter(set->kernel, fd, event->filter) : 0;
	if (errnum) {
		set->kernel->close(set->kernel->arg, fd);
		list->count--;
		return errnum;
	}
	*slot = (struct opened){.fd = fd, .event = opening->index, .cpu_index = place->cpu_index};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &slot->id) < 0)
		return errno;
	slot->listed = slot->id;
	return 0;
}

/* Enables groups, after all of their members are open. */
static int start_groups(const struct opened_list *list, size_t from, const struct event_set *set)
{
	for (size_t i = from; i < list->count; i++) {
		const struct event_planned *event = &set->plan->samples[list->items[i].event];
		if (event->member_count > 1 && !event->attr.disabled &&
		    ioctl(list->items[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return errno;
	}
	return 0;
}

/* Opens all events of a role at a place, or none. Returns 0, or the errno. */
static int open_place(const struct event_set *set, struct opened_list *list, enum event_role role,
		      const struct event_place *place)
{
	uint32_t first;
	size_t count, before = list->count;
	const struct event_planned *events = role_events(set, role, &first, &count);
	int errnum = 0, leader_fd = -1;
	for (size_t i = 0; i < count && !errnum; i++) {
		bool member = role == EVENT_ROLE_SAMPLES && events[i].leader != i;
		if (!event_planned_on(&events[i], set->cpus[place->cpu_index]))
			continue;
		errnum = open_event(set, list, place, &(struct event_opening){
			role, &events[i], first + (uint32_t)i, member ? leader_fd : -1});
		if (!errnum && !member)
			leader_fd = list->items[list->count - 1].fd;
	}
	if (!errnum && role == EVENT_ROLE_SAMPLES)
		errnum = start_groups(list, before, set);
	while (errnum && list->count > before)
		set->kernel->close(set->kernel->arg, list->items[--list->count].fd);
	return errnum;
}

static struct sp_error *place_error(const struct event_set *set, enum event_role role,
				    const struct event_place *place, int errnum)
{
	uint32_t first;
	size_t count;
	char name[128];
	const struct event_planned *events = role_events(set, role, &first, &count);
	const char *event = events->name;
	bool cpu_wide = place->tid < 0;
	enum rights_action action = !cpu_wide		? RIGHTS_TASK
				    : events->in_cgroup ? RIGHTS_CGROUP
							: RIGHTS_CPU_WIDE;
	/* Messages do not name the metadata event, which the user did not request. */
	snprintf(name, sizeof(name), "%s%s%s %d", role == EVENT_ROLE_SAMPLES ? event : "",
		 role == EVENT_ROLE_SAMPLES ? " of " : "", cpu_wide ? "CPU" : "thread",
		 cpu_wide ? (int)set->cpus[place->cpu_index] : (int)place->tid);
	return rights_explain(&set->plan->rights, action, name, errnum);
}

static struct sp_error *open_one(const struct event_set *set, struct opened_list *list,
				 enum event_role role, struct event_place *place)
{
	if (place->status != EVENT_PLACE_NEW)
		return NULL;
	int errnum = open_place(set, list, role, place);
	switch (errnum) {
	case 0:
		place->status = EVENT_PLACE_OPEN;
		return NULL;
	case ESRCH:
		place->status = EVENT_PLACE_GONE;
		return NULL;
	case ENODEV:
		place->status = EVENT_PLACE_OFFLINE;
		return NULL;
	default:
		return place_error(set, role, place, errnum);
	}
}

/* A place, ordered by the CPU on which its task last ran. */
struct ordered {
	int32_t last_cpu;
	uint32_t index;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	if (x->last_cpu != y->last_cpu)
		return x->last_cpu < y->last_cpu ? -1 : 1;
	return u64_order(x->index, y->index);
}

/* Moves the calling thread to a CPU. If that is not permitted, opening is only slower. */
static void run_on(int32_t cpu)
{
	cpu_set_t one;
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Opens many places by several threads. Each thread takes the places of one CPU at a time. */
struct set_opening {
	const struct event_set *set;
	enum event_role role;
	struct event_place *places;
	const struct ordered *order;
	struct { VEC(size_t); } groups; /* first index in `order` for each CPU, and the end */
	size_t next;                    /* next group to take; atomic */
	bool stop;                      /* atomic: some thread failed */
	struct opening_hand {
		struct opened_list opened;
		struct sp_error *error;
	} hands[THREADS_MAX];
};

static struct sp_error *open_group(struct set_opening *opening, struct opened_list *list,
				   size_t group)
{
	size_t end = opening->groups.items[group + 1];
	struct sp_error *error = NULL;
	run_on(opening->order[opening->groups.items[group]].last_cpu);
	for (size_t i = opening->groups.items[group]; i < end && !error; i++) {
		if (__atomic_load_n(&opening->stop, __ATOMIC_RELAXED))
			return NULL;
		error = open_one(opening->set, list, opening->role,
				 &opening->places[opening->order[i].index]);
	}
	return error;
}

static void open_groups(void *arg, unsigned int index)
{
	struct set_opening *opening = arg;
	struct opening_hand *hand = &opening->hands[index];
	while (!hand->error) {
		size_t group = __atomic_fetch_add(&opening->next, 1, __ATOMIC_RELAXED);
		if (group + 1 >= opening->groups.count)
			return;
		hand->error = open_group(opening, &hand->opened, group);
	}
	__atomic_store_n(&opening->stop, true, __ATOMIC_RELAXED);
}

static bool make_groups(struct set_opening *opening, size_t count)
{
	for (size_t i = 0; i <= count; i++) {
		if (i && i < count && opening->order[i].last_cpu == opening->order[i - 1].last_cpu)
			continue;
		if (!vec_append(&opening->groups, i))
			return false;
	}
	return true;
}

static void close_all(const struct event_set *set, struct opened_list *list)
{
	vec_each (item, list)
		set->kernel->close(set->kernel->arg, item->fd);
	vec_deinit(list);
}

/* Collects the events that the threads opened; returns the first error. */
static struct sp_error *gather_opened(struct event_set *set, struct set_opening *opening)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < THREADS_MAX; i++) {
		struct opening_hand *hand = &opening->hands[i];
		struct opened_list *all = &set->opened;
		if (hand->opened.count && !vec_reserve(all, all->count + hand->opened.count)) {
			close_all(set, &hand->opened);
			error = error ?: error_no_memory();
		} else if (hand->opened.count) {
			memcpy(all->items + all->count, hand->opened.items,
			       hand->opened.count * sizeof(*all->items));
			all->count += hand->opened.count;
		}
		vec_deinit(&hand->opened);
		error = error_first(error, hand->error);
	}
	return error;
}

/*
 * Enlarges the kernel's descriptor table before threads open files. Otherwise it doubles repeatedly,
 * and each time waits for an RCU grace period of tens of milliseconds.
 */
static void grow_descriptors(const struct event_set *set, enum event_role role, size_t places)
{
	uint32_t first;
	size_t events;
	role_events(set, role, &first, &events);
	size_t highest = set->holders.count + set->opened.count + places * events;
	int fd = highest < INT_MAX ? fcntl(set->holders.items[0], F_DUPFD_CLOEXEC, (int)highest)
				   : -1;
	if (fd >= 0) /* the limit is reported when the events are opened */
		close(fd);
}

struct sp_error *event_set_open(struct event_set *set, enum event_role role,
				struct event_place *places, size_t count)
{
	cpu_set_t before;
	bool moves = count >= FEW_PLACES && count <= UINT32_MAX &&
		     sched_getaffinity(0, sizeof(before), &before) == 0;
	if (!moves) {
		for (size_t i = 0; i < count; i++)
			TRY(open_one(set, &set->opened, role, &places[i]));
		return NULL;
	}
	CLEANUP_FREE struct ordered *order = malloc(count * sizeof(*order));
	NEED(order);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct ordered){places[i].last_cpu, (uint32_t)i};
	qsort(order, count, sizeof(*order), compare_ordered);
	struct set_opening opening = {.set = set, .role = role, .places = places, .order = order};
	bool made = make_groups(&opening, count);
	size_t threads = opening.groups.count ? opening.groups.count - 1 : 0;
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	if (count < THREAD_PLACES)
		threads = 1;
	if (threads > 1)
		grow_descriptors(set, role, count);
	if (made)
		parallel_run(threads, open_groups, &opening);
	vec_deinit(&opening.groups);
	struct sp_error *error = made ? gather_opened(set, &opening) : error_no_memory();
	sched_setaffinity(0, sizeof(before), &before);
	return error;
}

/* Apply a request to `count` events from `first` on. */
static struct sp_error *control(struct event_set *set, uint32_t first, size_t count,
				unsigned long request)
{
	for (size_t i = first; i < first + count; i++)
		set->switched[i] = request == PERF_EVENT_IOC_ENABLE ? SWITCHED_ON : SWITCHED_OFF;
	vec_each (opened, &set->opened) {
		if (opened->event - first < count && ioctl(opened->fd, request, 0) < 0)
			return error_os(errno, "cannot enable or disable an event");
	}
	return NULL;
}

int event_set_fd(const struct event_set *set, size_t event, size_t cpu_index)
{
	vec_each (opened, &set->opened) {
		if (opened->event == event && opened->cpu_index == cpu_index)
			return opened->fd;
	}
	return -1;
}

struct sp_error *event_set_disable(struct event_set *set, enum event_role role)
{
	uint32_t first;
	size_t count;
	role_events(set, role, &first, &count);
	return control(set, first, count, PERF_EVENT_IOC_DISABLE);
}

struct sp_error *event_set_switch_event(struct event_set *set, size_t index, bool on)
{
	return control(set, index, 1, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
}

struct sp_error *event_set_events(struct event_set *set, const struct sp_event **ret,
				  size_t *count_ret)
{
	const struct event_plan *plan = set->plan;
	size_t event_count = plan->sample_count + 1;
	free(set->events);
	free(set->ids);
	set->events = calloc(event_count, sizeof(*set->events));
	set->ids = calloc(set->opened.count + 1, sizeof(*set->ids));
	NEED(set->events && set->ids);
	for (size_t i = 0; i < event_count; i++) {
		const struct event_planned *planned = event_set_planned(set, i);
		set->events[i].name = planned->name;
		set->events[i].attr = planned->attr;
		set->events[i].tail = planned->tail;
		/* Pointers of this process are meaningless in the file. */
		if (planned->has_pointer)
			set->events[i].attr.config1 = 0;
	}

	/* Counts each event's ids, and lays out their arrays one after the other. */
	uint64_t *next = set->ids;
	vec_each (item, &set->opened)
		set->events[item->event].id_count++;
	for (size_t event = 0; event < event_count; event++) {
		set->events[event].ids = next;
		next += set->events[event].id_count;
		set->events[event].id_count = 0;
	}
	vec_each (item, &set->opened) {
		struct sp_event *event = &set->events[item->event];
		set->ids[event->ids - set->ids + (ptrdiff_t)event->id_count++] = item->listed;
	}

	*ret = set->events;
	*count_ret = event_count;
	return NULL;
}

/* Counts, lost samples and running times of a set's events. */

/* Layout of read(2)'s result: the words of each group member, and the first's index. */
struct read_words {
	size_t first, each, count;
	bool group;
};

static struct read_words read_words_of(const struct event_plan *plan,
				       const struct event_planned *event)
{
	uint64_t format = event->attr.read_format;
	bool group = format & PERF_FORMAT_GROUP;
	/* The kernel returns the whole group for any member. */
	size_t members = group ? plan->samples[event->leader].member_count : 1;
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & EVENT_FORMAT_LOST);
	struct read_words words = {.first = group ? 1 + times : 0, .each = each, .group = group};
	words.count = group ? 1 + times + (members ? members : 1) * each : each + times;
	return words;
}

/* Index in `values` of that event's words; `got` if there are none. */
static size_t find_words(const struct read_words *words, const uint64_t *values, size_t got,
			 uint64_t id)
{
	size_t at = words->first;
	while (words->group && at + words->each <= got && values[at + 1] != id)
		at += words->each;
	return at + words->each <= got ? at : got;
}

static struct sp_error *read_opened(const struct event_set *set, const struct opened *opened,
				    struct event_total *ret)
{
	const struct event_plan *plan = set->plan;
	const struct read_words words = read_words_of(plan, event_set_planned(set, opened->event));
	CLEANUP_FREE uint64_t *values = calloc(words.count, sizeof(*values));
	*ret = opened->before;
	NEED(values);
	/*
	 * Reads once: further reads return everything again, except members that were not opened.
	 */
	ssize_t bytes = read(opened->fd, values, words.count * sizeof(*values));
	if (bytes < 0)
		return error_os(errno, "cannot read an event's count");
	size_t got = (size_t)bytes / sizeof(*values);
	size_t at = find_words(&words, values, got, opened->id);
	if (at == got)
		return NULL;
	ret->value += values[at];
	/* Lost samples are the last word; for a single event they follow the times. */
	size_t last = words.group ? at + words.each : words.count;
	ret->lost += plan->support.format_lost ? values[last - 1] : 0;
	return NULL;
}

struct sp_error *event_set_read(const struct event_set *set, size_t index, struct event_total *ret)
{
	struct event_total total = {.lost_known = set->plan->support.format_lost};
	vec_each (item, &set->opened) {
		struct event_total one;
		if (item->event != index)
			continue;
		TRY(read_opened(set, item, &one));
		total.value += one.value;
		total.lost += one.lost;
	}
	*ret = total;
	return NULL;
}

bool event_set_enabled_time(const struct event_set *set, size_t cpu_index, uint64_t *ns_ret)
{
	int fd = event_set_fd(set, set->plan->sample_count, cpu_index);
	uint64_t values[4]; /* value, time, id, lost */
	if (fd < 0 || !(set->plan->sideband.attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) ||
	    read(fd, values, sizeof(values)) < (ssize_t)(2 * sizeof(*values)))
		return false;
	*ns_ret = values[1];
	return true;
}

/*
 * When a CPU goes offline, the kernel stops its events forever. When it is online again, they are
 * opened again, with the same rings. Their ids are new, so the writer of records replaces them by
 * the ids in the file's header.
 */

/* Returns the descriptor of the group's leader, which was reopened before; -1: none. */
static int leader_of(const struct event_set *set, const struct opened *opened)
{
	if (opened->event >= set->plan->sample_count)
		return -1;
	size_t leader = set->plan->samples[opened->event].leader;
	return leader == opened->event ? -1 : event_set_fd(set, leader, opened->cpu_index);
}

/* Reopens an event, disabled unless it is a group member. Returns 0, or the errno. */
static int reopen(struct event_set *set, struct opened *opened)
{
	const enum event_role role =
		opened->event < set->plan->sample_count ? EVENT_ROLE_SAMPLES : EVENT_ROLE_SIDEBAND;
	const struct event_place place = {.tid = -1, .cpu_index = opened->cpu_index};
	struct event_planned event = *event_set_planned(set, opened->event);
	struct opened_list one = {0};
	int leader_fd = leader_of(set, opened);
	if (leader_fd < 0)
		event.attr.disabled = 1;
	const struct event_opening opening = {role, &event, opened->event, leader_fd};
	int errnum = open_event(set, &one, &place, &opening);
	if (errnum) {
		close_all(set, &one);
		return errnum;
	}
	struct event_total before = opened->before;
	sp_error_free(read_opened(set, opened, &before));
	set->kernel->close(set->kernel->arg, opened->fd);
	opened->fd = one.items[0].fd;
	opened->id = one.items[0].id;
	opened->before = before;
	vec_deinit(&one);
	return 0;
}

/* Enables the CPU's reopened events if the other CPUs' events are enabled. */
static int switch_on(const struct event_set *set, size_t cpu_index)
{
	vec_each (opened, &set->opened) {
		const struct event_planned *planned = event_set_planned(set, opened->event);
		enum switched switched = set->switched[opened->event];
		bool on = switched == SWITCHED_NOT ? !planned->attr.disabled
						   : switched == SWITCHED_ON;
		if (opened->cpu_index == cpu_index &&
		    ioctl(opened->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0)
			return errno;
	}
	return 0;
}

struct sp_error *event_set_reopen(struct event_set *set, size_t cpu_index,
				  struct event_renamed_list *ret, bool *offline_ret)
{
	int errnum = 0;
	*offline_ret = false;
	NEED(vec_reserve(ret, ret->count + set->plan->sample_count + 1));
	for (size_t i = 0; i < set->opened.count && !errnum; i++) {
		struct opened *opened = &set->opened.items[i];
		if (opened->cpu_index != cpu_index)
			continue;
		errnum = reopen(set, opened);
		if (!errnum)
			*vec_push(ret) = (struct event_renamed){opened->id, opened->listed,
								opened->before.value,
								opened->event};
	}
	if (!errnum)
		errnum = switch_on(set, cpu_index);
	*offline_ret = errnum == ENODEV;
	return !errnum || *offline_ret ? NULL
				       : error_os(errnum, "cannot reopen the events of CPU %u",
						  set->cpus[cpu_index]);
}
