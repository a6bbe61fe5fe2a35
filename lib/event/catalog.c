/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Generic events are opened to find out whether they exist. Other events are those that sysfs and
 * tracefs list. Entries are sorted at the end, because each source has its own order.
 */
#include <sprof/catalog.h>

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/vec.h"
#include "event/kernel_calls.h"
#include "event/event_names.h"
#include "event/pmu.h"
#include "event/vendor.h"
#include "proc/proc_text.h"
#include "proc/tracefs.h"

struct sp_catalog {
	VEC(struct sp_catalog_entry) entries;
	VEC(const char *) notes;
	struct arena arena;
	const struct sp_catalog_options *options;
	const struct event_kernel *kernel;
	struct sp_ctx *ctx;
	bool has_hardware, has_kprobe, has_uprobe;
};

DEFINE_CLEANUP(struct sp_catalog *, sp_catalog_free)

/* Names of each kind of event, and perf's name for its type. */
static const struct {
	const char *names[4], *type;
	bool only_when_asked;
} kinds[] = {
	[SP_CATALOG_HARDWARE] = {{"hw", "hardware"}, "Hardware event", false},
	[SP_CATALOG_SOFTWARE] = {{"sw", "software"}, "Software event", false},
	[SP_CATALOG_TOOL] = {{"tool"}, "Tool event", false},
	[SP_CATALOG_CACHE] = {{"cache", "hwcache"}, "Hardware cache event", false},
	[SP_CATALOG_PMU] = {{"pmu"}, "Kernel PMU event", false},
	[SP_CATALOG_RAW] = {{"raw"}, "Raw hardware event descriptor", false},
	[SP_CATALOG_BREAKPOINT] = {{"mem", "breakpoint"}, "Hardware breakpoint", false},
	[SP_CATALOG_PROBE] = {{"probe"}, "Probe", false},
	[SP_CATALOG_TRACEPOINT] = {{"tracepoint"}, "Tracepoint event", false},
	[SP_CATALOG_VENDOR] = {{"pfm"}, "Vendor's event (libpfm)", true},
};
#define KIND_COUNT (count_of(kinds))

/* Descriptions after perf_event_open(2). */
static const struct {
	const char *name, *text;
} descriptions[] = {
	{"cycles", "CPU cycles; affected by frequency changes"},
	{"instructions", "retired instructions"},
	{"cache-references", "cache accesses, usually of the last level"},
	{"cache-misses", "cache misses, usually of the last level"},
	{"branches", "retired branches"},
	{"branch-misses", "mispredicted branches"},
	{"bus-cycles", "bus cycles; may differ from CPU cycles"},
	{"stalled-cycles-frontend", "cycles without an issued instruction"},
	{"stalled-cycles-backend", "cycles without a retired instruction"},
	{"ref-cycles", "cycles at constant frequency"},
	{"cpu-clock", "CPU time in ns, by a high-resolution timer"},
	{"task-clock", "time that a task ran in ns"},
	{"page-faults", "page faults, minor and major"},
	{"context-switches", "context switches"},
	{"cpu-migrations", "migrations of a task to another CPU"},
	{"minor-faults", "page faults without disk access"},
	{"major-faults", "page faults with disk access"},
	{"alignment-faults", "unaligned accesses handled by the kernel (not on x86)"},
	{"emulation-faults", "instructions emulated by the kernel"},
	{"dummy", "counts nothing; for side-band records"},
	{"bpf-output", "output of BPF programs"},
	{"cgroup-switches", "context switches to a task of another control group"},
	{"duration_time", "wall clock time, in ns"},
	{"user_time", "time in user mode of the command, in ns"},
	{"system_time", "time in the kernel of the command, in ns"},
};

/* Returns a short description of a generic event, a static string; NULL if there is none. */
static const char *event_description(const char *name)
{
	for (size_t i = 0; i < count_of(descriptions); i++)
		if (!strcmp(descriptions[i].name, name))
			return descriptions[i].text;
	return NULL;
}

