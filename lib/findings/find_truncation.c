/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about incomplete stacks and their causes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "findings/sources.h"
#include "record/note.h"

/* Limit on findings about modules without unwind information. */
#define BLIND_MAX 32

/* Least share of the stacks that end in a module, for a finding about it. */
#define BLIND_SHARE 0.001

/* Share of the stacks that must fit the stack size that a remedy proposes. */
#define WHOLE_ENOUGH 0.995

static uint64_t samples_of(const struct analysis_view *view)
{
	uint64_t samples = 0;
	for (size_t i = 0; i < view->recording->event_count; i++)
		samples += view->recording->totals[i].samples;
	return samples;
}

static void find_refusal(const struct analysis_view *view)
{
	const struct sp_error *refusal = view->read->unwinding.refusal;
	if (!refusal)
		return;
	const struct sp_finding finding = {
		.kind = SP_FINDING_TRUNCATED_STACKS,
		.cause = "no_unwinder",
		.samples = samples_of(view),
		.share = 1,
		.remedy = sp_error_remedy(refusal),
	};
	finding_add(view, &finding, "recorded stack copies cannot be unwound here: %s",
		    sp_error_message(refusal));
}

/* Returns whether rows or trees show callers, which findings about stacks are about. */
static bool shows_callers(const struct analysis_view *view)
{
	const struct work *work = view->work;
	return !work->only_leaves &&
	       (work->options->rows.children || work->options->tree.order != SP_TREE_NONE ||
		work->matches);
}

/*
 * Adds the stacks of one worker with this end, by the module of the outermost call. `recorded`:
 * only those that the recorder unwound.
 */
static void sum_ends(const struct analysis_view *view, const struct worker *worker,
		     enum sp_stack_end end, bool recorded, struct stacks *sums)
{
	const struct counted *counted = &worker->counted;
	vec_each (leaf, &counted->leaves) {
		uint16_t event = resolved_event(&worker->resolved, leaf);
		bool copies = view_attr(view, event)->sample_type & PERF_SAMPLE_STACK_USER;
		if ((recorded && copies) || resolved_stack_end(&worker->resolved, leaf) != end)
			continue;
		uint32_t frame = resolved_outermost(&worker->resolved, leaf) >> ANSWER_SHIFT;
		const struct module *module = view->names->frames.items[frame].module;
		if (module)
			finding_need(view, stacks_add_no_unwind_info(sums, module, leaf->chains));
	}
}

/* Sums up, by module, the stacks of all workers that ended without unwind information. */
static void sum_blinds(const struct analysis_view *view, struct stacks *sums)
{
	bool recorded = false;
	for (size_t i = 0; i < view->recording->event_count; i++)
		recorded |= view->recording->totals[i].stacks[SP_STACK_NO_UNWIND_INFO] != 0;
	for (size_t i = 0; i < view->workers->count; i++) {
		if (recorded)
			sum_ends(view, &view->workers->items[i], SP_STACK_NO_UNWIND_INFO, true,
				 sums);
		const struct stacks *stacks = &view->workers->items[i].counted.stacks;
		vec_each (blind, &stacks->blinds)
			finding_need(view,
				     stacks_add_no_unwind_info(sums, blind->module, blind->stacks));
	}
}

static int compare_blinds(const void *a, const void *b)
{
	const struct blind *x = a, *y = b;
	if (x->stacks != y->stacks)
		return x->stacks > y->stacks ? -1 : 1;
	if (!x->module || !y->module)
		return (x->module == NULL) - (y->module == NULL);
	return (x->module->index > y->module->index) - (x->module->index < y->module->index);
}

/*
 * Returns the remedy for stacks that end in a module without unwind information; NULL: none is
 * known. Frame pointers are none: the unwinder has followed them where the code keeps them.
 */
