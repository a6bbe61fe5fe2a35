/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/call_graph.h"

#include <string.h>
#include "base/cleanup.h"
#include "capture/config/off_cpu.h"
#include "capture/config/ring_size.h"
#include "event/kind.h"

#define DEFAULT_STACK_BYTES 8192

/*
 * Rings for metadata. Other users' mappings on a CPU fill up to 5 MB/s: the large ring holds 200 ms
 * of that, as long as the reader may be delayed. It takes 1 MiB for each CPU, and 0.3 ms to make.
 */
#define SIDEBAND_BYTES (128 * 1024)
#define SIDEBAND_LARGE_BYTES (1 << 20)
#define SIDEBAND_PART 4
#define RING_BYTES_MAX (UINT64_C(1) << 31)

/*
 * Limit of stack copies with registers of interrupts. Linux fits a copy into a record's u16 size, and
 * adds these registers afterwards: if both are large, the size overflows, and the ring is garbage
 * (6.18; perf record is killed by it). The limit leaves room for call chains of the kernel, too.
 */
#define STACK_BYTES_WITH_REGISTERS 49152

uint64_t call_graph_registers(const char *machine)
{
	/* Same as perf: all but segments, which are unavailable; x0 to x30, sp, pc. */
	if (!strcmp(machine, "x86_64"))
		return 0xff0fff;
	return !strcmp(machine, "aarch64") ? (UINT64_C(1) << 33) - 1 : 0;
}

/* -- As requested, or by the target's binaries ------------------------------ */

static struct sp_error *check_options(const struct call_graph_facts *facts, enum sp_call_graph kind)
{
	if (kind == SP_CALL_GRAPH_LBR && facts->options->fields.branch_type)
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "--call-graph lbr excludes -b and -j: both set "
				  "which branches the processor records"),
			"use --call-graph fp or dwarf");
	if (kind != SP_CALL_GRAPH_DWARF || call_graph_registers(facts->machine))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "DWARF unwinding is not supported on %s",
					  facts->machine), "use --call-graph fp");
}

/* *note_ret: a reason for the kind, or NULL. */
static enum sp_call_graph requested_kind(const struct call_graph_facts *facts, const char **note_ret)
{
	const struct sp_capture_chains *chains = &facts->options->chains;
	bool is_open = chains->call_graph == SP_CALL_GRAPH_AUTO;
	*note_ret = NULL;
	/* Stack copies have no kernel frames. */
	if (chains->kernel_only && (is_open || chains->call_graph == SP_CALL_GRAPH_DWARF))
		return SP_CALL_GRAPH_FP;
	if (!is_open)
		return chains->call_graph;
	if (!call_graph_registers(facts->machine)) {
		*note_ret = "call chains by frame pointers: DWARF unwinding is not supported on this "
			    "architecture";
		return SP_CALL_GRAPH_FP;
	}
	/* The C library, in which threads wait, keeps no frame pointers. */
	if (facts->options->sampling.off_cpu)
		return SP_CALL_GRAPH_DWARF;
	*note_ret = facts->survey->note;
	return facts->survey->frame_pointers ? SP_CALL_GRAPH_FP : SP_CALL_GRAPH_DWARF;
}

static struct sp_error *choose_kind(const struct call_graph_facts *facts, struct notes *notes,
				    struct call_graph *graph)
{
	const struct capture_options *options = facts->options;
	const char *note;
	graph->kind = requested_kind(facts, &note);
	TRY(check_options(facts, graph->kind));
	/* Overwrite mode unwinds nothing: most stacks are never written. */
	graph->live = graph->kind == SP_CALL_GRAPH_DWARF && !options->buffers.overwrite &&
		      options->chains.unwind == SP_UNWIND_LIVE;
	/* Without samples there are no call chains. */
	if (options->sampling.samples == SP_OFF) {
		graph->kind = SP_CALL_GRAPH_NONE;
		graph->live = false;
		return NULL;
	}
	return note ? notes_add_text(notes, NOTE_CALL_GRAPH, note) : NULL;
}

static struct sp_error *limit_stack_bytes(const struct call_graph_facts *facts, struct notes *notes,
					  struct call_graph *graph)
{
	if (graph->kind != SP_CALL_GRAPH_DWARF || !facts->options->fields.interrupt_registers)
		return NULL;
	graph->fixed_size = true;
	if (graph->stack_bytes <= STACK_BYTES_WITH_REGISTERS)
		return NULL;
	graph->stack_bytes = STACK_BYTES_WITH_REGISTERS;
	return notes_add(notes, NOTE_COPY_LIMITED, NULL, STACK_BYTES_WITH_REGISTERS);
}