static bool names_kind(const char *pattern, enum sp_catalog_kind kind)
{
	for (size_t i = 0; i < 4 && kinds[kind].names[i]; i++)
		if (!strcmp(pattern, kinds[kind].names[i]))
			return true;
	return false;
}

static bool is_kind(const char *pattern)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (names_kind(pattern, (enum sp_catalog_kind)i))
			return true;
	return false;
}

/* Whether the name matches a glob, or contains the pattern. */
static bool like(const char *pattern, const char *name)
{
	return strpbrk(pattern, "*?[") ? fnmatch(pattern, name, FNM_CASEFOLD) == 0 :
	       strcasestr(name, pattern) != NULL;
}

/* Whether entries of that kind may be requested. */
static bool wants_kind(const struct sp_catalog *catalog, enum sp_catalog_kind kind)
{
	const struct sp_string_list *patterns = &catalog->options->patterns;
	vec_each (pattern, patterns)
		if (names_kind(*pattern, kind) ||
		    (!is_kind(*pattern) && !kinds[kind].only_when_asked))
			return true;
	return !patterns->count && !kinds[kind].only_when_asked;
}

static bool wants(const struct sp_catalog *catalog, const struct sp_catalog_entry *entry)
{
	const struct sp_string_list *patterns = &catalog->options->patterns;
	bool kind_named = false;
	if (catalog->options->pmu && (!entry->pmu || strcmp(entry->pmu, catalog->options->pmu)))
		return false;
	vec_each (pattern, patterns)
		kind_named |= names_kind(*pattern, entry->kind);
	for (size_t i = 0; i < patterns->count && !kind_named; i++)
		if (!is_kind(patterns->items[i]) &&
		    (like(patterns->items[i], entry->name) ||
		     (entry->alias && like(patterns->items[i], entry->alias))))
			return true;
	return kind_named || !patterns->count;
}

static struct sp_error *add(struct sp_catalog *catalog, struct sp_catalog_entry entry)
{
	NEED(entry.name);
	if (!entry.type)
		entry.type = kinds[entry.kind].type;
	if (!wants(catalog, &entry))
		return NULL;
	NEED(vec_append(&catalog->entries, entry));
	return NULL;
}

/* Copies and frees a text from format_text(). */
static char *move_text(struct sp_catalog *catalog, char *text)
{
	char *kept = arena_strdup(&catalog->arena, text);
	free(text);
	return kept;
}

static struct sp_error *note(struct sp_catalog *catalog, struct sp_error *error)
{
	const char *remedy = sp_error_remedy(error);
	char *line = move_text(catalog, format_text("%s%s%s%s", sp_error_message(error),
						     remedy ? " (" : "", remedy ?: "",
						     remedy ? ")" : ""));
	const char **slot = line ? vec_push(&catalog->notes) : NULL;
	sp_error_free(error);
	NEED(slot);
	*slot = line;
	return NULL;
}

/* Whether the kernel opens the event for this process, in any mode. */
static bool opens(const struct sp_catalog *catalog, const struct event_code *code)
{
	struct perf_event_attr attr = {
		.type = code->type, .config = code->config, .disabled = 1,
	};
	attr.size = event_attr_size(&attr);
	for (int user_only = 0; user_only < 2; user_only++) {
		attr.exclude_kernel = attr.exclude_hv = user_only ? 1 : 0;
		int fd = catalog->kernel->open(catalog->kernel->arg, &attr, 0, -1, -1, 0);
		if (fd >= 0) {
			catalog->kernel->close(catalog->kernel->arg, fd);
			return true;
		}
		if (fd != -EACCES && fd != -EPERM)
			return false;
	}
	return false;
}

static bool is_same(const struct event_code *a, const struct event_code *b)
{
	return a->type == b->type && a->config == b->config;
}

