/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why samples have no name: summed up by what the resolver says, since one cause
 * (another kernel than the recorded one, say) may stand behind many modules.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/findings.h"
#include "base/cleanup.h"

/* So many are told one by one, if they are worth it; the rest in one sentence. */
#define TROUBLES_TOLD 6
#define SHARE_TOLD 0.001
#define UNLINED_TOLD 0.01

/* Samples where nothing was mapped, or whose module's names are missing. */
struct trouble {
	enum sp_finding_kind kind;
	const char *text;   /* the resolver's; NULL: it has none */
	const char *remedy;
	const char *name;   /* of the module with the most samples */
	uint64_t name_samples;
	uint64_t modules, samples, weight;
};

struct troubles {
	VEC(struct trouble);
	struct u64map index_of; /* hash of kind and text -> index */
};

struct missing {
	uint64_t samples, weight;
};

/* What has no name where nothing is known to be mapped. */
struct nowhere {
	struct missing user, kernel, guest;
};

static enum sp_finding_kind kind_of(enum resolver_problem problem)
{
	switch (problem) {
	case RESOLVER_MISSING_FILE:
		return SP_FINDING_MISSING_FILE;
	case RESOLVER_WRONG_FILE:
		return SP_FINDING_WRONG_FILE;
	case RESOLVER_KERNEL_HIDDEN:
	case RESOLVER_KERNEL_OTHER:
		return SP_FINDING_KERNEL_HIDDEN;
	case RESOLVER_OK:
	case RESOLVER_DAMAGED_FILE:
	case RESOLVER_NO_SYMBOLS:
	case RESOLVER_NO_PERF_MAP:
	case RESOLVER_UNPROVEN:
		break;
	}
	return SP_FINDING_NO_SYMBOLS;
}

static bool add_trouble(struct troubles *troubles, const struct trouble *trouble)
{
	bool added;
	const char *text = trouble->text ?: trouble->name;
	uint64_t hash = hash_pair(hash_bytes(text, strlen(text)), trouble->kind);
	if (!vec_reserve(troubles, troubles->count + 1))
		return false;
	const uint32_t *index = u64map_put(&troubles->index_of, hash, (uint32_t)troubles->count,
					   &added);
	if (!index)
		return false;
	if (added) {
		*vec_push(troubles) = *trouble;
		return true;
	}
	struct trouble *known = &troubles->items[*index];
	if (trouble->samples > known->name_samples) {
		known->name = trouble->name;
		known->name_samples = trouble->samples;
	}
	known->modules++;
	known->samples += trouble->samples;
	known->weight = weight_add(known->weight, trouble->weight);
	return true;
}

static struct missing *where_nothing_is(struct nowhere *nowhere, const struct frame *frame)
{
	if (names_is_guest(frame))
		return &nowhere->guest;
	return frame->cpumode == PERF_RECORD_MISC_KERNEL ? &nowhere->kernel : &nowhere->user;
}

/* Adds up the shown samples that have no name: for each module, and of none. */
static void add_missing(const struct run *run, struct missing *missing, struct nowhere *nowhere)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct worker *worker = &run->workers[i];
		for (size_t j = 0; j < worker->leaves.count; j++) {
			const struct leaf *leaf = &worker->leaves.items[j];
			const struct frame *frame =
				&run->names.frames.items[leaf->answer >> LOOKUP_SHIFT];
			if (run->labels.frames.items[leaf->answer >> LOOKUP_SHIFT].named)
				continue;
			struct missing *sum = frame->module ? &missing[frame->module->index]
							    : where_nothing_is(nowhere, frame);
			sum->samples += leaf->samples;
			sum->weight = weight_add(sum->weight, leaf->weight);
		}
	}
}

/* Adds up the shown samples that have a name, for each module. */
static void add_named(const struct run *run, struct missing *named)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct worker *worker = &run->workers[i];
		for (size_t j = 0; j < worker->leaves.count; j++) {
			const struct leaf *leaf = &worker->leaves.items[j];
			uint32_t index = leaf->answer >> LOOKUP_SHIFT;
			const struct frame *frame = &run->names.frames.items[index];
			if (!frame->module || !run->labels.frames.items[index].named)
				continue;
			named[frame->module->index].samples += leaf->samples;
			named[frame->module->index].weight =
				weight_add(named[frame->module->index].weight, leaf->weight);
		}
	}
}

