/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lengths of instructions, and functions divided into them, of all machines that are known and of
 * programs that may hold anything.
 */
#include <sprof/private/instruction.h>

#include <elf.h>
#include <stdlib.h>
#include "annotation/code_sweep.h"
#include "fuzz.h"

#define SAMPLES_MAX 64

/*
 * Divides the code, with samples at places that its bytes say. Its parts must follow each other,
 * each hole must be counted, and each sample must begin a part.
 */
static void sweep(uint16_t machine, const uint8_t *data, size_t size, uint64_t near)
{
	uint64_t samples[SAMPLES_MAX], at = 0, listed = 0;
	size_t count = 0, next = 0;
	for (; count < SAMPLES_MAX && count < size && at + data[count] < size; count++) {
		samples[count] = at + data[count];
		at = samples[count] + 1;
	}
	const struct code_sweep code = {.code = data, .size = size, .machine = machine,
					.samples = samples, .sample_count = count, .near = near};
	struct code_extents extents = {0};
	uint64_t end = 0;
	if (!code_sweep_run(&code, &extents))
		abort();
	for (size_t i = 0; i < extents.count; i++) {
		const struct code_extent *extent = &extents.items[i];
		if (!extent->size || extent->offset < end || extent->size > size - extent->offset ||
		    extent->follows_gap != (extent->offset > end))
			__builtin_trap();
		next += next < count && samples[next] == extent->offset;
		listed += extent->size;
		end = extent->offset + extent->size;
	}
	if (next != count || listed + extents.left_out != size)
		__builtin_trap();
	vec_deinit(&extents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_RISCV, EM_S390};
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		for (size_t at = 0; at < size;) {
			size_t length = sp_instruction_length(machines[i], data + at, size - at);
			if (length > size - at || length > SP_INSTRUCTION_MAX)
				__builtin_trap();
			if (sp_instruction_leaves(machines[i], data + at, size - at) && !length)
				__builtin_trap();
			at += length ? length : 1;
		}
		sweep(machines[i], data, size, UINT64_MAX);
		sweep(machines[i], data, size, 8);
	}
	return 0;
}