static struct sp_error *add_plain(struct sp_catalog *catalog)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < event_plain_count() && !error; i++) {
		const struct event_plain_name plain = event_plain_name(i);
		/* An alias is listed with the name before it. */
		const struct event_plain_name before = event_plain_name(i ? i - 1 : 0);
		if (i && is_same(&before.code, &plain.code))
			continue;
		bool is_software = plain.code.type == PERF_TYPE_SOFTWARE;
		struct sp_catalog_entry entry = {
			.kind = is_software ? SP_CATALOG_SOFTWARE : SP_CATALOG_HARDWARE,
			.name = plain.name,
			.description = event_description(plain.name),
		};
		if (i + 1 < event_plain_count()) {
			const struct event_plain_name next = event_plain_name(i + 1);
			if (is_same(&next.code, &plain.code))
				entry.alias = next.name;
		}
		if (!wants_kind(catalog, entry.kind) || !opens(catalog, &plain.code))
			continue;
		error = add(catalog, entry);
	}
	return error;
}

static struct sp_error *add_tools(struct sp_catalog *catalog)
{
	static const char *const names[] = {"duration_time", "system_time", "user_time"};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(names) && !error; i++)
		error = add(catalog, (struct sp_catalog_entry){
			.kind = SP_CATALOG_TOOL, .name = names[i],
			.description = event_description(names[i])});
	return error;
}

static struct sp_error *add_caches(struct sp_catalog *catalog)
{
	struct sp_error *error = NULL;
	if (!catalog->has_hardware || !wants_kind(catalog, SP_CATALOG_CACHE))
		return NULL;
	for (uint64_t config = 0; config < 0x20000 && !error; config++) {
		char name[64];
		const struct event_code code = {PERF_TYPE_HW_CACHE, config};
		if ((config & 0xff) >= PERF_COUNT_HW_CACHE_MAX)
			config |= 0xff;
		if (!event_cache_name(config, name, sizeof(name)) || !opens(catalog, &code))
			continue;
		error = add(catalog, (struct sp_catalog_entry){
			.kind = SP_CATALOG_CACHE, .name = arena_strdup(&catalog->arena, name)});
	}
	return error;
}

static struct sp_error *add_pmu_events(struct sp_catalog *catalog, struct pmus *pmus,
				       const struct pmu *pmu)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	struct sp_error *error = pmu_event_names(pmus, pmu, &names);
	for (size_t i = 0; i < names.count && !error; i++) {
		struct pmu_event event;
		error = pmu_event_find(pmus, pmu, names.items[i], strlen(names.items[i]), &event);
		if (error) {
			error = note(catalog, error);
			continue;
		}
		if (!event.name)
			continue;
		char *whole = format_text("%s/%s/", pmu->name, event.name);
		error = add(catalog, (struct sp_catalog_entry){
			.kind = SP_CATALOG_PMU, .name = move_text(catalog, whole),
			.alias = pmu->is_core ? arena_strdup(&catalog->arena, event.name) : NULL,
			.encoding = arena_strdup(&catalog->arena, event.terms),
			.pmu = arena_strdup(&catalog->arena, pmu->name),
			.unit = arena_strdup(&catalog->arena, event.unit)});
	}
	return error;
}

/* Adds "cpu/event=0..0xff,inv/modifier": a PMU's fields and their ranges, if it has any. */
static struct sp_error *add_pmu_form(struct sp_catalog *catalog, const struct pmu *pmu)
{
	char *text = format_text("%s/", pmu->name);
	if (!pmu->format_count) {
		free(text);
		return NULL;
	}
	for (size_t i = 0; i < pmu->format_count && text; i++) {
		uint64_t most = pmu_format_max(&pmu->formats[i]);
		char *longer = most > 1 ? format_text("%s%s%s=0..0x%llx", text, i ? "," : "",
						      pmu->formats[i].name,
						      (unsigned long long)most)
					: format_text("%s%s%s", text, i ? "," : "",
						      pmu->formats[i].name);
		free(text);
		text = longer;
	}
	char *whole = text ? format_text("%s/modifier", text) : NULL;
	free(text);
	return add(catalog, (struct sp_catalog_entry){
		.kind = SP_CATALOG_RAW, .name = move_text(catalog, whole),
		.type = "Raw event descriptor", .pmu = arena_strdup(&catalog->arena, pmu->name)});
}

