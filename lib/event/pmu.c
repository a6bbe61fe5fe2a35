/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/pmu.h"

#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <string.h>
#include <strings.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

/* Longer than all names of PMUs and events. */
#define NAME_LIMIT 256

/* A PMU's file, by parts of its path: "/events", "cycles", ".unit". No part is NULL. */
struct pmu_file {
	const char *folder, *name, *suffix;
};

/* Reads the first line of a PMU's file. Returns 0, or the errno. */
static int read_file(const struct pmus *pmus, const struct pmu *pmu, struct pmu_file file, char **ret)
{
	CLEANUP_FREE char *path =
		format_text(PMU_DEVICES "/%s%s/%s%s", pmu->name, file.folder, file.name, file.suffix);
	int errnum = path ? sysfs_read(pmus->ctx, path, ret, NULL) : ENOMEM;
	if (!errnum)
		(*ret)[strcspn(*ret, "\n")] = 0;
	return errnum;
}

static struct sp_error *damaged(const struct pmu *pmu, const char *folder, const char *name,
				const char *text)
{
	struct sp_error *error = error_new(SP_ERROR_FORMAT, PMU_DEVICES "/%s%s/%s: unknown syntax \"%s\"",
					   pmu->name, folder, name, text);
	return error_set_remedy(error, "sprof does not know this PMU description");
}

static struct sp_error *read_type(struct pmus *pmus, struct pmu *pmu, bool *there)
{
	CLEANUP_FREE char *text = NULL;
	int errnum = read_file(pmus, pmu, (struct pmu_file){"", "type", ""}, &text);
	*there = !errnum;
	if (errnum == ENOMEM)
		return error_no_memory();
	if (errnum)
		return NULL;
	struct cursor cursor = cursor_make(text, strlen(text), false, NULL, 0);
	if (!text_decimal_u32(&cursor, &pmu->type) || cursor_left(&cursor))
		return damaged(pmu, "", "type", text);
	return NULL;
}

static bool has_file(const struct pmus *pmus, const struct pmu *pmu, const char *name)
{
	CLEANUP_FREE char *path =
		format_text("%s" PMU_DEVICES "/%s/%s", ctx_root(pmus->ctx), pmu->name, name);
	return path && access(path, F_OK) == 0;
}

static struct sp_error *read_pmu(struct pmus *pmus, const char *name)
{
	struct pmu pmu = {.name = arena_strdup(&pmus->arena, name)};
	bool there = false;
	NEED(pmu.name);
	struct sp_error *error = read_type(pmus, &pmu, &there);
	if (error || !there)
		return error;
	/* On hybrid machines, PMUs of CPUs have a file "cpus"; elsewhere the only one is "cpu". */
	pmu.is_core = strcmp(name, "cpu") == 0 || has_file(pmus, &pmu, "cpus");
	NEED(vec_append(pmus, pmu));
	return NULL;
}

struct sp_error *pmus_read(struct pmus *pmus, const struct sp_ctx *ctx)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	CLEANUP_FREE char *path = format_text("%s" PMU_DEVICES, ctx_root(ctx));
	*pmus = (struct pmus){.ctx = ctx};
	int errnum = path ? directory_names(path, false, &names) : ENOMEM;
	struct sp_error *error = errnum == ENOMEM ? error_no_memory() : NULL;
	for (size_t i = 0; i < names.count && !error; i++)
		error = read_pmu(pmus, names.items[i]);
	return error;
}

void pmus_deinit(struct pmus *pmus)
{
	vec_deinit(pmus);
	arena_deinit(&pmus->arena);
}

struct pmu *pmus_find(const struct pmus *pmus, const char *name, size_t size)
{
	vec_each (item, pmus)
		if (strlen(item->name) == size && memcmp(item->name, name, size) == 0)
			return item;
	return NULL;
}

/* Whether the text is "", "_0" or "12": the number of one of several PMUs of a kind. */
static bool is_instance(const char *text)
{
	if (*text == '_')
		text++;
	return !text[strspn(text, "0123456789")];
}

