/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/replaced_code.h"

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
		const struct timeline *space = event->space;
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