static const char *unwind_remedy(const struct analysis_view *view, const struct module *module,
				 const char **why_ret)
{
	if (module->is_generated) {
		const struct runtime *runtime = machine_runtime(view->read->machine, module->pid);
		return runtime ? finding_runtime_remedy(view, runtime->stacks) : NULL;
	}
	/* Runtimes have code of assemblers of their own, which write no unwind information. */
	if (module->runtime)
		return NULL;
	const char *text, *remedy;
	enum resolver_problem problem =
		resolver_problem(view->read->resolver, module, &text, &remedy);
	if (problem == RESOLVER_MISSING_FILE || problem == RESOLVER_WRONG_FILE) {
		*why_ret = text;
		return remedy;
	}
	if (problem == RESOLVER_DAMAGED_FILE)
		return NULL;
	if (module_is_distributed(module))
		return "self time needs no callers: sprof report --no-children";
	char made[400];
	snprintf(made, sizeof(made), "compile %.250s with -fasynchronous-unwind-tables (assembly: "
		 "add .cfi directives)", module->name);
	return arena_strdup(&view->analysis->arena, made);
}

/* Returns the module with the most stacks of `sums`, which it deinitialises; NULL: unknown. */
static const struct module *most_of(struct stacks *sums)
{
	const struct blind *most = NULL;
	vec_each (item, &sums->blinds)
		if (!most || item->stacks > most->stacks)
			most = item;
	const struct module *module = most ? most->module : NULL;
	stacks_deinit(sums);
	return module;
}

/* Returns the module in which most stacks end without unwind information; NULL: unknown. */
static const struct module *most_blind(const struct analysis_view *view)
{
	struct stacks sums = {0};
	sum_blinds(view, &sums);
	return most_of(&sums);
}

/* Returns the module in which most truncated stacks end; NULL: unknown. */
static const struct module *most_truncated(const struct analysis_view *view)
{
	struct stacks sums = {0};
	for (size_t i = 0; i < view->workers->count; i++)
		sum_ends(view, &view->workers->items[i], SP_STACK_TRUNCATED, false, &sums);
	return most_of(&sums);
}

/* Returns the number of calls in the longest truncated stack. */
static uint32_t truncated_depth(const struct analysis_view *view)
{
	uint32_t most = 0;
	vec_each (worker, view->workers) {
		vec_each (leaf, &worker->counted.leaves) {
			uint32_t depth = worker->resolved.states[leaf->node].depth;
			if (depth > most && leaf->chains &&
			    resolved_stack_end(&worker->resolved, leaf) == SP_STACK_TRUNCATED)
				most = depth;
		}
	}
	return most;
}

static void add_blind(const struct analysis_view *view, const struct blind *blind, uint64_t samples)
{
	char share[FINDING_TEXT];
	const char *why = NULL;
	struct sp_finding finding = {
		.kind = SP_FINDING_TRUNCATED_STACKS, .samples = blind->stacks,
		.share = (double)blind->stacks / (double)samples,
	};
	share_text(finding.share, share);
	if (!blind->module) {
		finding.cause = "invalid_address";
		finding_add(view, &finding,
			    "%s of stacks end at an address where no code is mapped", share);
		return;
	}
	if (!strcmp(blind->module->path, "[uprobes]")) {
		finding.cause = "return_probes";
		finding.summary = "of stacks are incomplete (return probes of a tracer)";
		finding.remedy = "stop the tracer, or record with --call-graph fp (Linux 6.11)";
		finding_add(view, &finding, "%s of stacks end at return probes of a tracer",
			    share);
		return;
	}
	if (view->read->unwinding.unwinder)
		why = unwinder_problem(view->read->unwinding.unwinder, blind->module);
	finding.cause = "no_unwind_info";
	finding.object = finding_module_name(view, blind->module);
	if (!finding.object)
		return;
	finding.summary = "of stacks are incomplete (no unwind information)";
	finding.remedy = unwind_remedy(view, blind->module, &why);
	finding_add(view, &finding,
		    "%s of stacks are incomplete (no unwind information): %s%s%s%s", share,
		    finding.object, why ? " (" : "", why ?: "", why ? ")" : "");
}

static void find_blinds(const struct analysis_view *view)
{
	struct stacks sums = {0};
	uint64_t samples = samples_of(view);
	sum_blinds(view, &sums);
	vec_sort(&sums.blinds, compare_blinds);
	for (size_t i = 0; i < sums.blinds.count && i < BLIND_MAX; i++)
		if ((double)sums.blinds.items[i].stacks >= BLIND_SHARE * (double)samples)
			add_blind(view, &sums.blinds.items[i], samples);
	stacks_deinit(&sums);
}