/* Whether samples of an event, or of its leader, lack their period. */
static bool omits_period(const struct call_graph_facts *facts, size_t index)
{
	const struct event_spec *items = facts->specs->items, *spec = &items[index];
	if (spec->group_read)
		spec = &items[spec->leader];
	uint64_t period = spec->terms.given & EVENT_TERM_FREQ ? 0
			  : spec->terms.given & EVENT_TERM_PERIOD ? spec->terms.period
								  : facts->options->sampling.period;
	return event_omits_period(spec, period);
}

/* Stack copies are unwound live only if all events have them, at the same place of their samples. */
static struct sp_error *check_terms(const struct call_graph_facts *facts, struct notes *notes,
				    struct call_graph *graph)
{
	bool differs = false;
	for (size_t i = 0; i < facts->specs->count; i++)
		differs |= facts->specs->items[i].terms.given & EVENT_TERM_CALL_GRAPH ||
			   (facts->specs->items[i].use != EVENT_USE_SWITCHES &&
			    omits_period(facts, i) != omits_period(facts, 0));
	if (!differs || !graph->live)
		return NULL;
	graph->live = false;
	return notes_add(notes, NOTE_UNWIND_LATER, NULL);
}

/* -- As the rings permit ----------------------------------------------------- */

static uint64_t rate_hz(const struct call_graph_facts *facts)
{
	return facts->freq_hz == SP_CAPTURE_FREQ_MAX ? facts->rights->max_sample_hz : facts->freq_hz;
}

static uint64_t sample_bytes_of(const struct call_graph *graph)
{
	return ring_size_sample(graph->kind, graph->stack_bytes);
}

static uint64_t wanted_ring_bytes(const struct call_graph_facts *facts, const struct call_graph *graph)
{
	bool grows = graph->kind == SP_CALL_GRAPH_DWARF && !graph->fixed_size;
	struct ring_demand demand = {
		.sample_bytes = sample_bytes_of(graph),
		.largest_bytes = grows ? ring_size_sample(SP_CALL_GRAPH_DWARF, SP_STACK_BYTES_MAX) : 0,
		.freq_hz = rate_hz(facts),
		.cpus = facts->cpu_count,
		.memory_bytes = facts->memory_bytes,
	};
	/*
	 * The event of the switches is the last one. If switches are limited, it needs no more
	 * room.
	 */
	if ((facts->options->sampling.off_cpu || facts->options->fields.switches == SP_ON) &&
	    facts->specs->items[facts->specs->count - 1].use == EVENT_USE_SWITCHES)
		demand.least_bytes = OFF_CPU_RING_BYTES;
	uint64_t window_bytes = ring_size_window(facts->options->buffers.overwrite_ns, &demand);
	return facts->options->buffers.ring_bytes ?: window_bytes ?: ring_size_default(&demand);
}

/* Returns the time that rings of that size reach back; 0: the whole window, or unknown. */
static uint64_t short_reach_ns(const struct call_graph_facts *facts, const struct call_graph *graph,
			       uint64_t ring_bytes)
{
	uint64_t window_ns = facts->options->buffers.overwrite_ns;
	if (!window_ns || !rate_hz(facts))
		return 0;
	uint64_t reach_ns = ring_size_reach_ns(ring_bytes, rate_hz(facts), sample_bytes_of(graph));
	return reach_ns < window_ns ? reach_ns : 0;
}

static void use_frame_pointers(struct call_graph *graph)
{
	graph->kind = SP_CALL_GRAPH_FP;
	graph->live = false;
}

static bool may_change(const struct call_graph_facts *facts, const struct call_graph *graph)
{
	return facts->options->chains.call_graph == SP_CALL_GRAPH_AUTO &&
	       graph->kind == SP_CALL_GRAPH_DWARF;
}

/* The user requested the window, but no stack copies. */
static struct sp_error *prefer_window(const struct call_graph_facts *facts, struct notes *notes,
				      struct call_graph *graph)
{
	uint64_t bytes = wanted_ring_bytes(facts, graph);
	uint64_t reach_ns = short_reach_ns(facts, graph, bytes);
	if (!reach_ns || !may_change(facts, graph))
		return NULL;
	use_frame_pointers(graph);
	return notes_add(notes, NOTE_FP_FOR_WINDOW, NULL, bytes, reach_ns,
			 facts->options->buffers.overwrite_ns);
}

static uint32_t pages_of(uint64_t bytes, uint32_t page_size)
{
	return (bytes + page_size - 1) / page_size;
}

