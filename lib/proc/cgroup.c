/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

/* Deepest level of groups that is read. Real hierarchies are not so deep. */
#define DEPTH_MAX 256

/* A line of /proc/self/mounts: "DEVICE PATH TYPE OPTIONS 0 0". */
struct mount {
	const char *path, *type, *options;
	size_t path_size, type_size, options_size;
};

static bool parse_mount(struct cursor *line, struct mount *ret)
{
	const char *device;
	size_t size;
	struct mount mount;
	if (!text_word(line, &device, &size))
		return false;
	text_blanks(line);
	if (!text_word(line, &mount.path, &mount.path_size))
		return false;
	text_blanks(line);
	if (!text_word(line, &mount.type, &mount.type_size))
		return false;
	text_blanks(line);
	if (!text_word(line, &mount.options, &mount.options_size))
		return false;
	*ret = mount;
	return true;
}

/* Whether `word` is in a comma-separated list. */
static bool list_has(const char *list, size_t size, const char *word)
{
	size_t length = strlen(word);
	for (size_t at = 0; at < size;) {
		const char *comma = memchr(list + at, ',', size - at);
		size_t end = comma ? (size_t)(comma - list) : size;
		if (end - at == length && !memcmp(list + at, word, length))
			return true;
		at = end + 1;
	}
	return false;
}

static bool is_type(const struct mount *mount, const char *type)
{
	return mount->type_size == strlen(type) && !memcmp(mount->type, type, mount->type_size);
}

/* Copies a path and decodes its octal escapes: a blank is \040 in the mounts file. */
static char *unescape(const char *text, size_t size)
{
	char *path = malloc(size + 1), *to = path;
	for (size_t i = 0; path && i < size; i++) {
		bool octal = text[i] == '\\' && i + 3 < size;
		for (size_t j = 1; j < 4 && octal; j++)
			octal = text[i + j] >= '0' && text[i + j] <= '7';
		if (octal) {
			*to++ = (text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
				(text[i + 3] - '0');
			i += 3;
		} else {
			*to++ = text[i];
		}
	}
	if (path)
		*to = '\0';
	return path;
}

struct sp_error *cgroup_hierarchy_find(const struct sp_ctx *ctx, struct cgroup_hierarchy *ret)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	int errnum = sysfs_read(ctx, "/proc/self/mounts", &text, &size);
	return errnum ? error_os(errnum, "/proc/self/mounts")
		      : cgroup_hierarchy_parse(text, size, ret);
}

struct sp_error *cgroup_hierarchy_parse(const void *text, size_t size, struct cgroup_hierarchy *ret)
{
	struct mount found = {0};
	int version = 0;
	struct cursor cursor = cursor_make(text, size, false, NULL, 0), line;
	while (version != 1 && text_line(&cursor, &line)) {
		struct mount mount;
		if (!parse_mount(&line, &mount))
			continue;
		bool is_v1 = is_type(&mount, "cgroup") &&
			     list_has(mount.options, mount.options_size, "perf_event");
		if (!is_v1 && (version || !is_type(&mount, "cgroup2")))
			continue;
		found = mount;
		version = is_v1 ? 1 : 2;
	}
	if (!version)
		return error_set_remedy(error_new(SP_ERROR_NOT_FOUND,
						  "no hierarchy of control groups is mounted that "
						  "perf events know"),
					"sudo mount -t cgroup2 none /sys/fs/cgroup");
	char *path = unescape(found.path, found.path_size);
	NEED(path);
	*ret = (struct cgroup_hierarchy){.path = path, .version = version};
	return NULL;
}

void cgroup_hierarchy_deinit(struct cgroup_hierarchy *hierarchy)
{
	free((void *)(uintptr_t)hierarchy->path);
	*hierarchy = (struct cgroup_hierarchy){0};
}

/* Whether ".." is a part of the path. */
static bool leads_up(const char *name)
{
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (part[0] == '.' && part[1] == '.' && (!part[2] || part[2] == '/'))
			return true;
	}
	return false;
}

