/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings about samples without a symbol, by module and by the cause that the resolver gives. If
 * modules have the same cause (for example, another kernel runs now), they are one finding.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "findings/sources.h"
#include "record/note.h"
#include "record/python_record.h"

/* Limit on findings by module, and least share of each. The other modules share one finding. */
#define MODULES_MAX 64
#define MODULE_LEAST 0.001
#define UNLINED_LEAST 0.01

/* Limit on findings about files that have callers only, but no sample. */
#define UNREAD_MAX 6

/* Samples in modules that have the same problem with symbols. */
struct symbol_problem {
	enum resolver_problem problem;
	const char *text;   /* the resolver's description of the cause; NULL: none */
	const char *remedy;
	const char *name;   /* name of the module with the most samples */
	uint64_t name_samples;
	uint64_t modules, samples, weight;
};

struct symbol_problems {
	VEC(struct symbol_problem);
	struct u64map index_of; /* hash of problem and text -> index */
};

struct missing {
	uint64_t samples, weight;
};

/* Samples at addresses where nothing is mapped. */
struct unmapped {
	struct missing user, kernel, guest;
};

/* Kind and texts of the finding for each problem. RESOLVER_OK: the resolver gave no cause. */
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
				   "of %s have no symbols (damaged, or no ELF file)"},
	[RESOLVER_NO_SYMBOLS] = {SP_FINDING_NO_SYMBOLS, "no_symbols", "of %s have no symbols"},
	[RESOLVER_KERNEL_HIDDEN] = {SP_FINDING_KERNEL_HIDDEN, "kernel_hidden",
				    "of %s have no symbols (kernel addresses are hidden)"},
	[RESOLVER_KERNEL_OTHER] = {SP_FINDING_KERNEL_HIDDEN, "kernel_other",
				   "of %s have no symbols (another kernel runs here)"},
	[RESOLVER_NO_PERF_MAP] = {SP_FINDING_NO_SYMBOLS, "no_perf_map",
				  "of %s have no symbols (JIT code without a perf map)"},
	[RESOLVER_UNPROVEN] = {SP_FINDING_UNPROVEN_FILE, "unproven_file",
			       "of %s may have wrong names"},
	[RESOLVER_TOO_LARGE] = {SP_FINDING_NO_SYMBOLS, "too_large",
				"of %s have no symbols (files are too large)"},
};

static void add_problem(const struct analysis_view *view, struct symbol_problems *problems_found,
			const struct symbol_problem *found)
{
	bool added;
	const char *text = found->text ?: found->name;
	uint64_t hash = hash_pair(hash_bytes(text, strlen(text)), found->problem);
	const uint32_t *index = NULL;
	if (vec_reserve(problems_found, problems_found->count + 1))
		index = u64map_put(&problems_found->index_of, hash, problems_found->count, &added);
	if (!finding_need(view, index))
		return;
	if (added) {
		*vec_push(problems_found) = *found;
		return;
	}
	struct symbol_problem *known = &problems_found->items[*index];
	if (found->samples > known->name_samples) {
		known->name = found->name;
		known->name_samples = found->samples;
	}
	known->modules++;
	known->samples += found->samples;
	known->weight = weight_add(known->weight, found->weight);
}

static struct missing *unmapped_of(struct unmapped *unmapped, const struct frame *frame)
{
	if (frame_is_guest(frame))
		return &unmapped->guest;
	return frame->cpumode == PERF_RECORD_MISC_KERNEL ? &unmapped->kernel : &unmapped->user;
}

static void add_leaf(struct missing *sum, const struct leaf *leaf)
{
	sum->samples += leaf->samples;
	sum->weight = weight_add(sum->weight, leaf->weight);
}

/* Adds up the shown samples without a symbol, by module, and those outside of all modules. */
static void add_missing(const struct analysis_view *view, struct missing *missing,
			struct unmapped *unmapped)
{
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		uint32_t index = answer_frame(at.leaf->answer);
		const struct frame *frame = &view->names->frames.items[index];
		if (!view->work->labels->frames.items[index].named)
			add_leaf(frame->module ? &missing[frame->module->index]
					       : unmapped_of(unmapped, frame), at.leaf);
	}
}

/* Adds up the shown samples with a symbol, by module. */
static void add_named(const struct analysis_view *view, struct missing *named)
{
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		uint32_t index = answer_frame(at.leaf->answer);
		const struct frame *frame = &view->names->frames.items[index];
		if (frame->module && view->work->labels->frames.items[index].named)
			add_leaf(&named[frame->module->index], at.leaf);
	}
}

