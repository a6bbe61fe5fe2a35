/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/shown_names.h"

#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "frames/linkage.h"
#include "profile/srcfile.h"
#include "symbol/demangle.h"

/* Forms of a name, the shortest first. */
enum form {
	FORM_NAME, FORM_MARK, FORM_PARAMETERS, FORM_WHOLE, FORM_FILE, FORM_WHOLE_FILE, FORM_ADDRESS,
	FORM_COUNT
};

/*
 * Returns the suffix for the compiler's variants of a function: of its code ("._omp_fn.0"), or of
 * destructors and constructors. malloc'ed; NULL when out of memory.
 */
static char *mark_of(const char *raw)
{
	char variant = linkage_variant(raw);
	const char *dot = strchr(raw, '.');
	if (raw[0] != '_' || raw[1] != 'Z' || strstr(raw, "17h"))
		return strdup("");
	if (dot && dot[1])
		return format_text(" [clone %s]", dot);
	return strdup(variant == '0' ? " [deleting]" : variant == '2' ? " [base]" : "");
}

/* Returns the form of a function's name. malloc'ed; NULL when out of memory. */
static char *form_of(const struct named *named, enum form form, const struct srcfiles *files)
{
	struct arena arena = {0};
	const char *file = srcfiles_shown(files, named->file);
	const char *dot = form == FORM_PARAMETERS ? strchr(named->raw, '.') : NULL;
	CLEANUP_FREE char *raw = strndup(named->raw, dot ? (size_t)(dot - named->raw) : SIZE_MAX);
	const char *whole = (raw ? demangle_whole(raw, &arena) : NULL) ?: named->name;
	CLEANUP_FREE char *mark = mark_of(named->raw);
	char *text = NULL;
	if (!mark || !raw)
		form = FORM_COUNT;
	switch (form) {
	case FORM_FILE:
		text = format_text(file ? "%s%s (%s)" : "%s%s", named->name, mark, file);
		break;
	case FORM_WHOLE_FILE:
		text = format_text(file ? "%s (%s)" : "%s", whole, file);
		break;
	case FORM_ADDRESS:
		if (named->start != UINT64_MAX)
			text = format_text("%s@0x%llx", whole, (unsigned long long)named->start);
		else
			text = format_text("%s (%s:%u)", whole, file ?: "?", named->declared);
		break;
	case FORM_PARAMETERS:
	case FORM_WHOLE:
		text = strdup(whole);
		break;
	case FORM_NAME:
	case FORM_MARK:
		text = format_text("%s%s", named->name, form == FORM_MARK ? mark : "");
		break;
	case FORM_COUNT:
		break;
	}
	arena_deinit(&arena);
	return text;
}

static uint64_t shown_hash(const struct named *named)
{
	return hash_pair((uintptr_t)named->dso, (uintptr_t)named->shown);
}

/*
 * Moves the functions that share their shown name to the begin of the array. *count is their
 * number.
 */
static bool retain_shared(struct named **items, size_t *count)
{
	struct u64map counts = {0};
	size_t kept = 0;
	bool done = u64map_reserve(&counts, *count);
	for (size_t i = 0; i < *count && done; i++) {
		uint32_t *of = u64map_put(&counts, shown_hash(items[i]), 0, NULL);
		done = of;
		if (of)
			++*of;
	}
	for (size_t i = 0; i < *count && done; i++)
		if (*u64map_find(&counts, shown_hash(items[i])) > 1)
			items[kept++] = items[i];
	*count = kept;
	u64map_deinit(&counts);
	return done;
}

/* Lists the source files of functions, each once, and finds the parts that distinguish them. */
static bool find_files(struct srcfiles *files, struct named *const *items, size_t count)
{
	CLEANUP_FREE const char **paths = calloc(count + 1, sizeof(*paths));
	size_t found = 0;
	for (size_t i = 0; paths && i < count; i++)
		if (items[i]->file)
			paths[found++] = items[i]->file;
	return paths && srcfiles_of(files, paths, found);
}

/*
 * Gives a longer form to functions that share their shown name, for each form in turn. Moves those
 * that still share it to the begin of the array. `files` is for the forms from FORM_FILE on.
 */
