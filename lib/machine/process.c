/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/process.h"

/* Number in place of the module while the program's file is not mapped. */
#define UNMAPPED UINT32_MAX

void replaced_code_deinit(struct replaced_code *replaced)
{
	u64map_deinit(&replaced->programs);
	u64map_deinit(&replaced->unproven);
}

bool replaced_code_exec(struct replaced_code *replaced, uint32_t pid)
{
	uint32_t *slot = u64map_put(&replaced->programs, pid, UNMAPPED, NULL);
	if (slot)
		*slot = UNMAPPED;
	return slot != NULL;
}

static uint64_t unproven_key(uint32_t pid, uint32_t module)
{
	return (uint64_t)pid << 32 | module;
}

/* Returns the file's code that has exactly the place of a new mapping, or NULL. */
static const struct mapping *find_same_place(const struct modules *modules,
					     const struct mapping_node *root,
					     const struct mapping *mapping)
{
	const struct mapping *old = mapping_find(root, mapping->start);
	if (!old || old->start != mapping->start || old->end != mapping->end)
		return NULL;
	const struct module *module = modules->list.items[old->module];
	bool is_file = module->kind == MODULE_FILE && !modules_may_be_jit(module);
	return is_file && module->is_code ? old : NULL;
}

/* Maps memory without a file around the code that stays. */
static bool map_memory(struct replaced_code *replaced, const struct modules *modules,
		       const struct replaced_mapping *event)
{
	struct mapping part = event->mapping;
	const uint64_t end = part.end;
	while (part.start < end) {
		const struct moments *space = event->space;
		const struct mapping_node *root =
			space->count ? event->views->items[vec_last(space)->view].root : NULL;
		const struct mapping *kept = mapping_find_program(root, part.start, end);
		if (!kept && event->is_code)
			kept = find_same_place(modules, root, &event->mapping);
		part.end = kept ? kept->start : end;
		uint64_t next = kept ? kept->end : end;
		if (kept && event->is_code &&
		    !u64map_put(&replaced->unproven, unproven_key(part.pid, kept->module),
				kept->module, NULL))
			return false;
		if (part.start < part.end &&
		    !views_map(event->views, event->space, event->time_ns, &part))
			return false;
		part.file_offset += next - part.start;
		part.start = next;
	}
	return true;
}

bool replaced_code_map(struct replaced_code *replaced, const struct modules *modules,
	       const struct replaced_mapping *event)
{
	struct mapping mapping = event->mapping;
	const struct module *module = modules->list.items[mapping.module];
	if (modules_may_be_jit(module))
		return map_memory(replaced, modules, event);
	if (event->is_code && replaced->unproven.count)
		u64map_remove(&replaced->unproven, unproven_key(mapping.pid, mapping.module));
	/* Exec maps the program's file before all others. */
	uint32_t *program = u64map_find(&replaced->programs, mapping.pid);
	if (program && *program == UNMAPPED && module->kind == MODULE_FILE)
		*program = mapping.module;
	mapping.is_program = program && *program == mapping.module && event->is_code;
	return views_map(event->views, event->space, event->time_ns, &mapping);
}

void replaced_code_seal(struct replaced_code *replaced, const struct modules *modules)
{
	for (size_t i = 0; i < replaced->unproven.capacity; i++)
		if (replaced->unproven.entries[i].used)
			modules->list.items[replaced->unproven.entries[i].value]->is_moved = true;
	replaced_code_deinit(replaced);
}

/*
 * Limit of views for replaced JIT code. With 100,000 functions, a new version of the tree takes 1.4 KB,
 * so that the limit is at most 280 MB.
 */
#define REMADE_MAX 200000

const struct moment *timeline_find(const struct moments *timeline, uint64_t time_ns)
{
	size_t count = sorted_up_to(timeline->items, timeline->count, .from_ns, time_ns);
	return count ? &timeline->items[count - 1] : NULL;
}

uint64_t timeline_until(const struct moments *timeline, const struct moment *moment)
{
	size_t next = moment ? (size_t)(moment - timeline->items) + 1 : 0;
	return next < timeline->count ? timeline->items[next].from_ns : UINT64_MAX;
}