static void collect(const struct analysis_view *view, const struct missing *missing,
		    struct symbol_problems *problems_found)
{
	for (size_t i = 0; i < machine_module_count(view->read->machine); i++) {
		const struct module *module = machine_module(view->read->machine, i);
		if (!missing[i].samples)
			continue;
		struct symbol_problem found = {
			.name = finding_module_name(view, module),
			.name_samples = missing[i].samples,
			.modules = 1,
			.samples = missing[i].samples,
			.weight = missing[i].weight,
		};
		if (!found.name)
			return;
		found.problem = resolver_problem(view->read->resolver, module,
						 &found.text, &found.remedy);
		const struct runtime *runtime = machine_runtime(view->read->machine, module->pid);
		if (runtime && found.problem == RESOLVER_NO_PERF_MAP)
			found.remedy = finding_runtime_remedy(view, runtime->symbols);
		add_problem(view, problems_found, &found);
	}
}

static int compare_problems(const void *a, const void *b)
{
	const struct symbol_problem *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Sums of all events that are counted. Weights of several events add up only in modes of time,
 * where they are times of threads.
 */
struct whole {
	uint64_t samples, weight;
	size_t events;
	bool is_time;
};

/*
 * Sums the leaves' weights in modes of time. They are scaled to the threads' times, but the events'
 * totals are not.
 */
static uint64_t sum_of_leaves(const struct analysis_view *view)
{
	uint64_t time_ns = 0;
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);)
		time_ns = weight_add(time_ns, at.leaf->weight);
	return time_ns;
}

static double share_of(const struct whole *whole, uint64_t samples, uint64_t weight)
{
	if ((whole->is_time || whole->events == 1) && whole->weight)
		return (double)weight / (double)whole->weight;
	return whole->samples ? (double)samples / (double)whole->samples : 0;
}

/* Returns the name of what a share is of, because other views have other shares. */
static const char *counted(const struct analysis_view *view, const struct whole *whole)
{
	return view->work->options->samples.branches ? "branches"
	       : whole->is_time			     ? "samples (by time)"
	       : whole->events > 1		     ? "all events' samples"
						     : "samples";
}

/* A finding about a share of the samples. %s in `summary` stands for "samples" or "branches". */
struct share_finding {
	struct sp_finding finding;
	const char *summary;
	const char *detail; /* text after the object; NULL: none */
};

static void add_share(const struct analysis_view *view, const struct whole *whole,
		      const struct missing *part, const struct share_finding *about)
{
	struct sp_finding finding = about->finding;
	char share[FINDING_TEXT], summary[128];
	/* The summary is a constant with one %s. */
	const char *blank = strstr(about->summary, "%s");
	snprintf(summary, sizeof(summary), "%.*s%s%s", (int)(blank - about->summary),
		 about->summary, counted(view, whole), blank + 2);
	finding.samples = part->samples;
	finding.share = share_of(whole, part->samples, part->weight);
	finding.summary = arena_strdup(&view->analysis->arena, summary);
	bool object = finding.object != NULL;
	if (finding_need(view, finding.summary))
		finding_add(view, &finding, "%s %s%s%s%s%s%s", share_text(finding.share, share),
			    summary, object ? ": " : "", finding.object ?: "",
			    about->detail ? " (" : "", about->detail ?: "",
			    about->detail ? ")" : "");
}

static void add_module(const struct analysis_view *view, const struct whole *whole,
		       const struct symbol_problem *found)
{
	const struct problem *problem = &problems[found->problem];
	const struct missing part = {found->samples, found->weight};
	char object[300], more[FINDING_TEXT];
	snprintf(object, sizeof(object), "%s", found->name);
	if (found->modules > 1)
		snprintf(object, sizeof(object), "%.250s and %s more", found->name,
			 count_text(found->modules - 1, more));
	const struct share_finding about = {
		.finding = {.kind = problem->kind, .cause = problem->cause, .object = object,
			    .remedy = found->remedy},
		.summary = problem->summary, .detail = found->text,
	};
	add_share(view, whole, &part, &about);
}

static void add_modules(const struct analysis_view *view, const struct whole *whole,
			const struct symbol_problems *problems_found)
{
	struct symbol_problem rest = {0};
	for (size_t i = 0; i < problems_found->count; i++) {
		const struct symbol_problem *found = &problems_found->items[i];
		double share = share_of(whole, found->samples, found->weight);
		if (i < MODULES_MAX && share >= MODULE_LEAST) {
			add_module(view, whole, found);
			continue;
		}
		rest.modules += found->modules;
		rest.samples += found->samples;
		rest.weight = weight_add(rest.weight, found->weight);
		if (!rest.name)
			rest.name = found->name;
	}
	if (rest.modules)
		add_module(view, whole, &rest);
}