static bool try_forms(struct functions *functions, struct named **items, size_t *count,
		      enum form begin, enum form end, struct srcfiles *files)
{
	bool done = retain_shared(items, count) &&
		    (begin < FORM_FILE || find_files(files, items, *count));
	for (enum form form = begin; done && form < end; form++) {
		for (size_t i = 0; done && i < *count; i++) {
			CLEANUP_FREE char *text = form_of(items[i], form, files);
			items[i]->shown = text ? functions_text(functions, text) : NULL;
			done = items[i]->shown;
		}
		done = done && retain_shared(items, count);
	}
	return done;
}

static int compare_dsos(const void *a, const void *b)
{
	const struct named *const *x = a, *const *y = b;
	return u64_order((uintptr_t)(*x)->dso, (uintptr_t)(*y)->dso);
}

/*
 * Sets the shown names of functions of one dso that are not unique in shorter forms. Names do not
 * depend on the source files of other dsos, which may have no samples in a part of the recording.
 */
static bool choose_names(struct functions *functions, struct named **items, size_t count)
{
	struct srcfiles none = {0};
	bool differ = false;
	for (size_t i = 0; i < count; i++) {
		items[i]->shown = items[i]->name;
		differ |= items[i]->place || items[i]->name != items[i]->raw;
	}
	/* Names that are not mangled are unique if no function has a place. */
	if (!differ)
		return true;
	bool done = try_forms(functions, items, &count, FORM_MARK, FORM_FILE, &none);
	qsort(items, done ? count : 0, sizeof(struct named *), compare_dsos);
	for (size_t i = 0, size; done && i < count; i += size) {
		for (size = 1; i + size < count && items[i + size]->dso == items[i]->dso;)
			size++;
		struct srcfiles files = {0};
		size_t left = size;
		done = try_forms(functions, &items[i], &left, FORM_FILE, FORM_COUNT, &files);
		srcfiles_deinit(&files);
	}
	return done;
}

/* Sets the identities of functions. Views without dsos must add them to names that are shared. */
static bool identify(const struct functions *functions, const struct u64map *dso_of)
{
	struct u64map first = {0};
	bool done = u64map_reserve(&first, functions->named.count);
	for (uint32_t i = 0; i < functions->named.count && done; i++) {
		struct named *named = functions->named.items[i];
		const uint32_t *dso = u64map_find(dso_of, (uintptr_t)named->dso);
		const uint32_t *of = u64map_put(&first, (uintptr_t)named->shown, i, NULL);
		bool inlined = named->start == UINT64_MAX;
		done = of;
		named->identity = (struct sp_identity){
			.linkage_name = named->raw,
			.path = dso ? functions->dsos.items[*dso].path : NULL,
			.address = inlined ? 0 : named->start,
			.home = inlined ? named->file : NULL,
			.home_line = inlined ? named->declared : 0,
			.name_is_shared = of && *of != i,
		};
		if (named->identity.name_is_shared)
			functions->named.items[*of]->identity.name_is_shared = true;
	}
	u64map_deinit(&first);
	return done;
}

/* Finds the shown name of each file. Maps the text of a dso to its index in `dsos`. */
static bool choose_dsos(struct functions *functions, struct u64map *dso_of)
{
	CLEANUP_FREE const char **paths = calloc(functions->dsos.count + 1, sizeof(*paths));
	struct srcfiles files = {0};
	size_t count = 0;
	bool done = paths;
	for (uint32_t i = 0; i < functions->dsos.count && done; i++) {
		struct dso *dso = &functions->dsos.items[i];
		bool added;
		uint32_t *of = u64map_put(dso_of, (uintptr_t)dso->text, i, &added);
		done = of;
		if (of && !added && strcmp(dso->path, functions->dsos.items[*of].path) < 0)
			functions->dsos.items[*of].path = dso->path;
	}
	for (size_t i = 0; i < functions->dsos.count && done; i++) {
		const struct dso *dso = &functions->dsos.items[i];
		if (dso->is_file && *u64map_find(dso_of, (uintptr_t)dso->text) == i)
			paths[count++] = dso->path;
	}
	done = done && srcfiles_of(&files, paths, count);
	for (size_t i = 0; i < functions->dsos.count && done; i++) {
		struct dso *dso = &functions->dsos.items[i];
		const char *shown = dso->is_file ? srcfiles_shown(&files, dso->path) : dso->name;
		/* A name that is not the path's last part is the recording's, such as "[vdso]". */
		dso->name = strchr(shown, '/') ? shown : dso->name;
	}
	srcfiles_deinit(&files);
	return done;
}