static struct sp_error *size_rings(const struct call_graph_facts *facts, struct notes *notes,
				   const struct call_graph *graph, struct ring_pages *ret)
{
	uint64_t ring_bytes = wanted_ring_bytes(facts, graph);
	uint32_t page_size = facts->rights->page_size;
	CLEANUP(event_notes_deinit) struct event_notes smaller = {0};
	if (ring_bytes > RING_BYTES_MAX)
		return error_new(SP_ERROR_INVALID, "rings of %llu bytes are larger than 2 GiB",
				 (unsigned long long)ring_bytes);
	/* A larger size is the remedy for lost metadata, too. */
	uint64_t larger = facts->options->buffers.ring_bytes / SIDEBAND_PART;
	if (larger < SIDEBAND_LARGE_BYTES)
		larger = SIDEBAND_LARGE_BYTES;
	struct ring_pages wanted = {
		.samples = pages_of(ring_bytes, page_size),
		.sideband = pages_of(SIDEBAND_BYTES, page_size),
	};
	if (rights_has_unlimited_rings(facts->rights) &&
	    SIDEBAND_LARGE_BYTES <= ring_size_most(facts->memory_bytes, facts->cpu_count))
		wanted.sideband = pages_of(larger, page_size);
	TRY(rights_fit_rings(facts->rights, facts->cpu_count, wanted, &smaller, ret));
	/* The default size is no request: smaller rings get no note. */
	if (facts->options->buffers.ring_bytes)
		TRY(notes_add_planned(notes, &smaller));
	return NULL;
}

bool call_graph_has_room(const struct call_graph *graph, uint64_t ring_bytes)
{
	return ring_bytes >= ring_size_least(graph->kind == SP_CALL_GRAPH_DWARF ? graph->stack_bytes : 0);
}

static struct sp_error *note_short_reach(const struct call_graph_facts *facts, struct notes *notes,
					 const struct call_graph *graph, uint64_t ring_bytes)
{
	uint64_t reach_ns = short_reach_ns(facts, graph, ring_bytes);
	if (!reach_ns)
		return NULL;
	return notes_add(notes, NOTE_SHORT_WINDOW, NULL, ring_bytes, reach_ns,
			 facts->options->buffers.overwrite_ns, sample_bytes_of(graph));
}

/* Rings without room for two stack copies have no smaller size: they stay. */
static struct sp_error *fit_rings(const struct call_graph_facts *facts, struct notes *notes,
				  struct call_graph *graph, struct ring_pages *pages)
{
	struct sp_error *error = prefer_window(facts, notes, graph);
	if (!error)
		error = size_rings(facts, notes, graph, pages);
	if (error)
		return error;
	uint64_t ring_bytes = (uint64_t)pages->samples * facts->rights->page_size;
	if (may_change(facts, graph) && !call_graph_has_room(graph, ring_bytes)) {
		use_frame_pointers(graph);
		error = notes_add(notes, NOTE_FP_FOR_SPACE, NULL, ring_bytes);
	}
	return error ? error : note_short_reach(facts, notes, graph, ring_bytes);
}

/* Remedies in their order; none that the recording already uses. */
static enum note_python python_remedy(const struct call_graph_facts *facts,
				      const struct call_graph *graph)
{
	const struct sp_capture_buffers *buffers = &facts->options->buffers;
	bool has_threads = buffers->threads != SP_CAPTURE_THREADS_AUTO &&
			   buffers->threads != SP_CAPTURE_THREADS_NONE;
	if (facts->freq_hz > PYTHON_FIRST_HZ_MAX)
		return PYTHON_LOWER_RATE;
	if (!graph->python_first && !facts->options->sampling.off_cpu && !buffers->wakeup_bytes &&
	    !buffers->wakeup_samples)
		return PYTHON_AT_EACH_RECORD;
	return buffers->wakeup_samples && has_threads ? PYTHON_NO_MORE : PYTHON_AT_EACH_WAIT;
}

struct sp_error *call_graph_choose(const struct call_graph_facts *facts, struct notes *notes,
				   struct call_graph *graph_ret, struct ring_pages *pages_ret)
{
	const struct sp_capture_chains *chains = &facts->options->chains;
	if (chains->stack_bytes % 8 || chains->stack_bytes > SP_STACK_BYTES_MAX)
		return error_new(SP_ERROR_INVALID, "invalid stack copy size %u: use a multiple of 8, at "
				 "most %u", chains->stack_bytes, SP_STACK_BYTES_MAX);
	struct call_graph graph = {
		.stack_bytes = chains->stack_bytes ?: DEFAULT_STACK_BYTES,
		.fixed_size = chains->fixed_stack_bytes,
		.max_stack = chains->max_stack,
		.registers = call_graph_registers(facts->machine),
	};
	TRY(choose_kind(facts, notes, &graph));
	TRY(limit_stack_bytes(facts, notes, &graph));
	TRY(check_terms(facts, notes, &graph));
	TRY(fit_rings(facts, notes, &graph, pages_ret));
	graph.python = graph.live && chains->python != SP_OFF;
	graph.python_first = graph.python && facts->survey->is_python;
	graph.python_remedy = python_remedy(facts, &graph);
	*graph_ret = graph;
	return NULL;
}