/* Returns the remedy for hidden kernel addresses, by the settings that the recorder noted. */
static const char *unhide(const struct analysis_view *view)
{
	static const char both[] =
		"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, and record again";
	static const char *const remedies[] = {
		[0] = both,
		[HIDDEN_BY_KPTR] = "sudo sysctl kernel.kptr_restrict=0, and record again",
		[HIDDEN_BY_PARANOID] =
			"record as root, or: sudo sysctl kernel.perf_event_paranoid=1",
		[HIDDEN_BY_KPTR | HIDDEN_BY_PARANOID] = both,
	};
	unsigned int hidden = 0;
	vec_each (note, &view->read->sideband.notes)
		hidden |= note->hidden;
	return remedies[hidden];
}

static void add_unmapped(const struct analysis_view *view, const struct whole *whole,
			 const struct unmapped *all)
{
	const struct share_finding user = {
		.finding = {.kind = SP_FINDING_UNMAPPED, .cause = "unmapped",
			    .remedy = view->read->sideband.has_older
					      ? "record the program from its start: sprof record "
						"COMMAND"
					      : NULL},
		.summary = "of %s are at addresses without a recorded mapping",
	};
	static const struct share_finding foreign = {
		.finding = {.kind = SP_FINDING_UNMAPPED, .cause = "pid_namespace",
			    .remedy = "record outside the container, or start it with --pid=host"},
		.summary = "of %s are in processes outside the recorder's PID namespace "
			   "(no pid, no mappings)",
	};
	const struct share_finding hidden = {
		.finding = {.kind = SP_FINDING_KERNEL_HIDDEN,
			    .cause = "kernel_hidden",
			    .remedy = unhide(view)},
		.summary = "of %s have no symbols (kernel addresses were hidden)",
	};
	static const struct share_finding outside = {
		.finding = {.kind = SP_FINDING_UNMAPPED, .cause = "unmapped_kernel"},
		.summary = "of %s are in the kernel, outside its recorded mappings",
	};
	const struct missing *unmapped = &all->user, *kernel = &all->kernel;
	if (unmapped->samples)
		add_share(view, whole, unmapped,
			  machine_has_outside(view->read->machine) ? &foreign : &user);
	if (kernel->samples)
		add_share(view, whole, kernel,
			  machine_kernel(view->read->machine) ? &outside : &hidden);
}

static void add_moved(const struct analysis_view *view, const struct whole *whole,
		      const struct missing *named, const struct module *module)
{
	const struct share_finding about = {
		.finding = {.kind = SP_FINDING_UNPROVEN_FILE, .cause = "moved_code",
			    .object = module->name,
			    .remedy = "record with sprof, as root: it compares the memory with "
				      "the file"},
		.summary = problems[RESOLVER_UNPROVEN].summary,
		.detail = "the process replaced this code by memory without a file, and nothing "
			  "proves a copy",
	};
	add_share(view, whole, named, &about);
}

/*
 * Returns the remedy for a perf map without times, which sprof's recorder notes and stores with the
 * names.
 */
static const char *times_remedy(const struct analysis_view *view)
{
	if (!view->read->sideband.recorded_notes)
		return "use 'sprof record'";
	const char *const *word = sp_reader_info(view->read->reader)->cmdline;
	while (word && *word && strcmp(*word, "--no-names") != 0)
		word++;
	return word && *word ? "record without --no-names, which leaves out the times"
			     : "report again when the recorder has stored the names";
}

/* Adds findings, one per file, about samples with names that may come from a different file. */
static void find_unproven(const struct analysis_view *view, const struct whole *whole)
{
	size_t modules = machine_module_count(view->read->machine);
	CLEANUP_FREE struct missing *named = calloc(modules + 1, sizeof(*named));
	if (!finding_need(view, named))
		return;
	add_named(view, named);
	for (size_t i = 0; i < modules; i++) {
		const struct module *module = machine_module(view->read->machine, i);
		struct share_finding about = {
			.finding = {.kind = SP_FINDING_UNPROVEN_FILE, .cause = "unproven_file",
				    .object = module->name},
			.summary = problems[RESOLVER_UNPROVEN].summary,
		};
		if (named[i].samples && module->is_moved)
			add_moved(view, whole, &named[i], module);
		if (!named[i].samples ||
		    resolver_problem(view->read->resolver, module, &about.detail,
				     &about.finding.remedy) != RESOLVER_UNPROVEN)
			continue;
		/* Stored names have the maps' times as far as there are any. */
		if (module->is_generated)
			about.finding.remedy = resolver_is_stored(view->read->resolver, module) ?
						       NULL : times_remedy(view);
		add_share(view, whole, &named[i], &about);
	}
}