static bool collect(const struct run *run, const struct missing *missing,
		    struct troubles *troubles)
{
	for (size_t i = 0; i < machine_module_count(run->machine); i++) {
		const struct module *module = machine_module(run->machine, i);
		if (!missing[i].samples)
			continue;
		struct trouble trouble = {
			.name = module->name,
			.name_samples = missing[i].samples,
			.modules = 1,
			.samples = missing[i].samples,
			.weight = missing[i].weight,
		};
		trouble.kind = kind_of(resolver_problem(run->resolver, module, &trouble.text,
							&trouble.remedy));
		if (!add_trouble(troubles, &trouble))
			return false;
	}
	return true;
}

static int compare_troubles(const void *a, const void *b)
{
	const struct trouble *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Of all events together: their weights only add up where there is one. */
struct whole {
	uint64_t samples, weight;
	size_t events;
};

static double share_of(const struct whole *whole, uint64_t samples, uint64_t weight)
{
	if (whole->events == 1 && whole->weight)
		return (double)weight / (double)whole->weight;
	return whole->samples ? (double)samples / (double)whole->samples : 0;
}

/* What shares are of. */
static const char *counted(const struct run *run)
{
	return run->options.branches ? "branches" : "samples";
}

static bool tell(struct run *run, const struct trouble *trouble, double share)
{
	char part[FINDING_TEXT], more[FINDING_TEXT], also[64] = "";
	if (trouble->modules > 1)
		snprintf(also, sizeof(also), " and %s more", count_text(trouble->modules - 1, more));
	return finding_add(run, trouble->kind, trouble->samples, share, trouble->remedy,
			   "%s of the %s are in %s%s, in code without a symbol%s%s",
			   share_text(share, part), counted(run), trouble->name, also,
			   trouble->text ? ": " : "",
			   trouble->text ?: "");
}

static bool tell_all(struct run *run, const struct whole *whole, const struct troubles *troubles)
{
	struct trouble rest = {0};
	for (size_t i = 0; i < troubles->count; i++) {
		const struct trouble *trouble = &troubles->items[i];
		double share = share_of(whole, trouble->samples, trouble->weight);
		if (i < TROUBLES_TOLD && share >= SHARE_TOLD) {
			if (!tell(run, trouble, share))
				return false;
			continue;
		}
		rest.modules += trouble->modules;
		rest.samples += trouble->samples;
		rest.weight = weight_add(rest.weight, trouble->weight);
		if (!rest.name)
			rest.name = trouble->name;
	}
	if (!rest.modules)
		return true;
	char part[FINDING_TEXT], count[FINDING_TEXT];
	double share = share_of(whole, rest.samples, rest.weight);
	if (rest.modules == 1)
		return finding_add(run, SP_FINDING_NO_SYMBOLS, rest.samples, share, NULL,
				   "%s of the %s are in %s, in code without a symbol",
				   share_text(share, part), counted(run), rest.name);
	return finding_add(run, SP_FINDING_NO_SYMBOLS, rest.samples, share, NULL,
			   "%s of the %s are in %s files such as %s, in code without a symbol",
			   share_text(share, part), counted(run), count_text(rest.modules, count), rest.name);
}

static bool tell_guest(struct run *run, const struct whole *whole, const struct missing *guest)
{
	char part[FINDING_TEXT];
	double share = share_of(whole, guest->samples, guest->weight);
	return !guest->samples ||
	       finding_add(run, SP_FINDING_GUEST, guest->samples, share,
			   "record within the virtual machine, or leave them out (-e EVENT:H)",
			   "%s of the %s are of virtual machines that run here: what these have "
			   "mapped is not in the recording", share_text(share, part), counted(run));
}

static bool tell_unmapped(struct run *run, const struct whole *whole,
			  const struct nowhere *nowhere)
{
	char part[FINDING_TEXT];
	const struct missing *unmapped = &nowhere->user, *kernel = &nowhere->kernel;
	double share = share_of(whole, unmapped->samples, unmapped->weight);
	if (unmapped->samples &&
	    !finding_add(run, SP_FINDING_UNMAPPED, unmapped->samples, share,
			 "attach before the code is mapped, or record the start of the program",
			 "%s of the %s are at addresses where nothing is known to be mapped",
			 share_text(share, part), counted(run)))
		return false;
	if (!kernel->samples)
		return true;
	share = share_of(whole, kernel->samples, kernel->weight);
	if (!machine_kernel(run->machine))
		return finding_add(run, SP_FINDING_KERNEL_HIDDEN, kernel->samples, share,
				   "record as root, or set kernel.kptr_restrict to 0",
				   "%s of the %s are in the kernel, of which the recording does not "
				   "say where it was: its addresses were hidden",
				   share_text(share, part), counted(run));
	return finding_add(run, SP_FINDING_UNMAPPED, kernel->samples, share, NULL,
			   "%s of the %s are in the kernel outside of what the recording knows "
			   "of it", share_text(share, part), counted(run));
}

/* Names that may be another file's. The text has the reason for the file with the most samples. */
static bool report_unproven(struct run *run, const struct whole *whole)
{
	const struct module *most = NULL;
	struct missing sum = {0};
	char part[FINDING_TEXT], more[FINDING_TEXT], also[64] = "";
	const char *text = NULL, *remedy = NULL;
	size_t modules = machine_module_count(run->machine), files = 0;
	CLEANUP_FREE struct missing *named = calloc(modules + 1, sizeof(*named));
	if (!named)
		return false;
	add_named(run, named);
	for (size_t i = 0; i < modules; i++) {
		const struct module *module = machine_module(run->machine, i);
		if (!named[i].samples || resolver_problem(run->resolver, module, &text, &remedy) !=
						 RESOLVER_UNPROVEN)
			continue;
		files++;
		sum.samples += named[i].samples;
		sum.weight = weight_add(sum.weight, named[i].weight);
		if (!most || named[i].samples > named[most->index].samples)
			most = module;
	}
	if (!most)
		return true;
	if (files > 1)
		snprintf(also, sizeof(also), " and %s more files", count_text(files - 1, more));
	resolver_problem(run->resolver, most, &text, &remedy);
	double share = share_of(whole, sum.samples, sum.weight);
	return finding_add(run, SP_FINDING_UNPROVEN_FILE, sum.samples, share, remedy,
			   "%s of the %s are in %s%s, whose names may be wrong: %s",
			   share_text(share, part), counted(run), most->name, also, text);
}

/* Samples of programs by module: those without a source line, and all. */
static void add_unlined(const struct run *run, struct missing *unlined, struct missing *all)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct worker *worker = &run->workers[i];
		for (size_t j = 0; j < worker->leaves.count; j++) {
			const struct leaf *leaf = &worker->leaves.items[j];
			uint32_t index = leaf->answer >> LOOKUP_SHIFT;
			const struct frame *frame = &run->names.frames.items[index];
			if (!frame->module || frame->cpumode != PERF_RECORD_MISC_USER)
				continue;
			struct missing *sum = &all[frame->module->index];
			sum->samples += leaf->samples;
			sum->weight = weight_add(sum->weight, leaf->weight);
			if (run->labels.frames.items[index].lined)
				continue;
			sum = &unlined[frame->module->index];
			sum->samples += leaf->samples;
			sum->weight = weight_add(sum->weight, leaf->weight);
		}
	}
}