bool pmu_matches(const struct pmu *pmu, const char *typed, size_t size)
{
	static const char uncore[] = "uncore_";
	char pattern[NAME_LIMIT];
	const char *name = pmu->name;
	if (size >= sizeof(pattern))
		return false;
	memcpy(pattern, typed, size);
	pattern[size] = 0;
	if (strncmp(name, uncore, sizeof(uncore) - 1) == 0 &&
	    strncmp(pattern, uncore, sizeof(uncore) - 1) != 0)
		name += sizeof(uncore) - 1;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, pmu->name, 0) == 0;
	return strncmp(name, pattern, size) == 0 && is_instance(name + size);
}

/* Parses "config1:0-7,21"; false if it has another form. */
static bool parse_format(const char *text, struct pmu_format *ret)
{
	struct cursor cursor = cursor_make(text, strlen(text), false, NULL, 0);
	const uint8_t *bytes;
	uint32_t first, last;
	if (!cursor_bytes(&cursor, 6, &bytes) || memcmp(bytes, "config", 6) != 0)
		return false;
	ret->config = 0;
	ret->bits = 0;
	if (!text_char(&cursor, ':') && (!text_decimal_u32(&cursor, &ret->config) ||
					 ret->config >= PMU_CONFIG_COUNT || !text_char(&cursor, ':')))
		return false;
	do {
		if (!text_decimal_u32(&cursor, &first))
			return false;
		last = first;
		if (text_char(&cursor, '-') && !text_decimal_u32(&cursor, &last))
			return false;
		if (first > last || last > 63)
			return false;
		ret->bits |= (~UINT64_C(0) >> (63 - (last - first))) << first;
	} while (text_char(&cursor, ','));
	return !cursor_left(&cursor);
}

static struct sp_error *load_formats(struct pmus *pmus, struct pmu *pmu)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	CLEANUP_FREE char *path = format_text("%s" PMU_DEVICES "/%s/format", ctx_root(pmus->ctx), pmu->name);
	int errnum = path ? directory_names(path, true, &names) : ENOMEM;
	if (errnum == ENOMEM)
		return error_no_memory();
	pmu->formats = arena_alloc(&pmus->arena, (names.count + 1) * sizeof(*pmu->formats));
	NEED(pmu->formats);
	vec_each (item, &names) {
		CLEANUP_FREE char *text = NULL;
		struct pmu_format *format = &pmu->formats[pmu->format_count];
		if (read_file(pmus, pmu, (struct pmu_file){"/format", *item, ""}, &text))
			continue;
		if (!parse_format(text, format))
			return damaged(pmu, "/format", *item, text);
		format->name = arena_strdup(&pmus->arena, *item);
		NEED(format->name);
		pmu->format_count++;
	}
	return NULL;
}

/* An empty mask means no mask: if all CPUs of the PMU are offline, opening it reports that. */
static struct sp_error *load_cpus(struct pmus *pmus, struct pmu *pmu)
{
	CLEANUP_FREE char *text = NULL;
	struct cpu_list cpus = {0};
	const char *file = "cpumask";
	int errnum = read_file(pmus, pmu, (struct pmu_file){"", file, ""}, &text);
	/* Arm's SPE names the CPUs that have it there, and can follow tasks. */
	pmu->is_uncore = !errnum && strncmp(pmu->name, "arm_spe_", strlen("arm_spe_"));
	if (errnum && errnum != ENOMEM) {
		file = "cpus";
		errnum = read_file(pmus, pmu, (struct pmu_file){"", file, ""}, &text);
	}
	if (errnum == ENOMEM)
		return error_no_memory();
	if (errnum || !*text)
		return NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = cpu_list_parse(&cpus, text);
	if (error) {
		vec_deinit(&cpus);
		return damaged(pmu, "", file, text);
	}
	uint32_t *copy = arena_alloc(&pmus->arena, cpus.count * sizeof(*copy));
	if (copy)
		memcpy(copy, cpus.items, cpus.count * sizeof(*copy));
	pmu->cpus = copy;
	pmu->cpu_count = cpus.count;
	vec_deinit(&cpus);
	return copy ? NULL : error_no_memory();
}

struct sp_error *pmu_load(struct pmus *pmus, struct pmu *pmu)
{
	if (pmu->loaded)
		return NULL;
	TRY(load_formats(pmus, pmu));
	TRY(load_cpus(pmus, pmu));
	pmu->loaded = true;
	return NULL;
}

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name, size_t size)
{
	for (size_t i = 0; i < pmu->format_count; i++)
		if (strlen(pmu->formats[i].name) == size &&
		    memcmp(pmu->formats[i].name, name, size) == 0)
			return &pmu->formats[i];
	return NULL;
}

