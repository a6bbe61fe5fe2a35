/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/annotate/jump_lanes.h"

#include <stdlib.h>
#include "list.h"
#include "memory.h"

/* Longest jump with a line, in instructions. */
#define LONGEST 100

struct jump {
	size_t first, last, from; /* indexes of instructions */
};

static int compare_jumps(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;
	size_t of_x = x->last - x->first, of_y = y->last - y->first;
	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Returns the index of the instruction at an address; `count`: none is listed. */
static size_t index_at(const struct sp_annotation *annotation, size_t count, uint64_t address)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sp_annotation_code(annotation, middle)->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && sp_annotation_code(annotation, low)->address == address ? low : count;
}

/* Returns whether the lines of the lane leave room for a jump. */
static bool is_free(const struct jump_lanes *lanes, const struct jump *jump, uint8_t lane)
{
	for (size_t i = jump->first; i <= jump->last; i++) {
		const struct jump_row *row = &lanes->rows[i];
		if ((row->through | row->top | row->bottom) & lane)
			return false;
	}
	return true;
}

static void draw(struct jump_lanes *lanes, const struct jump *jump, unsigned int number)
{
	uint8_t lane = (uint8_t)(1u << number);
	lanes->rows[jump->first].top |= lane;
	lanes->rows[jump->last].bottom |= lane;
	for (size_t i = jump->first + 1; i < jump->last; i++)
		lanes->rows[i].through |= lane;
	lanes->rows[jump->from].out |= lane;
	lanes->rows[jump->from == jump->first ? jump->last : jump->first].in |= lane;
	if (lanes->count <= number)
		lanes->count = number + 1;
}

static void place(struct jump_lanes *lanes, const struct jump *jump)
{
	for (unsigned int number = 0; number < JUMP_LANES; number++)
		if (is_free(lanes, jump, (uint8_t)(1u << number))) {
			draw(lanes, jump, number);
			return;
		}
	lanes->rows[jump->from].down = jump->from == jump->first;
	lanes->rows[jump->from].up = jump->from == jump->last;
}

void jump_lanes_init(struct jump_lanes *lanes, const struct sp_annotation *annotation)
{
	size_t count = sp_annotation_count(annotation);
	const struct sp_annotation_info *info = sp_annotation_info(annotation);
	LIST(struct jump) jumps = {0};
	*lanes = (struct jump_lanes){.rows = xcalloc(count + 1, sizeof(*lanes->rows))};
	for (size_t i = 0; i < count; i++) {
		const struct sp_code_instruction *one = sp_annotation_code(annotation, i);
		if (!one->has_target || one->is_call || one->target - info->address >= info->bytes)
			continue;
		size_t at = index_at(annotation, count, one->target);
		size_t length = at > i ? at - i : i - at;
		if (at == count || length > LONGEST || !length) {
			lanes->rows[i].down = one->target > one->address;
			lanes->rows[i].up = one->target <= one->address;
			continue;
		}
		*list_push(&jumps) = (struct jump){at < i ? at : i, at < i ? i : at, i};
	}
	/* Short jumps are nearest to the instructions. */
	if (jumps.count)
		qsort(jumps.items, jumps.count, sizeof(*jumps.items), compare_jumps);
	for (size_t i = 0; i < jumps.count; i++)
		place(lanes, &jumps.items[i]);
	free(jumps.items);
}

void jump_lanes_deinit(struct jump_lanes *lanes)
{
	free(lanes->rows);
}

int jump_lanes_width(const struct jump_lanes *lanes)
{
	return (int)lanes->count + 2;
}

void jump_lanes_put(const struct jump_lanes *lanes, size_t index, const struct term *term,
		    FILE *out)
{
	const struct jump_row *row = &lanes->rows[index];
	bool line = false; /* a line from an outer lane goes to the instruction */
	for (unsigned int number = lanes->count; number-- > 0;) {
		uint8_t lane = (uint8_t)(1u << number);
		if (row->top & lane)
			fputs(line ? term_glyph(term, "┬", "+") : term_glyph(term, "┌", "/"), out);
		else if (row->bottom & lane)
			fputs(line ? term_glyph(term, "┴", "+") : term_glyph(term, "└", "\\"), out);
		else if (row->through & lane)
			fputs(line ? term_glyph(term, "┼", "+") : term_glyph(term, "│", "|"), out);
		else
			fputs(line ? term_glyph(term, "─", "-") : " ", out);
		line |= (row->top | row->bottom) & lane;
	}
	if (row->in)
		fputs(term_glyph(term, "▸", ">"), out);
	else if (line)
		fputs(term_glyph(term, "─", "-"), out);
	else if (row->down)
		fputs(term_glyph(term, "↓", "v"), out);
	else if (row->up)
		fputs(term_glyph(term, "↑", "^"), out);
	else
		putc(' ', out);
	putc(' ', out);
}