/* Counts the samples in programs' modules: those without a source line, and all. */
static void count_unlined(const struct analysis_view *view, struct missing *unlined,
			  struct missing *all)
{
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		uint32_t index = answer_frame(at.leaf->answer);
		const struct frame *frame = &view->names->frames.items[index];
		if (!frame->module || frame->cpumode != PERF_RECORD_MISC_USER)
			continue;
		add_leaf(&all[frame->module->index], at.leaf);
		if (!view->work->labels->frames.items[index].lined)
			add_leaf(&unlined[frame->module->index], at.leaf);
	}
}

/* Adds findings about damaged debug information, which hides inlined functions, too. */
static void add_damaged(const struct analysis_view *view, const struct whole *whole,
			const struct missing *all)
{
	for (size_t i = 0; i < machine_module_count(view->read->machine); i++) {
		const struct module *module = machine_module(view->read->machine, i);
		struct share_finding about = {
			.finding = {.kind = SP_FINDING_NO_SYMBOLS, .cause = "damaged_debug_info",
				    .object = module->name},
			.summary = "of %s may lack inlined functions and source lines",
		};
		if (!all[i].samples ||
		    resolver_sources_problem(view->read->resolver, module,
					     &about.detail,
					     &about.finding.remedy) != RESOLVER_DAMAGED_FILE)
			continue;
		about.detail = about.detail ?: "damaged debug information";
		add_share(view, whole, &all[i], &about);
	}
}

#define BY_ARGUMENT                                                                            \
	"files that programs were called with, as a compiler: sprof report -s argument; for lines, "
#define GENERATED_REMEDY                                                                     \
	"sprof report -s symbol: names of Node.js functions have their line; other JIT code has " \
	"lines only in a jitdump"

/* Returns the remedy for missing Python functions that a note names; NULL: it has none of them. */
static const char *python_remedy(const struct note *note)
{
	static const char *const remedies[] = {
		[PYTHON_AT_EACH_RECORD] = "read it at each sample: record with --mmap-flush 8",
		[PYTHON_LONGER] = "record for longer: a process's first 10 ms have none",
		[PYTHON_LOWER_RATE] = "record at a lower rate: -F 2500",
		[PYTHON_AT_EACH_WAIT] = ("read it sooner, which slows the program: record with "
					 "--threads --wakeup-events 1"),
		[PYTHON_NO_MORE] =
			"rely on the intervals of Python functions: they include these calls",
	};
	if (!note->python_missing || note->python_missing > note->python_calls)
		return NULL;
	return remedies[note->python_remedy < count_of(remedies) ? note->python_remedy
								 : PYTHON_NO_MORE];
}

/* Returns the remedy for samples of a module without source lines; NULL: none is known. */
static const char *lines_remedy(const struct analysis_view *view, const struct module *module)
{
	if (!strcmp(module->name, PYTHON_DSO)) {
		const char *remedy = NULL;
		for (size_t i = 0; i < view->read->sideband.notes.count && !remedy; i++)
			remedy = python_remedy(&view->read->sideband.notes.items[i]);
		return remedy;
	}
	return module->is_generated	       ? GENERATED_REMEDY
	       : module_is_distributed(module) ? resolver_debug_remedy(view->read->resolver)
					       : "compile with -g, or install the debug symbols";
}

/* Adds one finding about all samples without a source line, with the module of most of them. */
static void add_unlined(const struct analysis_view *view, const struct whole *whole,
			const struct missing *unlined)
{
	const struct module *most = NULL;
	struct missing sum = {0};
	char object[300], remedy[300];
	for (size_t i = 0; i < machine_module_count(view->read->machine); i++) {
		sum.samples += unlined[i].samples;
		sum.weight = weight_add(sum.weight, unlined[i].weight);
		if (unlined[i].samples &&
		    (!most || unlined[i].samples > unlined[most->index].samples))
			most = machine_module(view->read->machine, i);
	}
	if (!most || share_of(whole, sum.samples, sum.weight) < UNLINED_LEAST)
		return;
	snprintf(object, sizeof(object), "mostly %.250s", most->name);
	bool by_file = view->work->keys->rows[SP_KEY_SRCFILE] &&
		       view->read->sideband.command_lines > 1;
	snprintf(remedy, sizeof(remedy), "%s%s",
		 by_file && !most->is_generated ? BY_ARGUMENT : "", lines_remedy(view, most) ?: "");
	const struct share_finding about = {
		.finding = {.kind = SP_FINDING_NO_SYMBOLS, .cause = "no_lines", .object = object,
			    .remedy = *remedy ? remedy : NULL},
		.summary = "of %s have no source line",
	};
	add_share(view, whole, &sum, &about);
}