struct moment *timeline_add(struct moments *timeline, uint64_t from_ns)
{
	if (timeline->count && vec_last(timeline)->from_ns == from_ns)
		return vec_last(timeline);
	struct moment *moment = vec_push(timeline);
	if (moment)
		*moment = (struct moment){.from_ns = from_ns};
	return moment;
}

void timelines_deinit(struct timelines *timelines)
{
	vec_each (timeline, timelines)
		vec_deinit(timeline);
	vec_deinit(timelines);
	u64map_deinit(&timelines->index_of);
}

struct moments *timelines_find(const struct timelines *timelines, uint32_t id)
{
	const uint32_t *index = u64map_find(&timelines->index_of, id);
	return index ? &timelines->items[*index] : NULL;
}

struct moments *timelines_get(struct timelines *timelines, uint32_t id)
{
	return u64map_item(&timelines->index_of, id, timelines);
}

void views_deinit(struct views *views)
{
	arena_deinit(&views->arena);
	vec_deinit(views);
}

/* Appends a view with the mappings of `as` to the timeline, from `time_ns` on. */
static bool add_view(struct views *views, struct moments *timeline, uint64_t time_ns,
		     struct view as)
{
	struct moment *moment = NULL;
	struct view *view = vec_push(views);
	if (view)
		moment = timeline_add(timeline, time_ns);
	if (!moment)
		return false;
	*view = (struct view){.root = as.root, .made = as.made, .complete = as.complete};
	moment->view = views->count - 1;
	return true;
}

bool views_start(struct views *views, struct moments *timeline, uint64_t time_ns, bool complete)
{
	return add_view(views, timeline, time_ns, (struct view){.complete = complete});
}

void views_set_complete(struct views *views, const struct moments *timeline, bool complete)
{
	views->items[vec_last(timeline)->view].complete = complete;
}

bool views_fork(struct views *views, struct moments *timeline, const struct moments *parent,
		uint64_t time_ns)
{
	uint32_t view = vec_last(parent)->view;
	views->items[view].shared = true;
	/* Later mappings of the parent are read from /proc, or unknown. */
	if (!time_ns)
		return add_view(views, timeline, time_ns,
				(struct view){.root = views->items[view].root,
					      .made = views->items[view].made});
	struct moment *moment = timeline_add(timeline, time_ns);
	if (!moment)
		return false;
	moment->view = view;
	return true;
}

/* Returns whether replaced JIT code may begin a new view. Counts refusals. */
static bool may_part(struct views *views)
{
	if (views->remade == REMADE_MAX) {
		views->unparted++;
		return false;
	}
	views->remade++;
	return true;
}

static bool insert(struct views *views, struct moments *timeline, uint64_t time_ns,
		   const struct mapping *mapping, bool made)
{
	if (!timeline->count && !views_start(views, timeline, time_ns, false))
		return false;
	const struct moment *moment = vec_last(timeline);
	const struct view *now = &views->items[moment->view];
	enum mapping_overlap overlap = mapping_overlap(made ? now->made : now->root, mapping);
	if (overlap == MAPPING_COVERED)
		return true;
	/* A view that began at this time is unknown to callers, so it may change. */
	bool seen = overlap == MAPPING_REPLACES && moment->from_ns != time_ns;
	if (seen && made)
		seen = may_part(views);
	if ((now->shared || seen) && views->count < views->limit &&
	    !add_view(views, timeline, time_ns, *now))
		return false;
	uint32_t number = vec_last(timeline)->view;
	struct view *view = &views->items[number];
	return mapping_insert(&views->arena, made ? &view->made : &view->root, number, mapping);
}

bool views_map(struct views *views, struct moments *timeline, uint64_t time_ns,
	       const struct mapping *mapping)
{
	return insert(views, timeline, time_ns, mapping, false);
}

bool views_make(struct views *views, struct moments *timeline, uint64_t time_ns,
		const struct mapping *code)
{
	return insert(views, timeline, time_ns, code, true);
}