static struct sp_error *add_pmu(struct sp_catalog *catalog, struct pmus *pmus, struct pmu *pmu)
{
	struct sp_error *error = pmu_load(pmus, pmu);
	if (error)
		return note(catalog, error);
	TRY(add_pmu_events(catalog, pmus, pmu));
	return add_pmu_form(catalog, pmu);
}

static struct sp_error *add_pmus(struct sp_catalog *catalog)
{
	CLEANUP(pmus_deinit) struct pmus pmus = {0};
	struct sp_error *error = pmus_read(&pmus, catalog->ctx);
	for (size_t i = 0; i < pmus.count && !error; i++) {
		struct pmu *pmu = &pmus.items[i];
		catalog->has_kprobe |= !strcmp(pmu->name, "kprobe");
		catalog->has_uprobe |= !strcmp(pmu->name, "uprobe");
		error = add_pmu(catalog, &pmus, pmu);
	}
	return error;
}

static struct sp_error *add_forms(struct sp_catalog *catalog)
{
	const bool kprobe = catalog->has_kprobe, uprobe = catalog->has_uprobe;
	const struct {
		enum sp_catalog_kind kind;
		const char *name, *type;
		bool there;
	} forms[] = {
		{SP_CATALOG_RAW, "rNNN", NULL, catalog->has_hardware},
		{SP_CATALOG_BREAKPOINT, "mem:<addr>[/len][:access]", NULL, true},
		{SP_CATALOG_BREAKPOINT, "mem:<symbol>[/len][:access]", NULL, true},
		{SP_CATALOG_BREAKPOINT, "mem:<path>:<symbol>[/len][:access]", NULL, true},
		{SP_CATALOG_PROBE, "kprobe:<function>[+offset]", "Kernel probe", kprobe},
		{SP_CATALOG_PROBE, "kretprobe:<function>", "Kernel probe of returns", kprobe},
		{SP_CATALOG_PROBE, "uprobe:<path>:<symbol>[+offset]", "Probe of a program", uprobe},
		{SP_CATALOG_PROBE, "uretprobe:<path>:<symbol>", "Probe of a program's returns",
		 uprobe},
	};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(forms) && !error; i++)
		if (forms[i].there)
			error = add(catalog, (struct sp_catalog_entry){.kind = forms[i].kind,
								       .name = forms[i].name,
								       .type = forms[i].type});
	return error;
}

/*
 * Returns "char prev_comm[16]; pid_t prev_pid; …": the declarations of the tracepoint's own fields,
 * in the catalog's arena. They follow an empty line in its format. NULL: unreadable, or out of
 * memory.
 */
static char *tracepoint_fields(struct sp_catalog *catalog, const struct tracefs *tracefs,
			       const char *system, const char *name)
{
	CLEANUP_FREE char *text = NULL;
	if (tracefs_format(tracefs, system, name, &text, NULL))
		return NULL;
	char *line = strstr(text, "\n\n"), *list = strdup("");
	while (line && list && (line = strstr(line, "\tfield:"))) {
		line += sizeof("\tfield:") - 1;
		size_t size = strcspn(line, ";\n");
		char *longer = format_text("%s%s%.*s", list, *list ? "; " : "", (int)size, line);
		free(list);
		list = longer;
		line += size;
	}
	return move_text(catalog, list);
}

static struct sp_error *add_system(struct sp_catalog *catalog, const struct tracefs *tracefs,
				   const char *system)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	if (tracefs_names(tracefs, system, &names) == ENOMEM)
		return error_no_memory();
	struct sp_error *error = NULL;
	for (size_t i = 0; i < names.count && !error; i++) {
		uint64_t id;
		struct sp_catalog_entry entry = {
			.kind = SP_CATALOG_TRACEPOINT,
			.name = move_text(catalog, format_text("%s:%s", system, names.items[i])),
		};
		if (entry.name && !wants(catalog, &entry))
			continue;
		if (tracefs_id(tracefs, system, names.items[i], &id))
			continue;
		if (catalog->options->details)
			entry.details = tracepoint_fields(catalog, tracefs, system, names.items[i]);
		error = add(catalog, entry);
	}
	return error;
}

