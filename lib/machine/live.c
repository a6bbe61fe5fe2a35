/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A space is a process's address space: a timeline of views. A view is never changed after it was
 * returned, so results for an ip in it can be cached.
 *
 * Recent records stay in a log, by time. A late record is inserted at its time: later ones are
 * undone (it suffices to cut timelines, since views do not change) and replayed. Records that leave
 * the log are final. The threads of processes are only counted then, and processes without threads
 * are freed.
 *
 * Trees are copied into a new arena from time to time, when changes since the last copy would fill
 * it; then the old arena is freed. Any user can map files under ever new names, and memory at ever
 * new places: modules that are mapped nowhere are dropped, and the trees have a limit.
 */
#include "machine/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "machine/modules.h"
#include "machine/process.h"
#include "record/task_change.h"
#include "record/types.h"

/* Number of events after which the trees may be copied again, to free old versions. */
#define COPY_AFTER 16384

/* Growth of the trees after which they are copied, whatever the number of events. */
#define TREES_GROWTH ((size_t)16 << 20)

/*
 * Limit of trees after they were copied, with the modules if these were copied, too: a million
 * mappings. Beyond it, the largest address spaces lose their mappings.
 */
#define KEPT_BYTES ((size_t)64 << 20)

/* Trees of at most this height, fewer than 16,384 mappings, are copied before larger ones. */
#define SMALL_HEIGHT 14

/* Modules are dropped when they have more bytes, and twice those of the last time. */
#define MODULES_BYTES ((size_t)32 << 20)

enum live_kind { LIVE_MAP, LIVE_START, LIVE_FORK, LIVE_THREAD, LIVE_EXIT, LIVE_END };

struct live_event {
	uint64_t time_ns, sequence; /* time and order of arrival, from 1 */
	enum live_kind kind;
	bool late;
	uint32_t pid, parent;   /* parent of a new process; 0: the process existed before */
	struct mapping mapping; /* the mapping, of MAP events */
};

struct live_view {
	uint32_t number; /* 0: the entry is free */
	struct mapping_node *root;
	bool shared; /* a fork or a later view shares it, so it must not be changed */
	bool seen;   /* a caller knows it, so it must not be changed */
	bool moved;  /* its tree was copied, or dropped */
	bool used, orphan; /* `used`: a timeline has it now. `orphan`: no timeline had it at the last check */
	uint64_t space; /* result of live_space() */
};

struct space {
	uint32_t pid;
	struct moments timeline;
	/* Thread states after the events that have left the log. */
	uint32_t threads;  /* number of threads; 0: unknown */
	uint64_t ended_ns; /* end of the process; 0: not ended yet */
};

struct live {
	pthread_rwlock_t lock; /* protects modules, views and their trees */
	struct modules modules;
	struct arena arena;
	VEC(struct live_view) views;
	VEC(uint32_t) free_views;  /* indexes of free entries in `views` */
	struct u64map view_index;  /* view's number -> index in views */
	uint32_t last_view;        /* number of the newest view */
	VEC(struct space) spaces;
	struct u64map space_index; /* pid -> index in spaces */
	VEC(struct live_event) log, fresh;
	uint64_t sequence;
	uint64_t floor_ns;         /* all events in the log are newer */
	uint64_t happened;         /* number of events since the trees were copied */
	size_t kept, kept_bytes;   /* number of views, and bytes of trees, at that time */
	size_t modules_kept;       /* bytes of modules after live_drop_modules() */
	uint64_t dropped;          /* number of views that lost their mappings */
	uint64_t late;
};

DEFINE_CLEANUP(struct live *, live_free)