/* Debug information that cannot be read leaves inlined functions out, too. */
static bool tell_damaged(struct run *run, const struct whole *whole, const struct missing *all)
{
	char part[FINDING_TEXT];
	for (size_t i = 0; i < machine_module_count(run->machine); i++) {
		const struct module *module = machine_module(run->machine, i);
		const char *text, *remedy;
		if (!all[i].samples || resolver_sources_problem(run->resolver, module, &text,
								&remedy) != RESOLVER_DAMAGED_FILE)
			continue;
		double share = share_of(whole, all[i].samples, all[i].weight);
		if (!finding_add(run, SP_FINDING_NO_SYMBOLS, all[i].samples, share, remedy,
				 "%s of the %s are in %s, where inlined functions and source "
				 "lines may be missing: %s", share_text(share, part), counted(run),
				 module->name, text ?: "its debug information is damaged"))
			return false;
	}
	return true;
}

/* Lines were asked for: what has none is told together, and where most of it is. */
static bool tell_unlined(struct run *run, const struct whole *whole, const struct missing *unlined)
{
	const struct module *most = NULL;
	struct missing sum = {0};
	char part[FINDING_TEXT];
	for (size_t i = 0; i < machine_module_count(run->machine); i++) {
		sum.samples += unlined[i].samples;
		sum.weight = weight_add(sum.weight, unlined[i].weight);
		if (unlined[i].samples && (!most || unlined[i].samples > unlined[most->index].samples))
			most = machine_module(run->machine, i);
	}
	double share = share_of(whole, sum.samples, sum.weight);
	if (!most || share < UNLINED_TOLD)
		return true;
	return finding_add(run, SP_FINDING_NO_SYMBOLS, sum.samples, share,
			   "install its debug symbols (its -dbgsym or -debuginfo package), or build "
			   "it with -g",
			   "%s of the %s have no source line, most of them in %s",
			   share_text(share, part), counted(run), most->name);
}