static struct sp_error *add_tracepoints(struct sp_catalog *catalog)
{
	CLEANUP(name_list_deinit) struct name_list systems = {0};
	struct tracefs tracefs;
	if (!wants_kind(catalog, SP_CATALOG_TRACEPOINT) || catalog->options->pmu)
		return NULL;
	struct sp_error *error = tracefs_init(&tracefs, catalog->ctx);
	if (!error && !tracefs.path)
		error = note(catalog, tracefs_error(&tracefs, "tracepoints are not listed"));
	else if (!error && tracefs_names(&tracefs, NULL, &systems) == ENOMEM)
		error = error_no_memory();
	for (size_t i = 0; i < systems.count && !error; i++)
		error = add_system(catalog, &tracefs, systems.items[i]);
	tracefs_deinit(&tracefs);
	return error;
}

static bool add_vendor_event(void *arg, const char *name, const char *description)
{
	struct sp_catalog *catalog = arg;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		add(catalog, (struct sp_catalog_entry){
			.kind = SP_CATALOG_VENDOR, .name = arena_strdup(&catalog->arena, name),
			.description = arena_strdup(&catalog->arena, description)});
	return !error;
}

static struct sp_error *add_vendors(struct sp_catalog *catalog)
{
	struct sp_error *error;
	if (!wants_kind(catalog, SP_CATALOG_VENDOR))
		return NULL;
	if (!catalog->has_hardware)
		return note(catalog, error_new(SP_ERROR_UNSUPPORTED,
					       "vendor events are not listed: "
					       "this machine has no hardware counters"));
	switch (libpfm_events_list(add_vendor_event, catalog)) {
	case VENDOR_FOUND:
		return NULL;
	case VENDOR_NO_LIBRARY:
		error = error_new(SP_ERROR_UNSUPPORTED,
				  "vendor events are not listed: libpfm is not installed");
		return note(catalog, error_set_remedy(error, "install libpfm4"));
	default:
		return error_no_memory();
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct sp_catalog_entry *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct sp_error *fill(struct sp_catalog *catalog)
{
	static struct sp_error *(*const parts[])(struct sp_catalog *) = {
		add_plain, add_tools, add_caches, add_pmus, add_forms, add_tracepoints, add_vendors,
	};
	const struct event_code cycles = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
	catalog->has_hardware = opens(catalog, &cycles);
	for (size_t i = 0; i < count_of(parts); i++)
		TRY(parts[i](catalog));
	vec_sort(&catalog->entries, compare_entries);
	return NULL;
}

struct sp_error *sp_catalog_new(struct sp_ctx *ctx, const struct sp_catalog_options *options,
				struct sp_catalog **ret)
{
	CLEANUP(cleanup_sp_catalog_free) struct sp_catalog *catalog = calloc(1, sizeof(*catalog));
	NEED(catalog);
	catalog->ctx = ctx;
	catalog->options = options;
	catalog->kernel = event_kernel_real();
	struct sp_error *error = fill(catalog);
	catalog->options = NULL;
	if (!error)
		*ret = take_ptr(catalog);
	return error;
}

void sp_catalog_free(struct sp_catalog *catalog)
{
	if (!catalog)
		return;
	vec_deinit(&catalog->entries);
	vec_deinit(&catalog->notes);
	arena_deinit(&catalog->arena);
	free(catalog);
}

size_t sp_catalog_entry_count(const struct sp_catalog *catalog)
{
	return catalog->entries.count;
}

const struct sp_catalog_entry *sp_catalog_entry(const struct sp_catalog *catalog, size_t index)
{
	return &catalog->entries.items[index];
}

const char *sp_catalog_note(const struct sp_catalog *catalog, size_t index)
{
	return index < catalog->notes.count ? catalog->notes.items[index] : NULL;
}
