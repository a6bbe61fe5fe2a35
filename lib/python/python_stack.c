/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "python/python_stack.h"

#include <string.h>

#define INTERPRETERS_MAX 64
#define THREADS_MAX 4096
#define WALKED_MAX 16384 /* frames of one group */
#define HALF (PYTHON_GROUP_FRAMES_MAX / 2)

/* Owners from here on are no Python code's frames, but entry frames on the C stack (since 3.12). */
#define OWNER_ENTRY 3

/* Low bits of a reference to a code object, which 3.14 uses as marks. */
#define CODE_TAG UINT64_C(3)

static bool is_thread(struct python_memory *memory, const struct python_layout *layout,
		      uint64_t number, uint64_t thread)
{
	uint64_t found;
	return thread && python_memory_word(memory, thread + layout->thread_native_id, &found) &&
	       found == number;
}

bool python_thread_find(struct python_memory *memory, const struct python_runtime *runtime,
			uint64_t number, uint64_t *thread)
{
	const struct python_layout *layout = &runtime->layout;
	uint64_t interpreter, at;
	unsigned int threads = 0;
	if (is_thread(memory, layout, number, *thread))
		return true;
	if (!python_memory_word(memory, runtime->runtime + layout->interpreters, &interpreter))
		return false;
	for (unsigned int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		if (!python_memory_word(memory, interpreter + layout->threads, &at))
			return false;
		for (; at && threads < THREADS_MAX; threads++) {
			if (is_thread(memory, layout, number, at)) {
				*thread = at;
				return true;
			}
			if (!python_memory_word(memory, at + layout->thread_next, &at))
				return false;
		}
		if (!python_memory_word(memory, interpreter + layout->interpreter_next, &interpreter))
			return false;
	}
	memory->damaged |= interpreter || threads == THREADS_MAX;
	return false;
}

/* A frame as it is in memory. */
struct raw_frame {
	uint64_t code, previous, instr;
	uint8_t owner;
	bool is_entry;
};

static uint64_t word_in(const uint8_t *bytes, uint32_t offset)
{
	uint64_t word;
	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* In one piece: the thread runs on while hundreds of frames are read. */
static bool read_frame(struct python_memory *memory, const struct python_layout *layout,
		       uint64_t address, struct raw_frame *ret)
{
	uint8_t bytes[PYTHON_FRAME_BYTES];
	if (!python_memory_get(memory, address, bytes, layout->frame_size))
		return false;
	*ret = (struct raw_frame){
		.code = word_in(bytes, layout->frame_code) & ~CODE_TAG,
		.previous = word_in(bytes, layout->frame_previous),
		.instr = word_in(bytes, layout->frame_instr),
		.owner = bytes[layout->frame_owner],
		.is_entry = layout->frame_is_entry && bytes[layout->frame_is_entry],
	};
	return true;
}

/*
 * Adds a group's frame. After the first half of the largest group, the place of the oldest frame of
 * the second half is used again: *turn is the number of the next frame there.
 */
static bool add_frame(struct python_stack *stack, uint64_t address, const struct raw_frame *raw,
		      uint32_t *turn)
{
	struct python_group *group = &stack->groups[stack->group_count];
	uint32_t place = stack->frame_count;
	if (group->count == PYTHON_GROUP_FRAMES_MAX)
		place = group->first + HALF + (*turn)++ % HALF;
	else if (stack->frame_count == PYTHON_FRAMES_MAX)
		return false;
	else
		stack->frame_count++, group->count++;
	stack->frames[place] = (struct python_frame){
		.frame = address, .code = raw->code, .instr = raw->instr,
	};
	return true;
}

/* Orders the second half of a group with frames that were omitted, and marks their place. */
static void mark_omitted(struct python_stack *stack, uint32_t turn)
{
	struct python_frame *half = &stack->frames[stack->groups[stack->group_count].first + HALF];
	struct python_frame ordered[HALF];
	if (!turn)
		return;
	for (uint32_t i = 0; i < HALF; i++)
		ordered[i] = half[(turn + i) % HALF];
	memcpy(half, ordered, sizeof(ordered));
	*half = (struct python_frame){0};
}

/*
 * Reads frames from *address up to the group's outermost. *address is then the next group's first frame
 * (0: none), and *entry the group's entry frame (0: it has none). False at damage or a limit.
 */
static bool read_group(struct python_memory *memory, const struct python_layout *layout,
		       uint64_t *address, uint64_t *entry, struct python_stack *stack)
{
	uint32_t turn = 0;
	bool good = true, is_last = false;
	*entry = 0;
	for (uint32_t walked = 0; good && *address && !is_last; walked++) {
		struct raw_frame raw;
		uint64_t at = *address;
		good = walked < WALKED_MAX && read_frame(memory, layout, at, &raw);
		if (!good)
			break;
		*address = raw.previous;
		is_last = raw.is_entry || raw.owner >= OWNER_ENTRY;
		if (raw.owner >= OWNER_ENTRY)
			*entry = at;
		else
			good = add_frame(stack, at, &raw, &turn);
	}
	mark_omitted(stack, turn);
	return good;
}

static bool begin_group(struct python_stack *stack, uint64_t place)
{
	if (stack->group_count == PYTHON_GROUPS_MAX)
		return false;
	stack->groups[stack->group_count] =
		(struct python_group){.place = place, .first = stack->frame_count};
	return true;
}

/*
 * Empties the last group if it has the frame that `cframe` runs, which is another group's: a call that has
 * just begun has linked its _PyCFrame, and not yet its frame.
 */
static void check_group(struct python_memory *memory, const struct python_layout *layout,
			uint64_t cframe, struct python_stack *stack)
{
	struct python_group *group = &stack->groups[stack->group_count];
	uint64_t frame;
	if (!python_memory_word(memory, cframe + layout->cframe_frame, &frame) || !frame)
		return;
	for (uint32_t i = 0; i < group->count; i++)
		if (stack->frames[group->first + i].frame == frame) {
			stack->frame_count = group->first;
			group->count = 0;
		}
}

static bool read_by_cframes(struct python_memory *memory, const struct python_layout *layout,
			    uint64_t cframe, struct python_stack *stack)
{
	uint64_t previous, frame, entry;
	while (cframe) {
		if (!python_memory_word(memory, cframe + layout->cframe_frame, &frame) ||
		    !python_memory_word(memory, cframe + layout->cframe_previous, &previous) ||
		    !begin_group(stack, cframe))
			return false;
		/* The thread's first _PyCFrame runs nothing: its frame is not of a call. */
		bool whole = !previous || read_group(memory, layout, &frame, &entry, stack);
		if (previous)
			check_group(memory, layout, previous, stack);
		stack->group_count++;
		if (!whole)
			return false;
		cframe = previous;
	}
	return true;
}

static bool read_by_entries(struct python_memory *memory, const struct python_layout *layout,
			    uint64_t frame, struct python_stack *stack)
{
	while (frame) {
		uint64_t entry;
		if (!begin_group(stack, 0))
			return false;
		bool whole = read_group(memory, layout, &frame, &entry, stack);
		stack->groups[stack->group_count++].place = entry;
		if (!whole)
			return false;
	}
	return true;
}

void python_stack_read(struct python_memory *memory, const struct python_layout *layout,
		       uint64_t thread, struct python_stack *ret)
{
	uint64_t first;
	ret->frame_count = ret->group_count = 0;
	ret->truncated = true;
	if (!python_memory_word(memory, thread + layout->thread_frame, &first))
		return;
	ret->truncated = !(layout->has_cframe ? read_by_cframes : read_by_entries)(memory, layout,
										    first, ret);
}