/* Adds findings about damaged files that contain callers, but no sampled address. */
static void add_unread(const struct analysis_view *view, const struct missing *missing)
{
	size_t added = 0;
	for (size_t i = 0; i < machine_module_count(view->read->machine) && added < UNREAD_MAX;
	     i++) {
		const struct module *module = machine_module(view->read->machine, i);
		struct sp_finding finding = {
			.kind = SP_FINDING_NO_SYMBOLS,
			.cause = "damaged_caller",
			.object = module->name,
		};
		const char *text;
		if (missing[i].samples ||
		    resolver_problem(view->read->resolver, module, &text,
				     &finding.remedy) != RESOLVER_DAMAGED_FILE)
			continue;
		added++;
		finding_add(view, &finding, "callers in %s may have no symbols: %s",
			    module->name, text ?: "damaged file");
	}
}

/*
 * Adds findings about debug information, if the analysis reads it: damaged files, and, if it shows
 * lines, samples without one.
 */
static void find_debug_problems(const struct analysis_view *view, const struct whole *whole)
{
	size_t modules = machine_module_count(view->read->machine);
	const bool *keys = view->work->keys->rows;
	bool shows_lines =
		keys[SP_KEY_SRCFILE] || keys[SP_KEY_SRCLINE] || view->work->options->tree.lines;
	if (!view->names->locked.finder.has)
		return;
	CLEANUP_FREE struct missing *unlined = calloc(modules + 1, sizeof(*unlined));
	CLEANUP_FREE struct missing *all = calloc(modules + 1, sizeof(*all));
	if (!finding_need(view, unlined && all))
		return;
	count_unlined(view, unlined, all);
	add_damaged(view, whole, all);
	if (shows_lines)
		add_unlined(view, whole, unlined);
}

void find_symbols(const struct analysis_view *view)
{
	size_t modules = machine_module_count(view->read->machine);
	CLEANUP_FREE struct missing *missing = calloc(modules + 1, sizeof(*missing));
	struct unmapped unmapped = {0};
	struct symbol_problems problems_found = {0};
	const struct weigher *weigher = view->work->times->weigher;
	struct whole whole = {.is_time = weigher->of_threads && !weigher->needs_wakers};
	if (!finding_need(view, missing))
		return;
	for (size_t i = 0; i < view->recording->event_count; i++) {
		const struct sp_profile *profile = &view->recording->totals[i];
		if (view->work->times->roles[i] == ROLE_NONE)
			continue;
		whole.samples = weight_add(whole.samples, profile->samples);
		if (!weigher->of_threads)
			whole.weight = weight_add(whole.weight, profile->weight);
		whole.events += profile->samples > 0;
	}
	if (whole.is_time)
		whole.weight = sum_of_leaves(view);
	add_missing(view, missing, &unmapped);
	collect(view, missing, &problems_found);
	vec_sort(&problems_found, compare_problems);
	add_unmapped(view, &whole, &unmapped);
	const struct share_finding about = {
		.finding = {.kind = SP_FINDING_GUEST,
			    .cause = "guest",
			    .remedy = "record inside the virtual machine, or exclude guests: "
				      "-e EVENT:H"},
		.summary = "of %s are in virtual machines, without their mappings",
	};
	if (unmapped.guest.samples)
		add_share(view, &whole, &unmapped.guest, &about);
	add_modules(view, &whole, &problems_found);
	add_unread(view, missing);
	find_unproven(view, &whole);
	find_debug_problems(view, &whole);
	vec_deinit(&problems_found);
	u64map_deinit(&problems_found.index_of);
}

void find_missing_python(const struct analysis_view *view)
{
	static const char summary[] =
		"of calls of Python's interpreter have no Python function (the program ran on "
		"before it was read)";
	for (size_t i = 0; i < view->read->sideband.notes.count; i++) {
		const struct note *note = &view->read->sideband.notes.items[i];
		char share[FINDING_TEXT];
		if (!python_remedy(note))
			continue;
		const struct sp_finding finding = {
			.kind = SP_FINDING_NO_SYMBOLS, .cause = "python_functions",
			.samples = note->python_missing,
			.share = (double)note->python_missing / (double)note->python_calls,
			.summary = summary,
			.remedy = python_remedy(note),
		};
		finding_add(view, &finding, "%s %s", share_text(finding.share, share),
			    summary);
	}
}
