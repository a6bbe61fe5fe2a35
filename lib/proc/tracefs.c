/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fsopen(2) and fsmount(2) make a mount without a mount point. It is accessed by /proc/self/fd, and
 * ends when its descriptor is closed.
 */
#include "proc/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
#define PLACE_COUNT (count_of(places))

/* Uses the tracefs at `path` if its events can be listed. Returns 0 or an errno: ENOENT, EACCES, … */
static int try_place(struct tracefs *tracefs, const char *path)
{
	CLEANUP_FREE char *events = format_text("%s/events", path);
	if (!events)
		return ENOMEM;
	CLEANUP(cleanup_closedir) DIR *directory = opendir(events);
	if (!directory)
		return errno;
	tracefs->path = strdup(path);
	return tracefs->path ? 0 : ENOMEM;
}

static int mount_own(struct tracefs *tracefs)
{
	char path[32];
	CLEANUP_CLOSE int fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return errno;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno;
	tracefs->mount_fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (tracefs->mount_fd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tracefs->mount_fd);
	return try_place(tracefs, path);
}

/* Whether /proc/filesystems has tracefs. */
static bool kernel_has_tracefs(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *text = NULL;
	return !sysfs_read(ctx, "/proc/filesystems", &text, NULL) && strstr(text, "\ttracefs\n");
}

struct sp_error *tracefs_init(struct tracefs *tracefs, const struct sp_ctx *ctx)
{
	bool forbidden = false;
	*tracefs = (struct tracefs){.mount_fd = -1};
	for (size_t i = 0; i < PLACE_COUNT; i++) {
		CLEANUP_FREE char *path = format_text("%s%s", ctx_root(ctx), places[i]);
		int errnum = path ? try_place(tracefs, path) : ENOMEM;
		if (errnum == ENOMEM)
			return error_no_memory();
		if (!errnum)
			return NULL;
		/* Only root can read debugfs: that tells nothing about tracefs. */
		forbidden |= !i && (errnum == EACCES || errnum == EPERM);
	}
	if (!*ctx_root(ctx) && !mount_own(tracefs))
		return NULL;
	tracefs->state = forbidden ? TRACEFS_FORBIDDEN :
			 kernel_has_tracefs(ctx) ? TRACEFS_UNMOUNTED : TRACEFS_ABSENT;
	return NULL;
}

void tracefs_deinit(struct tracefs *tracefs)
{
	free(tracefs->path);
	if (tracefs->mount_fd >= 0)
		close(tracefs->mount_fd);
	*tracefs = (struct tracefs){.mount_fd = -1};
}

/*
 * Rights of a user's group to read tracefs: files of events belong to the group of the mount from
 * Linux 5.17 on, and other users cannot read them. Samples of tracepoints need a sysctl, too.
 */
#define READABLE "mode=750,gid=$(id -g)"
#define SAMPLED "sudo sysctl kernel.perf_event_paranoid=-1"

struct sp_error *tracefs_error(const struct tracefs *tracefs, const char *subject)
{
	switch (tracefs->state) {
	case TRACEFS_UNMOUNTED:
		return error_set_remedy(error_new(SP_ERROR_NOT_FOUND, "%s: tracefs is not mounted",
						  subject),
					"sudo mount -t tracefs -o " READABLE
					" tracefs /sys/kernel/tracing; " SAMPLED);
	case TRACEFS_FORBIDDEN:
		return error_set_remedy(
			error_new(SP_ERROR_PERMISSION, "%s: /sys/kernel/tracing may not be read",
				  subject),
			"run as root, or, until the next boot: sudo mount -o remount," READABLE
			" /sys/kernel/tracing; " SAMPLED);
	default:
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "%s: this kernel has no tracepoints", subject),
			"a kernel with CONFIG_EVENT_TRACING has; in a container, /sys of the host "
			"must be there");
	}
}

int tracefs_read(const struct tracefs *tracefs, const char *file, char **text_ret, size_t *size_ret)
{
	CLEANUP_FREE char *path = format_text("%s/%s", tracefs->path, file);
	return path ? io_read_file(path, text_ret, size_ret) : ENOMEM;
}

int tracefs_format(const struct tracefs *tracefs, const char *system, const char *name,
		   char **text_ret, size_t *size_ret)
{
	CLEANUP_FREE char *file = format_text("events/%s/%s/format", system, name);
	return file ? tracefs_read(tracefs, file, text_ret, size_ret) : ENOMEM;
}

int tracefs_id(const struct tracefs *tracefs, const char *system, const char *name, uint64_t *ret)
{
	CLEANUP_FREE char *file = format_text("events/%s/%s/id", system, name);
	CLEANUP_FREE char *text = NULL;
	size_t size;
	int errnum = file ? tracefs_read(tracefs, file, &text, &size) : ENOMEM;
	if (errnum)
		return errnum;
	struct cursor cursor = cursor_make(text, size, false, file, 0);
	return text_decimal(&cursor, ret) ? 0 : EINVAL;
}

void name_list_deinit(struct name_list *list)
{
	vec_each (item, list)
		free(*item);
	vec_deinit(list);
}

bool name_list_add(struct name_list *list, const char *name)
{
	char *copy = strdup(name);
	char **slot = copy ? vec_push(list) : NULL;
	if (!slot) {
		free(copy);
		return false;
	}
	*slot = copy;
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int directory_names(const char *path, bool files, struct name_list *list)
{
	CLEANUP(cleanup_closedir) DIR *directory = opendir(path);
	if (!directory)
		return errno;
	for (struct dirent *entry; (entry = readdir(directory));) {
		bool is_file = entry->d_type == DT_REG;
		if (entry->d_name[0] == '.' || is_file != files)
			continue;
		if (!name_list_add(list, entry->d_name))
			return ENOMEM;
	}
	vec_sort(list, compare_names);
	return 0;
}

int tracefs_names(const struct tracefs *tracefs, const char *system, struct name_list *list)
{
	CLEANUP_FREE char *path = format_text("%s/events%s%s", tracefs->path, system ? "/" : "",
					      system ? system : "");
	return path ? directory_names(path, false, list) : ENOMEM;
}
