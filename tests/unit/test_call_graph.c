/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decision on stacks and rings, with limits, binaries and machines by hand. */
#include "capture/config/call_graph.h"

#include "base/cleanup.h"
#include "capture/config/ring_size.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

/* A decision with two CPUs, 8 GiB of memory, 997 Hz; and its result. */
struct made {
	struct capture_options options;
	struct rights rights;
	struct event_spec spec;
	struct event_specs specs;
	struct target_survey survey;
	struct call_graph_facts facts;
	struct notes notes;
	struct call_graph graph;
	struct ring_pages pages;
};

static char reason[] = "call chains by DWARF: /bin/true keeps no frame pointers";

static void make(struct made *made)
{
	*made = (struct made){
		.rights = {.mlock_kb = 516, .memlock_bytes = UINT64_MAX, .online_cpus = 2,
			   .page_size = 4096, .paranoid = 2, .max_sample_hz = 50000},
		.survey = {.note = reason},
		.facts = {.machine = "x86_64", .cpu_count = 2, .memory_bytes = 8192 * MIB,
			  .freq_hz = 997},
	};
	made->specs.items = &made->spec;
	made->specs.count = 1;
	made->facts.options = &made->options;
	made->facts.specs = &made->specs;
	made->facts.rights = &made->rights;
	made->facts.survey = &made->survey;
}

#define MADE CLEANUP(made_deinit) struct made

static void made_deinit(struct made *made)
{
	notes_deinit(&made->notes);
}

static struct sp_error *try(struct made *made)
{
	notes_deinit(&made->notes);
	made->notes = (struct notes){0};
	return call_graph_choose(&made->facts, &made->notes, &made->graph, &made->pages);
}

static void choose(struct made *made)
{
	ok_or_fail(try(made));
}

static bool notes_are(const struct made *made, size_t count, const uint32_t *kinds)
{
	bool same = made->notes.count == count;
	for (size_t i = 0; i < count && same; i++)
		same = made->notes.items[i].note.kind == kinds[i];
	return same;
}

#define NOTES(made, ...)                                                                           \
	notes_are(made, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

TEST(branches_exclude_call_chains_of_branches)
{
	MADE made;
	make(&made);
	made.options.fields.branch_type = PERF_SAMPLE_BRANCH_ANY;
	made.options.chains.call_graph = SP_CALL_GRAPH_FP;
	choose(&made);
	made.options.chains.call_graph = SP_CALL_GRAPH_LBR;
	fails_with(SP_ERROR_INVALID, try(&made));
}

TEST(requests_are_kept)
{
	static const enum sp_call_graph kinds[] = {SP_CALL_GRAPH_NONE, SP_CALL_GRAPH_FP,
						   SP_CALL_GRAPH_LBR, SP_CALL_GRAPH_DWARF};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		MADE made;
		make(&made);
		made.options.chains.call_graph = kinds[i];
		made.options.chains.max_stack = 50;
		choose(&made);
		ck_assert_int_eq(made.graph.kind, kinds[i]);
		ck_assert(made.graph.live == (kinds[i] == SP_CALL_GRAPH_DWARF));
		ck_assert_uint_eq(made.graph.max_stack, 50);
		ck_assert_uint_eq(made.graph.stack_bytes, 8192);
		ck_assert(!made.graph.fixed_size);
		ck_assert_uint_eq(made.notes.count, 0);
	}
}

TEST(stack_sizes_are_checked)
{
	MADE made;
	make(&made);
	made.options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	made.options.chains.stack_bytes = 4092;
	fails_with(SP_ERROR_INVALID, try(&made));
	made.options.chains.stack_bytes = 65536;
	fails_with(SP_ERROR_INVALID, try(&made));
	made.options.chains.stack_bytes = 65528;
	made.options.chains.fixed_stack_bytes = true;
	choose(&made);
	ck_assert(made.graph.stack_bytes == 65528 && made.graph.fixed_size);
}

TEST(binaries_decide_if_nothing_is_requested)
{
	MADE made;
	make(&made);
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && made.graph.live);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH));
	ck_assert_str_eq(made.notes.items[0].line, reason);
	made.survey.frame_pointers = true;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_FP && !made.graph.live);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH));
}

TEST(kernel_frames_need_no_stack_copies)
{
	MADE made;
	make(&made);
	made.options.chains.kernel_only = true;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_FP && !made.notes.count);
	made.options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_FP && !made.notes.count);
	made.options.chains.call_graph = SP_CALL_GRAPH_LBR;
	choose(&made);
	ck_assert_int_eq(made.graph.kind, SP_CALL_GRAPH_LBR);
}