struct sp_error *cgroup_open(const struct sp_ctx *ctx, const struct cgroup_hierarchy *hierarchy,
			     const char *name, int *fd_ret)
{
	if (leads_up(name))
		return error_new(SP_ERROR_INVALID, "control group %s: \"..\" leads out of %s", name,
				 hierarchy->path);
	CLEANUP_FREE char *path =
		format_text("%s%s/%s", ctx_root(ctx), hierarchy->path, name + (*name == '/'));
	NEED(path);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		int errnum = errno;
		return error_set_remedy(error_os(errnum, "control group %s", name),
					errnum == EACCES
						? "run as root, or as who may read %s"
						: "names are paths below %s: `find` shows them",
					hierarchy->path);
	}
	*fd_ret = fd;
	return NULL;
}

int cgroup_id(int fd, uint64_t *ret)
{
	union {
		struct file_handle handle;
		uint8_t room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} storage = {.handle.handle_bytes = sizeof(uint64_t)};
	int mount_id;
	struct stat stat;
	/* The file handle is the kernel's cgroup id. On other file systems (tests) use the inode. */
	if (!name_to_handle_at(fd, "", &storage.handle, &mount_id, AT_EMPTY_PATH) &&
	    storage.handle.handle_bytes == sizeof(uint64_t)) {
		memcpy(ret, storage.handle.f_handle, sizeof(*ret));
		return 0;
	}
	if (fstat(fd, &stat))
		return errno;
	*ret = stat.st_ino;
	return 0;
}

void cgroup_list_deinit(struct cgroup_list *list)
{
	vec_deinit(list);
	arena_deinit(&list->arena);
}

/* Adds one group, without its children; false only when out of memory. */
static bool add_group(struct cgroup_list *list, int fd, const char *path)
{
	struct cgroup group;
	if (cgroup_id(fd, &group.id))
		return true;
	group.path = arena_strdup(&list->arena, path);
	struct cgroup *slot = group.path ? vec_push(list) : NULL;
	if (slot)
		*slot = group;
	return slot;
}

/* Adds a group and, recursively, its children. Takes ownership of the descriptor. */
static struct sp_error *add_tree(struct cgroup_list *list, int fd, const char *path, int depth)
{
	CLEANUP(cleanup_closedir) DIR *directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return NULL;
	}
	NEED(add_group(list, fd, *path ? path : "/"));
	struct sp_error *error = NULL;
	const struct dirent *entry;
	while (!error && depth < DEPTH_MAX && (entry = readdir(directory))) {
		/* Skip ".", ".." and other names with a dot at the begin, which no cgroup has. */
		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		int child =
			openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0)
			continue;
		CLEANUP_FREE char *below = format_text("%s/%s", path, entry->d_name);
		if (!below) {
			close(child);
			return error_no_memory();
		}
		error = add_tree(list, child, below, depth + 1);
	}
	return error;
}

struct sp_error *cgroup_list_all(const struct sp_ctx *ctx,
				 const struct cgroup_hierarchy *hierarchy, struct cgroup_list *list)
{
	int fd;
	struct sp_error *error = cgroup_open(ctx, hierarchy, "/", &fd);
	if (error) {
		bool memory = sp_error_code(error) == SP_ERROR_NO_MEMORY;
		if (memory)
			return error;
		sp_error_free(error);
		return NULL;
	}
	return add_tree(list, fd, "", 0);
}

/* Most names listed in an error message. */
#define NAMES_MAX 5

static const char *const suffixes[] = {".service", ".scope", ".slice"};
#define SUFFIX_COUNT (count_of(suffixes))

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

/*
 * Whether one name, without suffix, contains the other: "postgresql", "postgresql@15-main.service".
 */
static bool is_similar(const struct cgroup *group, const char *name)
{
	const char *base = base_of(group->path);
	size_t stem = stem_length(base), wanted = stem_length(name);
	CLEANUP_FREE char *ours = strndup(base, stem);
	CLEANUP_FREE char *theirs = strndup(name, wanted ? wanted : strlen(name));
	return stem && ours && theirs && (strcasestr(ours, theirs) || strcasestr(theirs, ours));
}

/*
 * Joins up to NAMES_MAX names (or paths) of groups for which passes() is true; *count_ret: of all.
 */
static char *join(const struct cgroup_list *list, const char *name,
		  bool (*passes)(const struct cgroup *, const char *), bool paths,
		  size_t *count_ret)
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
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "%zu units are named %s", count, name),
			"give one path: -G PATH, of %s%s", paths, count > NAMES_MAX ? ", …" : "");
	*path_ret = take_ptr(paths);
	return NULL;
}