void find_stacks_by_module(const struct analysis_view *view)
{
	find_refusal(view);
	if (shows_callers(view))
		find_blinds(view);
}

/*
 * Returns the stack size that would have held nearly all stacks; 0 if it is unknown, because too
 * many stacks are truncated at any size.
 */
static uint32_t stack_size_enough(const struct analysis_view *view, uint64_t truncated)
{
	uint64_t whole = 0, below = 0;
	vec_each (worker, view->workers)
		for (size_t j = 0; j < REACH_CLASSES; j++)
			whole += worker->counted.stacks.reaches[j];
	double enough = WHOLE_ENOUGH * (double)(whole + truncated);
	for (size_t j = 0; j < REACH_CLASSES; j++) {
		vec_each (item, view->workers)
			below += item->counted.stacks.reaches[j];
		if ((double)below >= enough)
			return (uint32_t)(j + 1) << 10;
	}
	return 0;
}

/* Least share of the stacks for a finding. */
#define TRUNCATED_LEAST 0.005

/* Limit of the kernel for a copied stack: its size is a u16 and a multiple of 8. */
#define STACK_COPY_MAX 65528
#define NO_MORE_STACK "the kernel copies at most 64 KB of a stack"
#define COPY_MUCH 32768
#define SHOW_ENDS "show the functions where they end: sprof report -g caller"
#define COPY_MORE "record with a larger stack copy: --call-graph dwarf,"

/* Limits of frames in a chain: enough for most programs, and all that a record holds. */
#define CHAIN_MORE 1000
#define CHAIN_MOST 8000
#define NEEDS_NO_CALLERS "self time needs no callers: sprof report --no-children"

/*
 * Returns the remedy for stacks that no copy can hold. Frame pointers reach further, but only Go's
 * code and programs that are compiled for it keep them, and a record holds CHAIN_MOST frames.
 */
static const char *no_more_stack(const struct analysis_view *view, char *text, size_t size)
{
	bool is_go = runtime_is_go(view);
	const struct module *module = is_go ? NULL : most_truncated(view);
	uint32_t depth = truncated_depth(view);
	int used = snprintf(text, size, NO_MORE_STACK "%s", is_go ? "" : "; " NEEDS_NO_CALLERS);
	if (depth >= CHAIN_MOST ||
	    (!is_go && (!module || module->is_generated || module_is_distributed(module))))
		return text;
	used += is_go ? snprintf(text + used, size - (size_t)used, ": ")
		      : snprintf(text + used, size - (size_t)used, "; for callers, compile %.60s "
				 "with -fno-omit-frame-pointer, and ", module->name);
	snprintf(text + used, size - (size_t)used, "record with --call-graph fp%s",
		 depth < STACK_DEPTH_DEFAULT ? "" :
		 " --max-stack 8000 (sudo sysctl kernel.perf_event_max_stack=8000); no "
		 "recording holds deeper stacks");
	return text;
}

/*
 * Returns the remedy for stacks that are deeper than the recorder's limit. Copies of stacks are
 * none if the limit is CHAIN_MORE frames: 64 KB hold hardly more.
 */
static const char *depth_remedy(const struct perf_event_attr *attr, bool unwound)
{
	if (unwound)
		return "record without --max-stack";
	if (attr->sample_max_stack < CHAIN_MORE)
		return "sudo sysctl kernel.perf_event_max_stack=1000, then record with "
		       "--max-stack 1000; or record with --call-graph dwarf";
	if (attr->sample_max_stack < CHAIN_MOST)
		return "sudo sysctl kernel.perf_event_max_stack=8000, then record with "
		       "--max-stack 8000";
	return "no recording holds deeper stacks; " NEEDS_NO_CALLERS;
}

