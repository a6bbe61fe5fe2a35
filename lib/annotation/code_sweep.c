/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "annotation/code_sweep.h"

#include <elf.h>
#include <sprof/private/instruction.h>

/* Size of bytes that are no instruction. */
static size_t step_of(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_386 || machine == EM_S390 ? 1 : 4;
}

/* Returns the size of the instruction, or of bytes that are none; at most `left`. */
static size_t size_at(const struct code_sweep *sweep, uint64_t offset, uint64_t left)
{
	size_t size = sp_instruction_length(sweep->machine, sweep->code + offset, left);
	size = size ? size : step_of(sweep->machine);
	return size < left ? size : (size_t)left;
}

static bool add_extent(struct code_extents *extents, uint64_t offset, size_t size)
{
	struct code_extent *extent = vec_push(extents);
	if (!extent)
		return false;
	*extent = (struct code_extent){.offset = offset, .size = size};
	extent->follows_gap =
		extents->count > 1 ? extent[-1].offset + extent[-1].size < offset : offset > 0;
	return true;
}

bool code_sweep_run(const struct code_sweep *sweep, struct code_extents *ret)
{
	size_t next = 0; /* the first sample at or after the offset */
	for (uint64_t offset = 0; offset < sweep->size;) {
		uint64_t before = UINT64_MAX, after = UINT64_MAX;
		while (next < sweep->sample_count && sweep->samples[next] < offset)
			next++;
		if (next)
			before = offset - sweep->samples[next - 1];
		if (next < sweep->sample_count)
			after = sweep->samples[next] - offset;
		size_t size = size_at(sweep, offset, sweep->size - offset);
		/* The next sample may be inside of these bytes. */
		size_t following = next + (after == 0);
		if (following < sweep->sample_count && sweep->samples[following] < offset + size) {
			size = sweep->samples[following] - offset;
			ret->overlapping++;
		}
		if (before > sweep->near && after > sweep->near)
			ret->left_out += size;
		else if (!add_extent(ret, offset, size))
			return false;
		offset += size;
	}
	return true;
}