TEST(machines_without_unwinding_have_frame_pointers)
{
	MADE made;
	ck_assert_uint_eq(call_graph_registers("x86_64"), 0xff0fff);
	ck_assert_uint_eq(call_graph_registers("aarch64"), 0x1ffffffff);
	ck_assert_uint_eq(call_graph_registers("mips"), 0);
	make(&made);
	made.facts.machine = "mips";
	made.survey = (struct target_survey){0};
	choose(&made);
	ck_assert_int_eq(made.graph.kind, SP_CALL_GRAPH_FP);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH));
	made.options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	fails_with(SP_ERROR_UNSUPPORTED, try(&made));
}

TEST(some_stacks_are_not_unwound_live)
{
	MADE made;
	make(&made);
	made.options.chains.unwind = SP_UNWIND_LATER;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && !made.graph.live);
	made_deinit(&made);
	make(&made);
	made.options.buffers.overwrite = true;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && !made.graph.live);
	/* One event with a call graph of its own. */
	made_deinit(&made);
	make(&made);
	made.spec.terms.given = EVENT_TERM_CALL_GRAPH;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && !made.graph.live);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH, NOTE_UNWIND_LATER));
	/* Samples of one event have no period, and those of the other have. */
	made_deinit(&made);
	make(&made);
	struct event_spec specs[] = {made.spec, {.leader = 1}};
	specs[1].attr.type = PERF_TYPE_SOFTWARE;
	specs[1].attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	specs[1].terms.given = EVENT_TERM_PERIOD;
	specs[1].terms.period = 53;
	made.specs.items = specs;
	made.specs.count = 2;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && !made.graph.live);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH, NOTE_UNWIND_LATER));
	specs[1].terms.given |= EVENT_TERM_FREQ;
	choose(&made);
	ck_assert(made.graph.live);
	made_deinit(&made);
	make(&made);
	made.options.sampling.samples = SP_OFF;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_NONE && !made.graph.live && !made.notes.count);
}

TEST(registers_of_interrupts_limit_stack_copies)
{
	MADE made;
	make(&made);
	made.options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	made.options.chains.stack_bytes = 65528;
	made.options.fields.interrupt_registers = 1;
	choose(&made);
	ck_assert(made.graph.stack_bytes == 49152 && made.graph.fixed_size);
	ck_assert(NOTES(&made, NOTE_COPY_LIMITED));
	made.options.chains.stack_bytes = 8192;
	choose(&made);
	ck_assert(made.graph.stack_bytes == 8192 && made.graph.fixed_size && !made.notes.count);
}

TEST(python_is_read_while_stacks_are_unwound)
{
	MADE made;
	make(&made);
	choose(&made);
	ck_assert(made.graph.python && !made.graph.python_first);
	made.survey.is_python = true;
	choose(&made);
	ck_assert(made.graph.python && made.graph.python_first);
	/* Without live unwinding, waking the reader for each sample has no use. */
	made.options.buffers.ring_bytes = 16384;
	choose(&made);
	ck_assert_int_eq(made.graph.kind, SP_CALL_GRAPH_FP);
	ck_assert(!made.graph.python && !made.graph.python_first);
	made.options.buffers.ring_bytes = 0;
	made.options.chains.python = SP_OFF;
	choose(&made);
	ck_assert(!made.graph.python && !made.graph.python_first);
}

TEST(requested_rings_are_kept)
{
	MADE made;
	make(&made);
	made.options.buffers.ring_bytes = MIB;
	choose(&made);
	ck_assert(made.pages.samples == 256 && made.pages.sideband == 256);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH));
	/* Large rings for metadata need a hundred times their memory, and no limit. */
	made.facts.memory_bytes = 199 * MIB;
	choose(&made);
	ck_assert_uint_eq(made.pages.sideband, 32);
	made.facts.memory_bytes = 8192 * MIB;
	/* A note tells of rings below the request, not of rings below the default. */
	made.rights.memlock_bytes = 0;
	choose(&made);
	ck_assert(made.pages.samples == 64 && made.pages.sideband == 32);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH, NOTE_EVENT));
	made.options.buffers.ring_bytes = 0;
	choose(&made);
	ck_assert_uint_eq(made.pages.samples, 64);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH));
	made.options.buffers.ring_bytes = (UINT64_C(1) << 31) + 1;
	fails_with(SP_ERROR_INVALID, try(&made));
}

TEST(the_highest_rate_is_that_of_the_kernel)
{
	MADE made;
	make(&made);
	made.options.chains.call_graph = SP_CALL_GRAPH_FP;
	made.facts.freq_hz = SP_CAPTURE_FREQ_MAX;
	choose(&made);
	uint32_t pages = made.pages.samples;
	made.facts.freq_hz = 50000;
	choose(&made);
	ck_assert_uint_eq(made.pages.samples, pages);
	made.facts.freq_hz = 997;
	choose(&made);
	ck_assert_uint_lt(made.pages.samples, pages);
}