/* Returns a remedy with the stack size that the recorder measured. */
static const char *noted_remedy(const struct analysis_view *view, char *text, size_t size)
{
	for (size_t i = view->read->sideband.notes.count; i-- > 0;) {
		uint64_t bytes = view->read->sideband.notes.items[i].stack_bytes;
		if (bytes == NOTE_STACK_NO_MORE)
			return no_more_stack(view, text, size);
		if (bytes == NOTE_STACK_NO_SIZE)
			return SHOW_ENDS;
		if (!bytes || bytes > STACK_COPY_MAX)
			continue;
		snprintf(text, size, COPY_MORE "%llu", (unsigned long long)bytes);
		return text;
	}
	return COPY_MORE "32768";
}

/* Returns the remedy for stacks that are larger than their copies. */
static const char *copy_remedy(const struct analysis_view *view, const struct perf_event_attr *attr,
			       uint64_t truncated, char *text, size_t size)
{
	uint32_t more = stack_size_enough(view, truncated);
	/* Nothing tells the stacks' sizes. */
	if (more <= attr->sample_stack_user)
		more = attr->sample_stack_user < COPY_MUCH ? COPY_MUCH : STACK_COPY_MAX;
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return noted_remedy(view, text, size);
	if (attr->sample_stack_user >= STACK_COPY_MAX)
		return no_more_stack(view, text, size);
	snprintf(text, size, COPY_MORE "%u",
		 more < STACK_COPY_MAX ? more : STACK_COPY_MAX);
	return text;
}

/* Returns whether most truncated stacks end at absent pages, by the recorder's note. */
static bool ends_at_pages(const struct analysis_view *view)
{
	vec_each (note, &view->read->sideband.notes)
		if (note->of_pages)
			return true;
	return false;
}

/*
 * Returns the remedy for stacks that end at absent pages. The recorder makes such a page present
 * when it first misses it; a thread that ends before has only the first copy. Frame pointers need
 * no page between two calls.
 */
static const char *pages_remedy(const struct analysis_view *view, char *text, size_t size)
{
	const struct module *module = most_truncated(view);
	int used = snprintf(text, size, "record for longer: the first samples of a thread lack "
			    "pages; for short threads, ");
	if (module && !module->is_generated && !module_is_distributed(module))
		snprintf(text + used, size - (size_t)used,
			 "compile %.60s with -fno-omit-frame-pointer, and record with "
			 "--call-graph fp", module->name);
	else
		snprintf(text + used, size - (size_t)used, NEEDS_NO_CALLERS);
	return text;
}

static bool is_generated(const struct analysis_view *view, uint32_t frame)
{
	return frame < view->names->frames.count && view->names->frames.items[frame].module &&
	       view->names->frames.items[frame].module->is_generated;
}

/* Adds up an event's stacks of one worker that pass through generated code. */
static void sum_generated(const struct analysis_view *view, const struct worker *worker,
			  uint16_t event, uint64_t *sum)
{
	const struct resolved *resolved = &worker->resolved;
	const struct radix *radix = &worker->counted.chains.radix;
	CLEANUP_FREE bool *passes = calloc(radix->count + 1, sizeof(*passes));
	if (!finding_need(view, passes))
		return;
	for (size_t i = 0; i < radix->count; i++) {
		uint32_t at = resolved->order[i];
		const struct radix_node *node = &radix->items[at];
		if (node->parent == RADIX_NONE)
			continue;
		passes[at] = passes[node->parent];
		for (uint32_t j = node->run; !passes[at] && j < node->run + node->length; j++)
			passes[at] = is_generated(view, resolved->frames[j]);
	}
	vec_each (leaf, &worker->counted.leaves) {
		if (resolved_event(resolved, leaf) == event &&
		    (passes[leaf->node] || is_generated(view, answer_frame(leaf->answer))))
			*sum += leaf->chains;
	}
}

/*
 * Subtracts from an event's stacks that were unwound partly by frame pointer those that pass
 * through generated code. Compilers at run time write no unwind information, and keep frame
 * pointers where stacks do not end in their code.
 */
static void drop_generated(const struct analysis_view *view, uint16_t event, uint64_t *guessed)
{
	uint64_t generated = 0;
	for (size_t i = 0; i < view->workers->count; i++)
		sum_generated(view, &view->workers->items[i], event, &generated);
	*guessed -= generated < *guessed ? generated : *guessed;
}

