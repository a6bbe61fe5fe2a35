/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the frame sizes in a Go program's function table with its .debug_frame, which Go's linker
 * writes for each function:
 *
 *	go_frames FILE
 *
 * Prints the number of addresses that were compared, and those at which the sizes differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include "elf/call_frames.h"
#include "go/pclntab.h"
#include "unwind/cfi_row.h"

/* Every STEP-th address of a function is compared: no multiple of an instruction's size. */
#define STEP 3

static void check(struct sp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "go_frames: %s\n", sp_error_message(error));
	exit(1);
}

/* Returns the distance from the stack pointer to the CFA by .debug_frame; -1: unknown. */
static int64_t cfa_offset(const struct unwind_arch *arch, const struct cfi_table *table, uint64_t vaddr)
{
	struct cfi_entry entry;
	struct cfi_row row;
	if (!cfi_find(table, vaddr, &entry) || !cfi_row_make(arch, &entry, vaddr, &row) ||
	    row.cfa.kind != RULE_IS || row.cfa.column != arch->sp)
		return -1;
	return row.cfa.offset;
}

int main(int argc, char **argv)
{
	struct image *image;
	struct pclntab table;
	struct call_frames frames = {0};
	struct go_function function;
	unsigned long compared = 0, differing = 0;
	if (argc != 2)
		return 2;
	check(image_open(argv[1], &image));
	check(pclntab_read(image, &table));
	check(call_frames_read_debug(&frames, image));
	const struct unwind_arch *arch = arch_of_machine(image->machine);
	for (uint64_t i = 0; i < table.count; i++) {
		if (!pclntab_function(&table, i, &function))
			continue;
		for (uint64_t vaddr = function.start; vaddr < function.end; vaddr += STEP) {
			int64_t cfa = cfa_offset(arch, &frames.debug, vaddr);
			struct pc_values values;
			int32_t size;
			if (cfa < 0 || !pc_values_open(&table, function.frame_sizes, &values) ||
			    !pc_values_find(&values, vaddr - function.start, &size))
				continue;
			compared++;
			if (cfa == size + (arch->calls_push ? arch->word : 0))
				continue;
			differing++;
			printf("%#llx %s: %lld, %d\n", (unsigned long long)vaddr, function.name,
			       (long long)cfa, size);
		}
	}
	printf("%lu compared, %lu differ\n", compared, differing);
	call_frames_deinit(&frames);
	pclntab_deinit(&table);
	image_free(image);
	return 0;
}
