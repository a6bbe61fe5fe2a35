/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/unit.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"

/* Most names listed in an error message. */
#define NAMES_MAX 5

static const char *const suffixes[] = {".service", ".scope", ".slice"};
#define SUFFIX_COUNT (sizeof(suffixes) / sizeof(*suffixes))

static const char *base_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Length of a unit's name without its suffix; 0: the directory is not a unit's. */
static size_t stem_length(const char *base)
{
	size_t length = strlen(base);
	for (size_t i = 0; i < SUFFIX_COUNT; i++) {
		size_t suffix = strlen(suffixes[i]);
		if (length > suffix && !strcmp(base + length - suffix, suffixes[i]))
			return length - suffix;
	}
	return 0;
}

static bool is_unit(const struct cgroup *group, const char *name)
{
	const char *base = base_of(group->path);
	size_t stem = stem_length(base);
	return stem && (!strcmp(base, name) || (strlen(name) == stem && !memcmp(base, name, stem)));
}

/* Whether one name, without suffix, contains the other: "postgresql", "postgresql@15-main.service". */
static bool is_similar(const struct cgroup *group, const char *name)
{
	const char *base = base_of(group->path);
	size_t stem = stem_length(base), wanted = stem_length(name);
	CLEANUP_FREE char *ours = strndup(base, stem);
	CLEANUP_FREE char *theirs = strndup(name, wanted ? wanted : strlen(name));
	return stem && ours && theirs && (strcasestr(ours, theirs) || strcasestr(theirs, ours));
}

/* Joins up to NAMES_MAX names (or paths) of groups for which passes() is true; *count_ret: of all. */
static char *join(const struct cgroup_list *list, const char *name,
		  bool (*passes)(const struct cgroup *, const char *), bool paths, size_t *count_ret)
{
	char *text = strdup("");
	*count_ret = 0;
	for (size_t i = 0; i < list->count && text; i++) {
		if (!passes(&list->items[i], name) || (*count_ret)++ >= NAMES_MAX)
			continue;
		const char *path = list->items[i].path;
		char *longer = format_text("%s%s%s", text, *text ? ", " : "",
					   paths ? path : base_of(path));
		free(text);
		text = longer;
	}
	return text;
}

static struct sp_error *not_found(const struct cgroup_list *list,
				  const struct cgroup_hierarchy *hierarchy, const char *name)
{
	size_t count;
	CLEANUP_FREE char *names = join(list, name, is_similar, false, &count);
	NEED(names);
	struct sp_error *error = error_new(SP_ERROR_NOT_FOUND, "unit %s has no cgroup in %s", name,
					   hierarchy->path);
	if (count)
		return error_set_remedy(error, "similar units: %s", names);
	return error_set_remedy(error, hierarchy->version == 1
				? "`systemctl status %s` lists its processes: record them with -p"
				: "`systemctl list-units` lists units; is %s running?", name);
}

struct sp_error *unit_find(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			   const char *name, char **path_ret)
{
	CLEANUP(cgroup_list_deinit) struct cgroup_list list = {0};
	size_t count;
	TRY(cgroup_list_all(ctx, hierarchy, &list));
	CLEANUP_FREE char *paths = join(&list, name, is_unit, true, &count);
	NEED(paths);
	if (!count)
		return not_found(&list, hierarchy, name);
	if (count > 1)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "%zu units are named %s", count, name),
					"give one path: -G PATH, of %s%s", paths,
					count > NAMES_MAX ? ", …" : "");
	*path_ret = take_ptr(paths);
	return NULL;
}