static void replace_names(struct functions *functions, const struct functions *rows,
			  const struct u64map *dso_of)
{
	vec_each (function, functions) {
		const uint32_t *dso = u64map_find(dso_of, (uintptr_t)function->dso);
		if (dso)
			function->dso = rows->dsos.items[*dso].name;
		if (function->symbol_of)
			function->symbol = function->symbol_of->shown;
		if (function->function_of)
			function->function = function->function_of->shown;
		const struct named *named = function->symbol_of ?: function->function_of;
		if (named)
			function->start = named->identity.address;
	}
}

bool name_functions(struct functions *rows, struct functions *nodes)
{
	size_t count = rows->named.count;
	struct u64map dso_of = {0};
	CLEANUP_FREE struct named **items = calloc(count + 1, sizeof(struct named *));
	if (items && count)
		memcpy(items, rows->named.items, count * sizeof(*items));
	bool done = items && choose_names(rows, items, count) && choose_dsos(rows, &dso_of) &&
		    identify(rows, &dso_of);
	if (done) {
		replace_names(rows, rows, &dso_of);
		replace_names(nodes, rows, &dso_of);
	}
	u64map_deinit(&dso_of);
	return done;
}

char *shown_name_whole(const struct named *named)
{
	return form_of(named, FORM_WHOLE_FILE, &(const struct srcfiles){0});
}

/* Returns whether `text` is "NAME (FILE)" with a part of the function's file. */
static bool is_with_file(const char *text, const char *name, const char *file)
{
	size_t size = strlen(name), rest = strlen(text);
	if (!file || strncmp(text, name, size) || strncmp(text + size, " (", 2) ||
	    text[rest - 1] != ')')
		return false;
	const char *part = text + size + 2;
	size_t part_size = rest - size - 3, file_size = strlen(file);
	if (!part_size || part_size > file_size)
		return false;
	const char *end = file + file_size - part_size;
	return !strncmp(end, part, part_size) && (end == file || end[-1] == '/' || *end == '/');
}

/*
 * Returns the size of the name in "NAME [DSO]", if DSO is the function's dso, or the end of its
 * path; else 0.
 */
static size_t size_before_dso(const char *text, const char *dso)
{
	size_t size = strlen(text), dso_size = dso ? strlen(dso) : 0;
	const char *begin = NULL;
	for (const char *next = strstr(text, " ["); next; next = strstr(next + 1, " ["))
		begin = next;
	if (!begin || !dso_size || text[size - 1] != ']' || begin + 2 + dso_size >= text + size)
		return 0;
	const char *base = text + size - 1 - dso_size;
	bool same = !strncmp(base, dso, dso_size) && (base == begin + 2 || base[-1] == '/');
	return same ? (size_t)(begin - text) : 0;
}

bool shown_name_is(const struct named *named, const char *text)
{
	const struct srcfiles none = {0};
	size_t size = size_before_dso(text, named->dso);
	if (size) {
		struct named other = *named;
		CLEANUP_FREE char *name = strndup(text, size);
		other.dso = NULL;
		return name && shown_name_is(&other, name);
	}
	if (sp_name_fits(text, named->name))
		return true;
	bool longer = !strncmp(text, named->name, strlen(named->name)) && strpbrk(text, "(@[");
	if (!longer && !strstr(text, "…"))
		return false;
	for (enum form form = FORM_NAME; form < FORM_COUNT; form++) {
		CLEANUP_FREE char *shown = form_of(named, form, &none);
		if (shown && (sp_name_fits(text, shown) || is_with_file(text, shown, named->file)))
			return true;
	}
	return false;
}
