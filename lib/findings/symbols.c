/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples without a symbol, by module and the resolver's reason. Modules with the same text (another
 * kernel runs here) are one finding.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "findings/runtimes.h"
#include "findings/sources.h"

/* Limit on findings by module, and the least share of each; the rest is one finding. */
#define TROUBLES_MAX 64
#define TROUBLE_LEAST 0.001
#define UNLINED_LEAST 0.01

/* Limit on findings about files that only callers are in. */
#define UNREAD_MAX 6

/* Samples of modules without symbols. */
struct trouble {
	enum resolver_problem problem;
	const char *text;   /* the resolver's; NULL: none */
	const char *remedy;
	const char *name;   /* of the module with the most samples */
	uint64_t name_samples;
	uint64_t modules, samples, weight;
};

struct troubles {
	VEC(struct trouble);
	struct u64map index_of; /* hash of problem and text -> index */
};

struct missing {
	uint64_t samples, weight;
};

/* Samples without a symbol at addresses where nothing is mapped. */
struct nowhere {
	struct missing user, kernel, guest;
};

/* Findings of each resolver problem; RESOLVER_OK: the resolver has no reason. */
static const struct problem {
	enum sp_finding_kind kind;
	const char *cause, *summary;
} problems[] = {
	[RESOLVER_OK] = {SP_FINDING_NO_SYMBOLS, "no_symbols", "of %s have no symbols"},
	[RESOLVER_MISSING_FILE] = {SP_FINDING_MISSING_FILE, "missing_file",
				   "of %s have no symbols (file not found)"},
	[RESOLVER_WRONG_FILE] = {SP_FINDING_WRONG_FILE, "wrong_file",
				 "of %s have no symbols (not the recorded file)"},
	[RESOLVER_DAMAGED_FILE] = {SP_FINDING_NO_SYMBOLS, "damaged_file",
				   "of %s have no symbols (damaged file)"},
	[RESOLVER_NO_SYMBOLS] = {SP_FINDING_NO_SYMBOLS, "no_symbols", "of %s have no symbols"},
	[RESOLVER_KERNEL_HIDDEN] = {SP_FINDING_KERNEL_HIDDEN, "kernel_hidden",
				    "of %s have no symbols (kernel addresses are hidden)"},
	[RESOLVER_KERNEL_OTHER] = {SP_FINDING_KERNEL_HIDDEN, "kernel_other",
				   "of %s have no symbols (another kernel runs here)"},
	[RESOLVER_NO_PERF_MAP] = {SP_FINDING_NO_SYMBOLS, "no_perf_map",
				  "of %s have no symbols (JIT code without a perf map)"},
	[RESOLVER_UNPROVEN] = {SP_FINDING_UNPROVEN_FILE, "unproven_file", "of %s may have wrong names"},
};