/* What callers alone are in has no samples of its own: that its file cannot be read is said. */
static bool tell_unread(struct run *run, const struct missing *missing)
{
	size_t told = 0;
	for (size_t i = 0; i < machine_module_count(run->machine) && told < TROUBLES_TOLD; i++) {
		const struct module *module = machine_module(run->machine, i);
		const char *text, *remedy;
		if (missing[i].samples || resolver_problem(run->resolver, module, &text, &remedy) !=
						  RESOLVER_DAMAGED_FILE)
			continue;
		told++;
		if (!finding_add(run, SP_FINDING_NO_SYMBOLS, 0, 0, remedy,
				 "callers in %s may have no name: %s", module->name,
				 text ?: "its file is damaged"))
			return false;
	}
	return true;
}

static bool find_source_troubles(struct run *run, const struct whole *whole)
{
	size_t modules = machine_module_count(run->machine);
	const bool *keys = run->work.keys;
	if (!run->names.sources.has)
		return true;
	CLEANUP_FREE struct missing *unlined = calloc(modules + 1, sizeof(*unlined));
	CLEANUP_FREE struct missing *all = calloc(modules + 1, sizeof(*all));
	if (!unlined || !all)
		return false;
	add_unlined(run, unlined, all);
	bool lines = keys[SP_KEY_SRCFILE] || keys[SP_KEY_SRCLINE] || run->options.tree_lines;
	return tell_damaged(run, whole, all) && (!lines || tell_unlined(run, whole, unlined));
}

bool find_troubles(struct run *run)
{
	size_t modules = machine_module_count(run->machine);
	CLEANUP_FREE struct missing *missing = calloc(modules + 1, sizeof(*missing));
	struct nowhere nowhere = {0};
	struct troubles troubles = {0};
	struct whole whole = {0};
	if (!missing)
		return false;
	for (size_t i = 0; i < run->analysis->profile_count; i++) {
		const struct sp_profile *profile = &run->analysis->profiles[i];
		whole.samples = weight_add(whole.samples, profile->samples);
		whole.weight = weight_add(whole.weight, profile->weight);
		whole.events += profile->samples > 0;
	}
	add_missing(run, missing, &nowhere);
	bool done = collect(run, missing, &troubles);
	if (troubles.count)
		qsort(troubles.items, troubles.count, sizeof(*troubles.items), compare_troubles);
	done = done && tell_unmapped(run, &whole, &nowhere) && tell_guest(run, &whole, &nowhere.guest) &&
	       tell_all(run, &whole, &troubles) && tell_unread(run, missing) &&
	       report_unproven(run, &whole) &&
	       find_source_troubles(run, &whole);
	vec_deinit(&troubles);
	u64map_deinit(&troubles.index_of);
	return done;
}
