/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PERF_EVENT_IOC_SET_FILTER only returns EINVAL. ftrace explains an error if the filter is written to
 * the event's file in tracefs, but that would affect other users. Therefore an ftrace instance of its
 * own is created.
 */
#include "event/event_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "proc/tracefs.h"

/* Converts "sched:sched_switch:u" to "sched/sched_switch"; NULL if it is not a tracepoint. */
static char *folder_of(const char *name)
{
	const char *colon = strchr(name, ':');
	if (!colon)
		return NULL;
	return format_text("%.*s/%.*s", (int)(colon - name), name, (int)strcspn(colon + 1, ":"),
			   colon + 1);
}

/* Makes one line of the kernel's message: its last error, and the place in the filter. */
static char *flatten(const char *text)
{
	const char *error = strstr(text, "parse_error: ");
	const char *caret = strchr(text, '^');
	if (!error)
		return NULL;
	const char *why = error + strlen("parse_error: ");
	const char *line = caret;
	while (line && line > text && line[-1] != '\n')
		line--;
	return caret ? format_text("%.*s at character %zu", (int)strcspn(why, "\n"), why,
				   (size_t)(caret - line) + 1)
		     : format_text("%.*s", (int)strcspn(why, "\n"), why);
}

/*
 * Tries the filter in an instance of ftrace of our own. Returns its error message, malloc'ed; NULL:
 * there is none.
 */
static char *try_filter(const char *instance, const char *folder, const char *filter)
{
	CLEANUP_FREE char *path = format_text("%s/events/%s/filter", instance, folder);
	CLEANUP_FREE char *text = NULL;
	size_t size;
	CLEANUP_CLOSE int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	if (fd < 0 || !io_write(fd, filter, strlen(filter)) || io_read_file(path, &text, &size))
		return NULL;
	return flatten(text);
}

static char *kernel_says(const struct sp_ctx *ctx, const char *name, const char *filter)
{
	CLEANUP(tracefs_deinit) struct tracefs tracefs = {.mount_fd = -1};
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = tracefs_init(&tracefs, ctx);
	CLEANUP_FREE char *folder = folder_of(name);
	if (error || tracefs.state != TRACEFS_READABLE || !folder)
		return NULL;
	CLEANUP_FREE char *instance = format_text("%s/instances/sprof-%d", tracefs.path, getpid());
	if (!instance || mkdir(instance, 0700))
		return NULL;
	char *said = try_filter(instance, folder, filter);
	rmdir(instance);
	return said;
}

static struct sp_error *refused_filter(const struct sp_ctx *ctx, const struct event_planned *event,
				       int errnum)
{
	CLEANUP_FREE char *folder = folder_of(event->name);
	CLEANUP_FREE char *said = errnum == EINVAL ? kernel_says(ctx, event->name, event->filter) : NULL;
	if (errnum != EINVAL)
		return error_os(errnum, "--filter '%s' of %s", event->filter, event->name);
	return error_set_remedy(
		error_new(SP_ERROR_INVALID, "--filter '%s' of %s: the kernel rejects it%s%s",
			  event->filter, event->name, said ? ": " : "", said ? said : ""),
		"fields: /sys/kernel/tracing/events/%s/format; operators: == != < <= > >= "
		"& ~ && || ! ()", folder ? folder : "…");
}

static bool has_fields(const struct event_planned *event)
{
	/* Events of the PMUs kprobe and uprobe are tracepoints in the kernel, too. */
	return event->attr.type == PERF_TYPE_TRACEPOINT || event->has_pointer ||
	       event->attr.type > PERF_TYPE_BREAKPOINT;
}

/*
 * Opens an event and sets its filter. NULL also if the event does not open. Fails if it has no
 * fields, or the kernel rejects the filter.
 */
static struct sp_error *check_one(const struct event_kernel *kernel, const struct sp_ctx *ctx,
				  const struct event_plan *plan, const struct event_planned *event,
				  uint32_t cpu)
{
	struct perf_event_attr attr = event->attr;
	if (!has_fields(event))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "--filter: %s has no fields to filter by",
				  event->name),
			"put --filter after the -e of a tracepoint or probe, or of a PMU that traces "
			"code (Intel PT, CoreSight)");
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	const struct event_target target = {plan->cpu_wide ? -1 : 0, plan->cpu_wide ? (int32_t)cpu : -1,
					    -1, 0};
	int fd = event_open_planned(kernel, event, &attr, &target);
	if (fd < 0)
		return NULL; /* it opened before: the next open reports the cause */
	int errnum = event_set_filter(kernel, fd, event->filter);
	kernel->close(kernel->arg, fd);
	return errnum ? refused_filter(ctx, event, errnum) : NULL;
}

struct sp_error *event_filters_check(const struct event_kernel *kernel, const struct sp_ctx *ctx,
				     const struct event_plan *plan, uint32_t cpu)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < plan->sample_count && !error; i++)
		if (plan->samples[i].filter)
			error = check_one(kernel, ctx, plan, &plan->samples[i], cpu);
	return error;
}