struct sp_error *live_new(bool is_64bit, struct live **ret)
{
	CLEANUP(cleanup_live_free) struct live *live = calloc(1, sizeof(*live));
	NEED(live);
	pthread_rwlockattr_t attr;
	pthread_rwlockattr_init(&attr);
	/* Writers have priority, because readers may follow each other without a gap. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&live->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	live->modules.is_64bit = is_64bit;
	*ret = take_ptr(live);
	return NULL;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	vec_each (space, &live->spaces)
		vec_deinit(&space->timeline);
	vec_deinit(&live->spaces);
	u64map_deinit(&live->space_index);
	vec_deinit(&live->views);
	vec_deinit(&live->free_views);
	u64map_deinit(&live->view_index);
	vec_deinit(&live->log);
	vec_deinit(&live->fresh);
	arena_deinit(&live->arena);
	modules_deinit(&live->modules);
	pthread_rwlock_destroy(&live->lock);
	free(live);
}

static struct live_event *event_new(struct live *live, uint64_t time_ns, enum live_kind kind,
				    uint32_t pid)
{
	struct live_event *event = vec_push(&live->fresh);
	if (event)
		*event = (struct live_event){.time_ns = time_ns, .sequence = ++live->sequence,
					     .kind = kind, .pid = pid};
	return event;
}

/* Returns the module of the mapped file; NULL when out of memory. */
static const struct module *add_module(struct live *live, const struct sp_record *record)
{
	struct sp_mmap mmap = record->mmap;
	/* Unwinding treats all memory without a file alike, so it is one module. */
	if (strncmp(mmap.filename, "//anon", 6) == 0)
		mmap.pid = 0;
	pthread_rwlock_wrlock(&live->lock);
	struct module *module = modules_add_user(&live->modules, &mmap, modules_is_code(record));
	if (module && module->is_64bit != live->modules.is_64bit)
		module->is_64bit = live->modules.is_64bit;
	pthread_rwlock_unlock(&live->lock);
	return module;
}

static bool add_mapping(struct live *live, const struct sp_record *record)
{
	const struct sp_mmap *mmap = &record->mmap;
	uint16_t cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (mmap->size == 0 || modules_is_outside(mmap->pid) ||
	    cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    cpumode == PERF_RECORD_MISC_GUEST_USER)
		return true;
	const struct module *module = add_module(live, record);
	struct live_event *event =
		module ? event_new(live, record->id.time_ns, LIVE_MAP, mmap->pid) : NULL;
	if (!event)
		return false;
	event->mapping = modules_mapping(module, mmap);
	return true;
}

static bool add_change(struct live *live, const struct task_change *change)
{
	bool forks = change->kind == TASK_FORKED;
	if (change->kind == TASK_RENAMED || (forks && modules_is_outside(change->pid)))
		return true;
	enum live_kind kind = change->kind == TASK_ENDED ? LIVE_EXIT
			      : forks && !change->is_process ? LIVE_THREAD
			      : forks && !change->is_synthesised ? LIVE_FORK
								 : LIVE_START;
	struct live_event *event = event_new(live, change->time_ns, kind, change->pid);
	if (event && forks)
		event->parent = change->parent_pid;
	return event;
}

struct sp_error *live_add(struct live *live, const struct sp_record *record)
{
	struct task_change change;
	if (record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2)
		NEED(add_mapping(live, record));
	else if (task_change_of(record, &change))
		NEED(add_change(live, &change));
	return NULL;
}

static struct space *space_find(const struct live *live, uint32_t pid)
{
	const uint32_t *index = u64map_find(&live->space_index, pid);
	return index ? &live->spaces.items[*index] : NULL;
}

/*
 * Returns the address space of a process, which is created if it is new. Valid until the next call;
 * NULL when out of memory.
 */
static struct space *space_get(struct live *live, uint32_t pid)
{
	struct space *space = u64map_item(&live->space_index, pid, &live->spaces);
	if (space)
		space->pid = pid;
	return space;
}

static struct live_view *view_find(const struct live *live, uint32_t number)
{
	const uint32_t *index = u64map_find(&live->view_index, number);
	return index ? &live->views.items[*index] : NULL;
}

/* Creates a view with these mappings, which begins at `time_ns`. NULL when out of memory. */
static struct live_view *view_new(struct live *live, struct moments *timeline, uint64_t time_ns,
				  uint64_t space, struct mapping_node *root)
{
	if (!vec_reserve(&live->views, live->views.count + 1) ||
	    !vec_reserve(&live->free_views, live->views.count + 1) ||
	    !vec_reserve(timeline, timeline->count + 1))
		return NULL;
	uint32_t number = live->last_view + 1 ? live->last_view + 1 : 1;
	uint32_t index = live->free_views.count ? *vec_last(&live->free_views)
						: (uint32_t)live->views.count;
	/* The new moment, which comes last, is removed again, because it has no view. */
	if (!u64map_put(&live->view_index, number, index, NULL))
		return NULL;
	struct moment *moment = timeline_add(timeline, time_ns);
	if (!moment) {
		u64map_remove(&live->view_index, number);
		return NULL;
	}
	if (live->free_views.count)
		live->free_views.count--;
	else
		live->views.count++;
	live->last_view = moment->view = number;
	live->views.items[index] =
		(struct live_view){.number = number, .space = space, .root = root};
	return &live->views.items[index];
}

static bool replay_map(struct live *live, const struct live_event *event)
{
	struct space *space = space_get(live, event->pid);
	if (!space)
		return false;
	struct moments *timeline = &space->timeline;
	const struct moment *moment = timeline->count ? vec_last(timeline) : NULL;
	struct live_view *view = moment ? view_find(live, moment->view) : NULL;
	struct mapping_node *root = view ? view->root : NULL;
	uint64_t number = view ? view->space : 0;
	if (mapping_overlap(root, &event->mapping) == MAPPING_COVERED)
		return true;
	/* A view that began at this time may be changed if no caller knows it. */
	if (!view || view->shared || view->seen || moment->from_ns != event->time_ns) {
		if (view)
			view->shared = true;
		view = view_new(live, timeline, event->time_ns, number, root);
	}
	return view && mapping_insert(&live->arena, &view->root, view->number, &event->mapping);
}

/* Returns whether an event came late and is older than the known state of the space. */
static bool is_outdated(const struct space *space, const struct live_event *event)
{
	return event->late && space->timeline.count &&
	       vec_last(&space->timeline)->from_ns >= event->time_ns;
}

static bool replay_start(struct live *live, const struct live_event *event)
{
	struct space *space = space_get(live, event->pid);
	if (space && is_outdated(space, event))
		return true;
	/* The event's number is used for the view, so that a replay gives the same number. */
	return space && view_new(live, &space->timeline, event->time_ns, event->sequence, NULL);
}

static bool replay_fork(struct live *live, const struct live_event *event)
{
	struct space *child = space_get(live, event->pid);
	const struct space *parent = space_find(live, event->parent);
	if (!child || !parent || !parent->timeline.count)
		return replay_start(live, event);
	if (is_outdated(child, event))
		return true;
	uint32_t number = vec_last(&parent->timeline)->view;
	struct live_view *view = view_find(live, number);
	struct moment *moment = view ? timeline_add(&child->timeline, event->time_ns) : NULL;
	if (!moment)
		return false;
	moment->view = number;
	view->shared = true;
	return true;
}

static bool replay(struct live *live, const struct live_event *event)
{
	switch (event->kind) {
	case LIVE_MAP:
		return replay_map(live, event);
	case LIVE_START:
		return replay_start(live, event);
	case LIVE_FORK:
		return replay_fork(live, event);
	case LIVE_THREAD:
	case LIVE_EXIT:
	case LIVE_END:
		break; /* EXIT events are applied when they leave the log. */
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct live_event *x = a, *y = b;
	return u64_order(x->time_ns, y->time_ns) ?: u64_order(x->sequence, y->sequence);
}

/*
 * Merges the new events into the log. *index_ret is the first event to replay. Returns false when out
 * of memory.
 */
static bool merge(struct live *live, size_t *index_ret)
{
	uint64_t first_ns = UINT64_MAX;
	if (!vec_reserve(&live->log, live->log.count + live->fresh.count))
		return false;
	vec_each (event, &live->fresh) {
		event->late = event->time_ns < live->floor_ns;
		live->late += event->late;
		if (event->late)
			event->time_ns = live->floor_ns;
		if (event->time_ns < first_ns)
			first_ns = event->time_ns;
	}
	size_t index = live->log.count;
	while (index && live->log.items[index - 1].time_ns > first_ns)
		index--;

	/* Undoes the events of the log from `index` on, which are newer than `first_ns`. */
	for (size_t i = index; i < live->log.count; i++) {
		struct space *space = space_find(live, live->log.items[i].pid);
		if (!space)
			continue;
		struct moments *timeline = &space->timeline;
		while (timeline->count && vec_last(timeline)->from_ns > first_ns)
			timeline->count--;
	}
	memcpy(live->log.items + live->log.count, live->fresh.items,
	       live->fresh.count * sizeof(*live->fresh.items));
	live->log.count += live->fresh.count;
	qsort(live->log.items + index, live->log.count - index, sizeof(*live->log.items), by_time);
	*index_ret = index;
	return true;
}

struct sp_error *live_apply(struct live *live)
{
	size_t index;
	bool good = true;
	if (!live->fresh.count)
		return NULL;
	pthread_rwlock_wrlock(&live->lock);
	good = merge(live, &index);
	for (; good && index < live->log.count; index++)
		good = replay(live, &live->log.items[index]);
	pthread_rwlock_unlock(&live->lock);
	live->happened += live->fresh.count;
	live->fresh.count = 0;
	return good ? NULL : error_no_memory();
}

uint32_t live_view(struct live *live, uint32_t pid, uint64_t time_ns)
{
	const struct space *space = space_find(live, pid);
	const struct moment *moment = space ? timeline_find(&space->timeline, time_ns) : NULL;
	if (!moment)
		return 0;
	/* Only this thread uses `seen`, so no lock is needed. */
	view_find(live, moment->view)->seen = true;
	return moment->view;
}

uint64_t live_space(const struct live *live, uint32_t view)
{
	const struct live_view *found = view_find(live, view);
	return found ? found->space : 0;
}

struct location live_locate(struct live *live, uint32_t view, uint64_t ip)
{
	struct location location = {.offset = ip, .ip = ip};
	pthread_rwlock_rdlock(&live->lock);
	const struct live_view *found = view_find(live, view);
	const struct mapping *mapping = found ? mapping_find(found->root, ip) : NULL;
	if (mapping) {
		location.module = live->modules.list.items[mapping->module];
		location.pid = mapping->pid;
		if (!mapping->fixed)
			location.offset = ip - mapping->start + mapping->file_offset;
	}
	pthread_rwlock_unlock(&live->lock);
	return location;
}

/* Removes an event from the log and counts its threads. Returns false when out of memory. */
static bool retire(struct live *live, const struct live_event *event)
{
	struct space *space = space_get(live, event->pid);
	if (!space)
		return false;
	bool is_new = event->kind == LIVE_FORK || (event->kind == LIVE_START && event->parent);
	if (event->kind == LIVE_EXIT || event->kind == LIVE_END) {
		if (space->threads > 1 && event->kind == LIVE_EXIT)
			space->threads--;
		else
			space->ended_ns = event->time_ns ? event->time_ns : 1;
		return true;
	}
	/* A main thread that ended before the recording precedes its process's others. */
	bool is_next = event->kind == LIVE_THREAD && !space->ended_ns;
	space->ended_ns = 0;
	if (is_new || !space->threads)
		space->threads = 1;
	space->threads += is_next;
	return true;
}

/* Removes moments that are no longer needed, and marks the views that are still used. */
static void prune_space(struct live *live, struct space *space)
{
	struct moments *timeline = &space->timeline;
	size_t keep = 0;
	while (keep + 1 < timeline->count && timeline->items[keep + 1].from_ns <= live->floor_ns)
		keep++;
	timeline->count -= keep;
	if (keep)
		memmove(timeline->items, timeline->items + keep,
			timeline->count * sizeof(*timeline->items));
	vec_each (item, timeline)
		view_find(live, item->view)->used = true;
}

static bool has_ended(const struct live *live, const struct space *space)
{
	const struct moments *timeline = &space->timeline;
	return space->ended_ns && space->ended_ns <= live->floor_ns &&
	       (!timeline->count || vec_last(timeline)->from_ns <= space->ended_ns);
}

/* Trees on their way to a new arena. */
struct move {
	struct arena arena;
	const struct modules *from;
	struct modules *modules; /* the new table; NULL: modules stay */
	uint32_t *index_of;      /* by the old index: the new one, plus 1; 0: not copied yet */
};

static bool is_full(const struct move *move)
{
	return move->arena.total + (move->modules ? modules_bytes(move->modules) : 0) >= KEPT_BYTES;
}

static bool move_module(struct move *move, struct mapping *mapping)
{
	if (!move->modules)
		return true;
	uint32_t *index = &move->index_of[mapping->module];
	if (!*index) {
		const struct module *copy =
			modules_copy(move->modules, move->from->list.items[mapping->module]);
		if (!copy)
			return false;
		*index = copy->index + 1;
	}
	mapping->module = *index - 1;
	return true;
}

/*
 * Copies a tree to a new arena. A node that is already copied has height 0, and `left` leads to the
 * copy. Returns false when out of memory. The tree is incomplete if the arena is full afterwards.
 */
static bool move_tree(struct move *move, struct mapping_node **root)
{
	struct mapping_node *old = *root;
	if (!old)
		return true;
	if (!old->height) {
		*root = old->left;
		return true;
	}
	*root = NULL;
	if (is_full(move))
		return true;
	struct mapping_node *node = arena_alloc(&move->arena, sizeof(*node));
	if (!node)
		return false;
	*node = *old;
	old->height = 0;
	old->left = node;
	*root = node;
	return move_module(move, &node->mapping) && move_tree(move, &node->left) &&
	       move_tree(move, &node->right);
}

/*
 * Copies the trees of the views that are small, or of all. Trees beyond the limit, or without
 * memory, become empty, and live->dropped counts them. Returns false when out of memory.
 */
static bool move_views(struct live *live, struct move *move, uint32_t height_max)
{
	bool good = true;
	vec_each (view, &live->views) {
		if (!view->root || view->moved || view->root->height > height_max)
			continue;
		view->moved = true;
		if (good && !is_full(move))
			good = move_tree(move, &view->root);
		/* The tree is incomplete, or still in the old arena. */
		if (!good || is_full(move)) {
			view->root = NULL;
			live->dropped++;
		}
	}
	return good;
}

/*
 * Drops unused views, copies all used trees to a new arena, and frees the old one. When out of
 * memory, the trees are dropped: nothing is mapped any more.
 */
static bool move_trees(struct live *live, struct move *move)
{
	size_t kept = 0;
	for (size_t i = 0; i < live->spaces.count; i++) {
		struct space *space = &live->spaces.items[i];
		if (has_ended(live, space)) {
			vec_deinit(&space->timeline);
			u64map_remove(&live->space_index, space->pid);
			continue;
		}
		prune_space(live, space);
		*u64map_find(&live->space_index, space->pid) = kept;
		live->spaces.items[kept++] = *space;
	}
	live->spaces.count = kept;

	/*
	 * Removes views that no timeline uses. A late record may remove a view that a caller has
	 * just got, so views stay until the next call.
	 */
	for (size_t i = 0; i < live->views.count; i++) {
		struct live_view *view = &live->views.items[i];
		if (!view->number)
			continue;
		if (!view->used && (view->orphan || !view->seen)) {
			u64map_remove(&live->view_index, view->number);
			*view = (struct live_view){0};
			/* view_new() reserved the room. */
			*vec_push(&live->free_views) = i;
			continue;
		}
		view->orphan = !view->used;
		view->used = false;
	}
	vec_each (item, &live->views)
		item->moved = false;
	bool good = move_views(live, move, SMALL_HEIGHT);
	good = move_views(live, move, UINT32_MAX) && good;
	arena_deinit(&live->arena);
	live->arena = move->arena;
	live->kept_bytes = live->arena.total;
	live->happened = 0;
	live->kept = live->views.count - live->free_views.count;
	return good;
}

struct sp_error *live_expire(struct live *live, uint64_t before_ns)
{
	size_t count = 0;
	bool good = true;
	while (count < live->log.count && live->log.items[count].time_ns < before_ns && good)
		good = retire(live, &live->log.items[count++]);
	live->log.count -= count;
	if (count)
		memmove(live->log.items, live->log.items + count,
			live->log.count * sizeof(*live->log.items));
	if (before_ns > live->floor_ns)
		live->floor_ns = before_ns;
	bool many = live->happened >= COPY_AFTER && live->happened >= 2 * live->kept;
	if (!good || (!many && live->arena.total < live->kept_bytes + TREES_GROWTH))
		return good ? NULL : error_no_memory();
	struct move move = {0};
	pthread_rwlock_wrlock(&live->lock);
	good = move_trees(live, &move);
	pthread_rwlock_unlock(&live->lock);
	return good ? NULL : error_no_memory();
}

bool live_has_many_modules(const struct live *live)
{
	size_t bytes = modules_bytes(&live->modules);
	return bytes > MODULES_BYTES && bytes > 2 * live->modules_kept;
}

struct sp_error *live_drop_modules(struct live *live)
{
	struct modules modules = {.is_64bit = live->modules.is_64bit};
	CLEANUP_FREE uint32_t *index_of =
		calloc(live->modules.list.count + 1, sizeof(*index_of));
	NEED(index_of);
	struct move move = {.from = &live->modules, .modules = &modules, .index_of = index_of};
	pthread_rwlock_wrlock(&live->lock);
	bool good = move_trees(live, &move);
	for (size_t i = 0; i < live->log.count && good; i++)
		if (live->log.items[i].kind == LIVE_MAP)
			good = move_module(&move, &live->log.items[i].mapping);
	for (size_t i = 0; i < live->fresh.count && good; i++)
		if (live->fresh.items[i].kind == LIVE_MAP)
			good = move_module(&move, &live->fresh.items[i].mapping);
	/* Without memory, mappings of old and new modules would be mixed. */
	for (size_t i = 0; i < live->views.count && !good; i++)
		live->views.items[i].root = NULL;
	if (!good)
		live->log.count = live->fresh.count = 0;
	modules_deinit(&live->modules);
	live->modules = modules;
	live->modules_kept = modules_bytes(&live->modules);
	pthread_rwlock_unlock(&live->lock);
	return good ? NULL : error_no_memory();
}

struct sp_error *live_retain(struct live *live, const uint32_t *pids, size_t count,
			     uint64_t time_ns)
{
	vec_each (space, &live->spaces) {
		uint32_t pid = space->pid;
		if (!bsearch(&pid, pids, count, sizeof(*pids), u32_compare) &&
		    !event_new(live, time_ns, LIVE_END, pid))
			return error_no_memory();
	}
	return NULL;
}

struct live_counts live_counts(const struct live *live)
{
	return (struct live_counts){
		.spaces = live->spaces.count,
		.views = live->views.count - live->free_views.count,
		.events = live->log.count,
		.modules = live->modules.list.count,
		.late = live->late,
		.dropped = live->dropped,
	};
}