/* Returns whether frame pointers lead to the ends of nearly all stacks. */
static bool frame_pointers_lead(const struct sp_profile *profile)
{
	return (double)profile->stacks[SP_STACK_NO_UNWIND_INFO] <
	       TRUNCATED_LEAST * (double)sp_profile_stack_count(profile);
}

/* Stacks that ended in one way, or that were repaired in one way. */
struct stack_share {
	uint64_t samples;
	const char *cause, *summary; /* values for struct sp_finding */
	const char *remedy;
};

static void add_truncation(const struct analysis_view *view, const struct sp_profile *profile,
			   const struct stack_share *part)
{
	const char *name = event_name_if_needed(view, profile);
	char share[FINDING_TEXT];
	const struct sp_finding finding = {
		.kind = SP_FINDING_TRUNCATED_STACKS, .cause = part->cause, .event = profile->event,
		.samples = part->samples, .remedy = part->remedy, .summary = part->summary,
		.share = (double)part->samples / (double)sp_profile_stack_count(profile),
	};
	if (finding.share >= TRUNCATED_LEAST)
		finding_add(view, &finding, "%s %s%s%s", share_text(finding.share, share),
			    part->summary, name ? " — " : "", name ?: "");
}

#define FRAME_POINTERS                                                                         \
	"record with --call-graph dwarf, or compile the program with -fno-omit-frame-pointer"

/*
 * Adds the findings of an event's stacks, or of those of all events that a mode of threads shows
 * together. `profile` has the numbers; `guessed`: those that were unwound partly by frame pointer;
 * `event` has the options of their recording.
 */
static void find_event_truncation(const struct analysis_view *view, uint16_t event,
				  const struct sp_profile *profile, uint64_t guessed,
				  const struct module *blind)
{
	const struct perf_event_attr *attr = view_attr(view, event);
	const uint64_t *ends = profile->stacks;
	bool unwound = was_unwound(view, event), pages = unwound && ends_at_pages(view);
	char copies[448], rate[FINDING_TEXT], slower[80], rings[FINDING_TEXT];
	char deferred[120] = "record with --call-graph fp";
	if (larger_rings_option(view, rings))
		snprintf(deferred, sizeof(deferred),
			 "record with larger ring buffers (%s), or with --call-graph fp", rings);
	snprintf(slower, sizeof(slower), "record at a lower rate (%s), or with --unwind later",
		 lower_rate_options(attr, rate));
	const char *why, *cfi_remedy = blind ? unwind_remedy(view, blind, &why) : NULL;
	const char *copy_more = NULL;
	if (pages)
		copy_more = pages_remedy(view, copies, sizeof(copies));
	else if (unwound)
		copy_more = copy_remedy(view, attr, ends[SP_STACK_TRUNCATED], copies,
					sizeof(copies));
	/* Frame pointers that lead to the stacks' ends need no remedy. */
	bool led = frame_pointers_lead(profile);
	const char *frame_pointers = runtime_is_go(view)
					     ? "use this recording for work on g0, and one with "
					       "--call-graph dwarf for the rest"
					     : FRAME_POINTERS;
	const struct stack_share shares[] = {
		{ends[SP_STACK_TRUNCATED], "truncated",
		 pages	   ? "of stacks are truncated (stack page not resident)"
		 : !unwound ? "of stacks may be incomplete (they do not reach the thread's first "
			      "function)"
		 : !strcmp(copy_more, SHOW_ENDS) ? "of stacks are truncated"
			    : "of stacks are truncated (larger than the recorded copy)",
		 copy_more ?: frame_pointers},
		{profile->limited, "max_stack", "of stacks are truncated (deeper than --max-stack)",
		 "report without --max-stack"},
		{ends[SP_STACK_DEPTH_LIMIT] - profile->limited, "depth_limit",
		 "of stacks are truncated (deeper than the recorder's limit)",
		 depth_remedy(attr, unwound)},
		/* Findings of modules have these stacks, if their modules are known. */
		{blind ? 0 : ends[SP_STACK_NO_UNWIND_INFO], "no_unwind_info",
		 "of stacks are incomplete (no unwind information)", cfi_remedy},
		{ends[SP_STACK_BAD_MEMORY], "bad_memory",
		 "of stacks are incomplete (invalid stack address)",
		 SHOW_ENDS},
		{ends[SP_STACK_INVALID_ADDRESS], "invalid_address",
		 "of stacks are incomplete (invalid return address)",
		 unwound ? SHOW_ENDS : frame_pointers},
		{ends[SP_STACK_SKIPPED], "skipped",
		 "of stacks have no user callers (the recorder was overloaded)", slower},
		{ends[SP_STACK_SWITCHED], "switched",
		 "of stacks are truncated (signal handler on an alternate stack)",
		 NEEDS_NO_CALLERS},
		{ends[SP_STACK_DEFERRED], "deferred",
		 "of stacks have no user callers (the deferred user call chain is missing)",
		 deferred},
		{guessed, "frame_pointer",
		 "of stacks were unwound partly by frame pointer (callers may be missing)",
		 led ? NULL : cfi_remedy},
		{profile->shortened, "shortened",
		 "of stacks have no middle frames (too deep for a record)", NEEDS_NO_CALLERS},
	};
	for (size_t i = 0; i < count_of(shares); i++)
		add_truncation(view, profile, &shares[i]);
}