static bool add_trouble(struct troubles *troubles, const struct trouble *trouble)
{
	bool added;
	const char *text = trouble->text ?: trouble->name;
	uint64_t hash = hash_pair(hash_bytes(text, strlen(text)), trouble->problem);
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
		const struct counted *counted = &run->workers[i].counted;
		for (size_t j = 0; j < counted->leaves.count; j++) {
			const struct leaf *leaf = &counted->leaves.items[j];
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
		const struct counted *counted = &run->workers[i].counted;
		for (size_t j = 0; j < counted->leaves.count; j++) {
			const struct leaf *leaf = &counted->leaves.items[j];
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
		trouble.problem = resolver_problem(run->resolver, module, &trouble.text,
						   &trouble.remedy);
		const struct runtime *runtime =
			trouble.problem == RESOLVER_NO_PERF_MAP ? runtime_find(run) : NULL;
		if (runtime)
			trouble.remedy = runtime->symbols;
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

static const char *counted(const struct run *run)
{
	return run->options.branches ? "branches" : "samples";
}

/* A finding of one share; `summary` has a %s for "samples" or "branches". */
struct share_finding {
	struct sp_finding finding;
	const char *summary;
	const char *detail; /* follows the object; NULL: none */
};

static bool add_share(struct run *run, const struct whole *whole, const struct missing *part,
		      const struct share_finding *about)
{
	struct sp_finding finding = about->finding;
	char share[FINDING_TEXT], summary[128];
	/* Constants with one %s each. */
	const char *blank = strstr(about->summary, "%s");
	snprintf(summary, sizeof(summary), "%.*s%s%s", (int)(blank - about->summary), about->summary,
		 counted(run), blank + 2);
	finding.samples = part->samples;
	finding.share = share_of(whole, part->samples, part->weight);
	finding.summary = arena_copy_string(&run->analysis->arena, summary, strlen(summary));
	bool object = finding.object != NULL;
	return finding.summary &&
	       finding_add(run, &finding, "%s %s%s%s%s%s%s", share_text(finding.share, share), summary,
			   object ? ": " : "", finding.object ?: "",
			   about->detail ? " (" : "", about->detail ?: "", about->detail ? ")" : "");
}

static bool add_module(struct run *run, const struct whole *whole, const struct trouble *trouble)
{
	const struct problem *problem = &problems[trouble->problem];
	const struct missing part = {trouble->samples, trouble->weight};
	char object[300], more[FINDING_TEXT];
	snprintf(object, sizeof(object), "%s", trouble->name);
	if (trouble->modules > 1)
		snprintf(object, sizeof(object), "%.250s and %s more", trouble->name,
			 count_text(trouble->modules - 1, more));
	const struct share_finding about = {
		.finding = {.kind = problem->kind, .cause = problem->cause, .object = object,
			    .remedy = trouble->remedy},
		.summary = problem->summary, .detail = trouble->text,
	};
	return add_share(run, whole, &part, &about);
}

static bool add_modules(struct run *run, const struct whole *whole, const struct troubles *troubles)
{
	struct trouble rest = {0};
	for (size_t i = 0; i < troubles->count; i++) {
		const struct trouble *trouble = &troubles->items[i];
		double share = share_of(whole, trouble->samples, trouble->weight);
		if (i < TROUBLES_MAX && share >= TROUBLE_LEAST) {
			if (!add_module(run, whole, trouble))
				return false;
			continue;
		}
		rest.modules += trouble->modules;
		rest.samples += trouble->samples;
		rest.weight = weight_add(rest.weight, trouble->weight);
		if (!rest.name)
			rest.name = trouble->name;
	}
	return !rest.modules || add_module(run, whole, &rest);
}

static bool add_guest(struct run *run, const struct whole *whole, const struct missing *guest)
{
	const struct share_finding about = {
		.finding = {.kind = SP_FINDING_GUEST, .cause = "guest",
			    .remedy = "record inside the virtual machine, or exclude guests: -e EVENT:H"},
		.summary = "of %s are in virtual machines, without their mappings",
	};
	return !guest->samples || add_share(run, whole, guest, &about);
}

static bool add_unmapped(struct run *run, const struct whole *whole, const struct nowhere *nowhere)
{
	static const struct share_finding user = {
		.finding = {.kind = SP_FINDING_UNMAPPED, .cause = "unmapped",
			    .remedy = "record the program from its start: sprof record COMMAND"},
		.summary = "of %s are at addresses without a recorded mapping",
	};
	static const struct share_finding hidden = {
		.finding = {.kind = SP_FINDING_KERNEL_HIDDEN, .cause = "kernel_hidden",
			    .remedy = "record as root, or: sudo sysctl kernel.kptr_restrict=0"},
		.summary = "of %s have no symbols (kernel addresses were hidden)",
	};
	static const struct share_finding outside = {
		.finding = {.kind = SP_FINDING_UNMAPPED, .cause = "unmapped_kernel"},
		.summary = "of %s are in the kernel, outside its recorded mappings",
	};
	const struct missing *unmapped = &nowhere->user, *kernel = &nowhere->kernel;
	if (unmapped->samples && !add_share(run, whole, unmapped, &user))
		return false;
	return !kernel->samples ||
	       add_share(run, whole, kernel, machine_kernel(run->machine) ? &outside : &hidden);
}

/* Samples that may have another file's names, by file. */
static bool find_unproven(struct run *run, const struct whole *whole)
{
	size_t modules = machine_module_count(run->machine);
	CLEANUP_FREE struct missing *named = calloc(modules + 1, sizeof(*named));
	if (!named)
		return false;
	add_named(run, named);
	for (size_t i = 0; i < modules; i++) {
		const struct module *module = machine_module(run->machine, i);
		struct share_finding about = {
			.finding = {.kind = SP_FINDING_UNPROVEN_FILE, .cause = "unproven_file",
				    .object = module->name},
			.summary = problems[RESOLVER_UNPROVEN].summary,
		};
		if (named[i].samples &&
		    resolver_problem(run->resolver, module, &about.detail, &about.finding.remedy) ==
			    RESOLVER_UNPROVEN &&
		    !add_share(run, whole, &named[i], &about))
			return false;
	}
	return true;
}

/* Samples of programs by module: those without a source line, and all. */
static void count_unlined(const struct run *run, struct missing *unlined, struct missing *all)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct counted *counted = &run->workers[i].counted;
		for (size_t j = 0; j < counted->leaves.count; j++) {
			const struct leaf *leaf = &counted->leaves.items[j];
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

/* Damaged debug information, which hides inlined functions, too. */
static bool add_damaged(struct run *run, const struct whole *whole, const struct missing *all)
{
	for (size_t i = 0; i < machine_module_count(run->machine); i++) {
		const struct module *module = machine_module(run->machine, i);
		struct share_finding about = {
			.finding = {.kind = SP_FINDING_NO_SYMBOLS, .cause = "damaged_debug_info",
				    .object = module->name},
			.summary = "of %s may lack inlined functions and source lines",
		};
		if (!all[i].samples ||
		    resolver_sources_problem(run->resolver, module, &about.detail,
					     &about.finding.remedy) != RESOLVER_DAMAGED_FILE)
			continue;
		about.detail = about.detail ?: "damaged debug information";
		if (!add_share(run, whole, &all[i], &about))
			return false;
	}
	return true;
}

/* One finding of all samples without a source line, which names the module with most of them. */
static bool add_unlined(struct run *run, const struct whole *whole, const struct missing *unlined)
{
	const struct module *most = NULL;
	struct missing sum = {0};
	char object[300];
	for (size_t i = 0; i < machine_module_count(run->machine); i++) {
		sum.samples += unlined[i].samples;
		sum.weight = weight_add(sum.weight, unlined[i].weight);
		if (unlined[i].samples && (!most || unlined[i].samples > unlined[most->index].samples))
			most = machine_module(run->machine, i);
	}
	if (!most || share_of(whole, sum.samples, sum.weight) < UNLINED_LEAST)
		return true;
	snprintf(object, sizeof(object), "mostly %.250s", most->name);
	const struct share_finding about = {
		.finding = {.kind = SP_FINDING_NO_SYMBOLS, .cause = "no_lines", .object = object,
			    .remedy = "use --debuginfod, install the debug symbols, or compile with -g"},
		.summary = "of %s have no source line",
	};
	return add_share(run, whole, &sum, &about);
}

/* Damaged files in which no sample is, only callers. */
static bool add_unread(struct run *run, const struct missing *missing)
{
	size_t added = 0;
	for (size_t i = 0; i < machine_module_count(run->machine) && added < UNREAD_MAX; i++) {
		const struct module *module = machine_module(run->machine, i);
		struct sp_finding finding = {
			.kind = SP_FINDING_NO_SYMBOLS, .cause = "damaged_caller", .object = module->name,
		};
		const char *text;
		if (missing[i].samples || resolver_problem(run->resolver, module, &text, &finding.remedy) !=
						  RESOLVER_DAMAGED_FILE)
			continue;
		added++;
		if (!finding_add(run, &finding, "callers in %s may have no symbols: %s", module->name,
				 text ?: "damaged file"))
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
	count_unlined(run, unlined, all);
	bool lines = keys[SP_KEY_SRCFILE] || keys[SP_KEY_SRCLINE] || run->options.tree_lines;
	return add_damaged(run, whole, all) && (!lines || add_unlined(run, whole, unlined));
}

bool find_symbols(struct run *run)
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
	done = done && add_unmapped(run, &whole, &nowhere) && add_guest(run, &whole, &nowhere.guest) &&
	       add_modules(run, &whole, &troubles) && add_unread(run, missing) &&
	       find_unproven(run, &whole) && find_source_troubles(run, &whole);
	vec_deinit(&troubles);
	u64map_deinit(&troubles.index_of);
	return done;
}
