/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Division of code into instructions: begins, gaps, samples inside of instructions, and bounds.
 * Sentences about an event's skid.
 */
#include "annotation/code_sweep.h"

#include <elf.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include "cmd/annotate/annotate.h"
#include "test.h"

/* Returns the extents as text: "0+1 1+3 …4+2", with "…" after a gap. */
static const char *sweep(const struct code_sweep *given, struct code_extents *extents)
{
	static char text[512];
	size_t size = 0;
	text[0] = '\0';
	vec_deinit(extents);
	*extents = (struct code_extents){.overlapping = 0};
	ck_assert(code_sweep_run(given, extents));
	for (size_t i = 0; i < extents->count; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s%llu+%u",
					 i ? " " : "", extents->items[i].follows_gap ? "…" : "",
					 (unsigned long long)extents->items[i].offset,
					 extents->items[i].size);
	return text;
}

/* push %rbp; mov %rsp, %rbp; nop; movabs $…, %rax; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x48, 0xb8, 1,
			       2,    3,	   4,	 5,    6,    7,	   8,	 0xc3};

TEST(instructions_from_begin_to_end)
{
	struct code_extents extents = {0};
	const uint64_t samples[] = {4};
	struct code_sweep of = {code, sizeof(code), EM_X86_64, samples, 1, UINT64_MAX};
	ck_assert_str_eq(sweep(&of, &extents), "0+1 1+3 4+1 5+10 15+1");
	ck_assert_uint_eq(extents.overlapping, 0);
	ck_assert_uint_eq(extents.left_out, 0);
	/* The last instruction is cut. */
	of.size = 8;
	ck_assert_str_eq(sweep(&of, &extents), "0+1 1+3 4+1 5+1 6+1 7+1");
	of.size = 0;
	ck_assert_str_eq(sweep(&of, &extents), "");
	vec_deinit(&extents);
}

TEST(a_sample_is_always_the_begin_of_an_instruction)
{
	struct code_extents extents = {0};
	const uint64_t samples[] = {2, 7, 8};
	const struct code_sweep of = {code, sizeof(code), EM_X86_64, samples, 3, UINT64_MAX};
	/* 89 e5: mov %esp, %ebp; 01 02 and 02 03: add */
	ck_assert_str_eq(sweep(&of, &extents), "0+1 1+1 2+2 4+1 5+2 7+1 8+2 10+2 12+1 13+1 14+2");
	ck_assert_uint_eq(extents.overlapping, 3);
	vec_deinit(&extents);
}

TEST(only_instructions_near_samples)
{
	struct code_extents extents = {0};
	uint8_t nops[64];
	const uint64_t samples[] = {20, 22, 50};
	memset(nops, 0x90, sizeof(nops));
	struct code_sweep of = {nops, sizeof(nops), EM_X86_64, samples, 3, 1};
	ck_assert_str_eq(sweep(&of, &extents), "…19+1 20+1 21+1 22+1 23+1 …49+1 50+1 51+1");
	ck_assert_uint_eq(extents.left_out, 64 - 8);
	/* In step with the begin: instructions have a fixed size. */
	of.machine = EM_AARCH64;
	const uint64_t aligned[] = {20, 40};
	of.samples = aligned;
	of.sample_count = 2;
	of.near = 4;
	ck_assert_str_eq(sweep(&of, &extents), "…16+4 20+4 24+4 …36+4 40+4 44+4");
	vec_deinit(&extents);
}

TEST(bytes_that_are_no_instruction)
{
	struct code_extents extents = {0};
	const uint8_t bad[] = {0x06, 0x07, 0x90};
	const uint64_t samples[] = {0};
	struct code_sweep of = {bad, sizeof(bad), EM_X86_64, samples, 1, UINT64_MAX};
	ck_assert_str_eq(sweep(&of, &extents), "0+1 1+1 2+1");
	/* A machine without known lengths. */
	of.machine = EM_NONE;
	ck_assert_str_eq(sweep(&of, &extents), "0+3");
	vec_deinit(&extents);
}

TEST(skid_of_accesses_and_probes)
{
	struct sp_event event = {.name = "mem:0x1000:w",
				 .attr = {.type = PERF_TYPE_BREAKPOINT,
					  .bp_type = HW_BREAKPOINT_W}};
	ck_assert_ptr_nonnull(strstr(annotate_skid(&event), "on x86"));
	event.attr.bp_type = HW_BREAKPOINT_X;
	ck_assert_int_eq(strncmp(annotate_skid(&event), "No skid", 7), 0);
	event = (struct sp_event){.name = "uprobe:./program:main", .attr.type = PERF_TYPE_MAX + 2};
	ck_assert_int_eq(strncmp(annotate_skid(&event), "No skid", 7), 0);
	event.name = "ibs_op//";
	ck_assert_int_eq(strncmp(annotate_skid(&event), "Skid", 4), 0);
}