uint64_t pmu_format_max(const struct pmu_format *format)
{
	int width = __builtin_popcountll(format->bits);
	return width ? ~UINT64_C(0) >> (64 - width) : 0;
}

uint64_t pmu_format_encode(const struct pmu_format *format, uint64_t value)
{
	uint64_t placed = 0, left = format->bits;
	for (; left; left &= left - 1, value >>= 1)
		if (value & 1)
			placed |= left & -left;
	return placed;
}

static bool is_about_event(const char *name)
{
	static const char *const suffixes[] = {".unit", ".scale", ".per-pkg", ".snapshot"};
	const char *dot = strrchr(name, '.');
	for (size_t i = 0; dot && i < count_of(suffixes); i++)
		if (strcmp(dot, suffixes[i]) == 0)
			return true;
	return false;
}

struct sp_error *pmu_event_names(const struct pmus *pmus, const struct pmu *pmu,
				 struct name_list *list)
{
	CLEANUP(name_list_deinit) struct name_list files = {0};
	CLEANUP_FREE char *path = format_text("%s" PMU_DEVICES "/%s/events", ctx_root(pmus->ctx), pmu->name);
	int errnum = path ? directory_names(path, true, &files) : ENOMEM;
	bool stored = errnum != ENOMEM;
	for (size_t i = 0; i < files.count && stored; i++)
		if (!is_about_event(files.items[i]))
			stored = name_list_add(list, files.items[i]);
	return stored ? NULL : error_no_memory();
}

/* Parses a number like strtod() in the C locale. */
static double parse_scale(const char *text)
{
	char *end;
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double scale = c_locale ? strtod_l(text, &end, c_locale) : strtod(text, &end);
	if (c_locale)
		freelocale(c_locale);
	return end == text ? 1 : scale;
}

static struct sp_error *read_event(struct pmus *pmus, const struct pmu *pmu, const char *name,
				   struct pmu_event *ret)
{
	CLEANUP_FREE char *terms = NULL;
	CLEANUP_FREE char *unit = NULL;
	CLEANUP_FREE char *scale = NULL;
	CLEANUP_FREE char *flag = NULL;
	CLEANUP_FREE char *snapshot = NULL;
	int errnum = read_file(pmus, pmu, (struct pmu_file){"/events", name, ""}, &terms);
	if (errnum)
		return errnum == ENOMEM ? error_no_memory() :
		       error_os(errnum, PMU_DEVICES "/%s/events/%s", pmu->name, name);
	struct pmu_event event = {.scale = 1};
	event.name = arena_strdup(&pmus->arena, name);
	event.terms = arena_strdup(&pmus->arena, terms);
	if (!read_file(pmus, pmu, (struct pmu_file){"/events", name, ".unit"}, &unit) && *unit) {
		event.unit = arena_strdup(&pmus->arena, unit);
		NEED(event.unit);
	}
	if (!read_file(pmus, pmu, (struct pmu_file){"/events", name, ".scale"}, &scale))
		event.scale = parse_scale(scale);
	event.per_package = !read_file(pmus, pmu, (struct pmu_file){"/events", name, ".per-pkg"}, &flag) &&
			    strcmp(flag, "1") == 0;
	event.snapshot = !read_file(pmus, pmu, (struct pmu_file){"/events", name, ".snapshot"}, &snapshot) &&
			 strcmp(snapshot, "1") == 0;
	NEED(event.name && event.terms);
	*ret = event;
	return NULL;
}

struct sp_error *pmu_event_find(struct pmus *pmus, const struct pmu *pmu, const char *name,
				size_t size, struct pmu_event *ret)
{
	CLEANUP(name_list_deinit) struct name_list names = {0};
	*ret = (struct pmu_event){0};
	struct sp_error *error = pmu_event_names(pmus, pmu, &names);
	for (size_t i = 0; i < names.count && !error; i++)
		if (strlen(names.items[i]) == size && strncasecmp(names.items[i], name, size) == 0)
			return read_event(pmus, pmu, names.items[i], ret);
	return error;
}