/* Adds the finding of an event's stacks that begin on a thread's own stack. */
static void find_system_stack(const struct analysis_view *view, uint16_t event)
{
	const struct sp_profile *profile = &view->recording->totals[event];
	bool waits = !strcmp(profile->event, TIMES_WAIT_EVENT);
	bool later = view_attr(view, event)->sample_type & PERF_SAMPLE_STACK_USER;
	/* C code runs on this stack, below the function that calls it. */
	bool has_c_code = has_function(view, "runtime.asmcgocall");
	const struct stack_share share = {
		profile->system_stack, waits ? "go_scheduler" : "system_stack",
		waits ? "of waits are those of Go's scheduler (goroutines that wait use no "
			"thread)" :
		later ? "of stacks begin on a thread's own stack (Go's g0), without the "
			"goroutine's callers" :
		has_c_code ?
			"of stacks begin on a thread's own stack (Go's g0), without callers: C "
			"code, Go's scheduler, or growth of stacks" :
			"of stacks begin on a thread's own stack (Go's g0), without callers: Go's "
			"scheduler, or growth of stacks",
		waits ? "make Go's block profile (runtime.SetBlockProfileRate): it has waits of "
			"goroutines" :
		later ? "for these callers, record without --unwind later" :
		has_c_code ? "for callers of C code, build with "
			     "CGO_CFLAGS='-O2 -fno-omit-frame-pointer'" : NULL,
	};
	add_truncation(view, profile, &share);
}

/* Adds an event's numbers of stacks to those of all events. */
static void add_stacks(struct sp_profile *all, const struct sp_profile *one)
{
	for (size_t end = 0; end < count_of(all->stacks); end++)
		all->stacks[end] += one->stacks[end];
	all->limited += one->limited;
	all->shortened += one->shortened;
}

/* Modes of threads show the stacks of several events together, and have one share for all. */
void find_truncation(const struct analysis_view *view)
{
	const struct times *times = view->work->times;
	if (!shows_callers(view))
		return;
	const struct module *blind = most_blind(view);
	bool together = times->weigher->of_threads;
	struct sp_profile all = {0};
	uint64_t all_guessed = 0;
	uint16_t most = SP_EVENT_NONE;
	for (uint16_t i = 0; i < view->recording->event_count; i++) {
		const struct sp_profile *profile = &view->recording->totals[i];
		uint64_t stacks = sp_profile_stack_count(profile), guessed = profile->guessed;
		if (!stacks || (together && times->roles[i] == ROLE_NONE))
			continue;
		bool kept = frame_pointers_lead(profile) || !blind || !blind->is_generated;
		if (guessed && kept)
			drop_generated(view, i, &guessed);
		find_system_stack(view, i);
		if (!together)
			find_event_truncation(view, i, profile, guessed, blind);
		add_stacks(&all, profile);
		all_guessed += guessed;
		if (most == SP_EVENT_NONE ||
		    stacks > sp_profile_stack_count(&view->recording->totals[most]))
			most = i;
	}
	if (together && most != SP_EVENT_NONE)
		find_event_truncation(view, most, &all, all_guessed, blind);
}