TEST(rings_without_room_for_two_copies_have_frame_pointers)
{
	MADE made;
	make(&made);
	made.options.buffers.ring_bytes = 16384;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_FP && !made.graph.live);
	ck_assert_uint_eq(made.pages.samples, 4);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH, NOTE_FP_FOR_SPACE));
	ck_assert_uint_eq(made.notes.items[1].note.values[0], 16384);
	ck_assert(call_graph_has_room(&made.graph, 4096));
	made.options.buffers.ring_bytes = 32768;
	choose(&made);
	ck_assert_int_eq(made.graph.kind, SP_CALL_GRAPH_DWARF);
	ck_assert(call_graph_has_room(&made.graph, 32768) && !call_graph_has_room(&made.graph, 16384));
	/* A request is not changed. */
	made.options.buffers.ring_bytes = 16384;
	made.options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && made.graph.live && !made.notes.count);
}

TEST(a_window_is_worth_more_than_stack_copies)
{
	MADE made;
	make(&made);
	made.options.buffers.overwrite = true;
	made.options.buffers.overwrite_ns = 5 * SECOND;
	choose(&made);
	ck_assert(made.graph.kind == SP_CALL_GRAPH_DWARF && made.pages.samples == 64 * MIB / 4096);
	made.options.buffers.overwrite_ns = 60 * SECOND;
	choose(&made);
	ck_assert_int_eq(made.graph.kind, SP_CALL_GRAPH_FP);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH, NOTE_FP_FOR_WINDOW));
	/* 60 s of call chains are 29 MB. */
	ck_assert_uint_eq(made.pages.samples, 32 * MIB / 4096);
	made.options.buffers.overwrite_ns = 600 * SECOND;
	choose(&made);
	ck_assert(NOTES(&made, NOTE_CALL_GRAPH, NOTE_FP_FOR_WINDOW, NOTE_SHORT_WINDOW));
	made.options.chains.call_graph = SP_CALL_GRAPH_DWARF;
	choose(&made);
	ck_assert_int_eq(made.graph.kind, SP_CALL_GRAPH_DWARF);
	ck_assert(NOTES(&made, NOTE_SHORT_WINDOW));
	/* The time of samples by period is unknown. */
	made.facts.freq_hz = 0;
	choose(&made);
	ck_assert_uint_eq(made.notes.count, 0);
}

/* The remedy for lost metadata, where memory is not limited. */
TEST(larger_rings_have_larger_rings_for_metadata)
{
	MADE made;
	make(&made);
	made.rights.mlock_kb = UINT64_MAX;
	made.rights.paranoid = -1;
	made.options.buffers.ring_bytes = 4 * MIB;
	choose(&made);
	ck_assert_uint_eq(made.pages.sideband, MIB / 4096);
	made.options.buffers.ring_bytes = 32 * MIB;
	choose(&made);
	ck_assert_uint_eq(made.pages.sideband, 8 * MIB / 4096);
}

/* The result of AUTO, requested, has the same rings, and keeps within what was decided. */
static void check_fixed_point(struct made *made)
{
	choose(made);
	const struct call_graph graph = made->graph;
	const struct ring_pages pages = made->pages;
	uint64_t ring_bytes = (uint64_t)pages.samples * made->rights.page_size;
	ck_assert(call_graph_has_room(&graph, ring_bytes));
	made->options.chains.call_graph = graph.kind;
	choose(made);
	ck_assert_int_eq(made->graph.kind, graph.kind);
	ck_assert_int_eq(made->graph.live, graph.live);
	ck_assert_uint_eq(made->pages.samples, pages.samples);
	ck_assert_uint_eq(made->pages.sideband, pages.sideband);
	made->options.chains.call_graph = SP_CALL_GRAPH_AUTO;
}

TEST(call_graph_and_rings_are_a_fixed_point)
{
	static const uint64_t lock_kb[] = {0, 16, 64, 516, 8192, 1 << 20}, rates[] = {0, 99, 997, 20000},
			      windows[] = {0, 1, SECOND, 60 * SECOND}, memory[] = {0, 4, 64, 8192};
	static const uint32_t sizes[] = {0, 8, 32768, 65528};
	size_t by_dwarf = 0, by_pointers = 0;
	for (size_t i = 0; i < 6 * 4 * 4 * 4 * 4; i++) {
		MADE made;
		make(&made);
		made.rights.mlock_kb = lock_kb[i % 6];
		made.rights.memlock_bytes = 64 << 10;
		made.facts.freq_hz = rates[i / 6 % 4];
		made.options.buffers.overwrite_ns = windows[i / 24 % 4];
		made.options.buffers.overwrite = made.options.buffers.overwrite_ns;
		made.facts.memory_bytes = memory[i / 96 % 4] * MIB;
		made.options.chains.stack_bytes = sizes[i / 384];
		check_fixed_point(&made);
		by_dwarf += made.graph.kind == SP_CALL_GRAPH_DWARF;
		by_pointers += made.graph.kind == SP_CALL_GRAPH_FP;
	}
	ck_assert_uint_gt(by_dwarf, 100);
	ck_assert_uint_gt(by_pointers, 100);
}
