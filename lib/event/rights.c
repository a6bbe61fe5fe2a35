/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif

/* Descriptors that are left free for other uses: files, pipes, libraries. */
#define FILES_SPARE 64
#define FILES_SPARE_LEAST 8 /* smallest number that suffices */

static int64_t number_or(const struct sp_ctx *ctx, const char *path, int64_t otherwise)
{
	int64_t value;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = sysfs_read_i64(ctx, path, &value);
	return error ? otherwise : value;
}

/* Returns the value after "NAME:" in /proc/PID/status; 0 if there is none. */
static uint64_t status_field(const char *text, size_t size, const char *name, bool hexadecimal)
{
	struct cursor cursor = cursor_make(text, size, false, NULL, 0), line;
	size_t length = strlen(name);
	while (text_line(&cursor, &line)) {
		uint64_t value;
		if (cursor_left(&line) <= length || memcmp(line.pos, name, length) != 0)
			continue;
		line.pos += length;
		if (!text_char(&line, ':'))
			continue;
		text_blanks(&line);
		if (hexadecimal ? text_hex(&line, &value) : text_decimal(&line, &value))
			return value;
	}
	return 0;
}

/*
 * Whether the process is in the initial user namespace, with the map "0 0 4294967295". perf ignores
 * capabilities of other user namespaces.
 */
static bool in_first_user_namespace(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	uint64_t inside, outside, count;
	if (sysfs_read(ctx, "/proc/self/uid_map", &text, &size))
		return true;
	struct cursor cursor = cursor_make(text, size, false, NULL, 0);
	text_blanks(&cursor);
	if (!text_decimal(&cursor, &inside))
		return true;
	text_blanks(&cursor);
	if (!text_decimal(&cursor, &outside))
		return true;
	text_blanks(&cursor);
	return text_decimal(&cursor, &count) && !inside && !outside && count == UINT32_MAX;
}

static bool exists(const struct sp_ctx *ctx, const char *path)
{
	CLEANUP_FREE char *whole = format_text("%s%s", ctx_root(ctx), path);
	if (!whole)
		return false;
	return access(whole, F_OK) == 0;
}

static bool in_container(const struct sp_ctx *ctx)
{
	static const char *const marks[] = {"docker", "kubepods", "libpod", "lxc", "containerd"};
	CLEANUP_FREE char *text = NULL;
	if (exists(ctx, "/.dockerenv") || exists(ctx, "/run/.containerenv"))
		return true;
	if (sysfs_read(ctx, "/proc/self/cgroup", &text, NULL))
		return false;
	for (size_t i = 0; i < count_of(marks); i++)
		if (strstr(text, marks[i]))
			return true;
	return false;
}

static void read_status(const struct sp_ctx *ctx, struct rights *rights)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	if (sysfs_read(ctx, "/proc/self/status", &text, &size))
		return;
	if (in_first_user_namespace(ctx))
		rights->capabilities = status_field(text, size, "CapEff", true);
	rights->seccomp = status_field(text, size, "Seccomp", false) != 0;
}

struct sp_error *rights_read(const struct sp_ctx *ctx, struct rights *ret)
{
	static const char paranoid[] = "/proc/sys/kernel/perf_event_paranoid";
	struct rights rights = {
		.has_perf = exists(ctx, paranoid),
		.paranoid = number_or(ctx, paranoid, 2),
		.mlock_kb = number_or(ctx, "/proc/sys/kernel/perf_event_mlock_kb", 516),
		.max_sample_hz = number_or(ctx, "/proc/sys/kernel/perf_event_max_sample_rate", 0),
		.max_stack = number_or(ctx, "/proc/sys/kernel/perf_event_max_stack", 127),
		.kptr_restrict = number_or(ctx, "/proc/sys/kernel/kptr_restrict", 0),
		.container = in_container(ctx),
		.page_size = sysconf(_SC_PAGESIZE),
		.online_cpus = 1,
	};
	struct cpu_list cpus = {0};
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = sysfs_cpus_online(ctx, &cpus);
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return take_ptr(error);
	if (cpus.count)
		rights.online_cpus = cpus.count;
	vec_deinit(&cpus);
	read_status(ctx, &rights);
	CLEANUP_FREE char *text = NULL;
	size_t size;
	if (!sysfs_read(ctx, "/proc/sys/kernel/osrelease", &text, &size))
		snprintf(rights.release, sizeof(rights.release), "%.*s", (int)strcspn(text, "\n"),
			 text);
	struct rlimit limit;
	rights.memlock_bytes = 0;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		rights.memlock_bytes =
			limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
	rights.files = rights.files_max = 1024;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		rights.files = limit.rlim_cur;
		rights.files_max = limit.rlim_max;
	}
	*ret = rights;
	return NULL;
}

static bool has(const struct rights *rights, unsigned int capability)
{
	return rights->capabilities >> capability & 1;
}

bool rights_perfmon(const struct rights *rights)
{
	return has(rights, CAP_PERFMON) || has(rights, CAP_SYS_ADMIN);
}

bool rights_kernel_mode(const struct rights *rights)
{
	return rights->paranoid <= 1 || rights_perfmon(rights);
}

bool rights_cpu_wide(const struct rights *rights)
{
	return rights->paranoid <= 0 || rights_perfmon(rights);
}

unsigned int rights_hidden(const struct rights *rights)
{
	bool syslog = has(rights, CAP_SYSLOG);
	bool kptr = rights->kptr_restrict > (syslog ? 1 : 0);
	bool paranoid = rights->paranoid > 1 && !syslog;
	return (kptr ? HIDDEN_BY_KPTR : 0) | (paranoid ? HIDDEN_BY_PARANOID : 0);
}

/* Requirement of an action. Index: rights_action. */
struct obstacle {
	int32_t paranoid; /* highest paranoid value that permits it without capabilities */
	const char *what; /* the action, for messages: "sampling the kernel" */
};

static const struct obstacle obstacles[] = {
	[RIGHTS_ANY_EVENT] = {2, "perf events"},
	[RIGHTS_KERNEL] = {1, "sampling the kernel"},
	[RIGHTS_KERNEL_EVENT] = {1, "events that occur in the kernel"},
	[RIGHTS_TRACEPOINT] = {-1, "samples of tracepoints"},
	[RIGHTS_PROBE] = {INT32_MAX, "probes"},
	[RIGHTS_CPU_WIDE] = {0, "sampling whole CPUs"},
	[RIGHTS_TASK] = {2, "sampling this process"},
	[RIGHTS_CGROUP] = {0, "sampling whole CPUs"},
};

static struct sp_error *remedy_for_paranoid(const struct rights *rights, struct sp_error *error,
					    int32_t allows)
{
	if (rights->container)
		return error_set_remedy(error,
					"on the host: sudo sysctl kernel.perf_event_paranoid=%d; "
					"or start the container with --cap-add PERFMON",
					allows);
	return error_set_remedy(error,
				"sudo sysctl kernel.perf_event_paranoid=%d, or run as root, or "
				"sudo setcap cap_perfmon+ep $(command -v sprof)",
				allows);
}

/*
 * Explains a refusal by a seccomp filter, which can return any errno; container runtimes return ENOSYS.
 */
static struct sp_error *refused_by_filter(const struct rights *rights, const char *name)
{
	struct sp_error *error =
		error_new(SP_ERROR_PERMISSION, "%s: a seccomp filter%s refuses perf_event_open",
			  name, rights->container ? " of this container" : "");
	if (rights->container)
		return error_set_remedy(
			error, "start the container with --cap-add PERFMON (Docker before 20.10, "
			       "Podman 4: and --security-opt seccomp=unconfined), or profile it "
			       "from the host");
	return error_set_remedy(error, "run outside the sandbox, or allow perf_event_open in "
				       "its filter");
}

/* No sysctl permits probes. CAP_PERFMON permits them in some versions of Linux only. */
static struct sp_error *refused_probe(const struct rights *rights, const char *name)
{
	struct sp_error *error =
		error_new(SP_ERROR_PERMISSION, "%s: probes need CAP_SYS_ADMIN", name);
	if (rights->container)
		return error_set_remedy(error, "run as root on the host, or start the container "
					       "with --cap-add SYS_ADMIN");
	return error_set_remedy(error, "run as root (no sysctl helps): sudo $(command -v sprof) "
				       "record ...");
}

/* Explains ENOSYS, EPERM and EACCES. */
static struct sp_error *explain_refusal(const struct rights *rights, enum rights_action action,
					const char *name, int errnum)
{
	const struct obstacle *obstacle = &obstacles[action];
	if (errnum == ENOSYS && !rights->seccomp)
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "%s: this kernel has no perf events", name),
			"boot a kernel built with CONFIG_PERF_EVENTS");
	if (!rights_perfmon(rights) && rights->paranoid > obstacle->paranoid)
		return remedy_for_paranoid(rights,
					   error_new(SP_ERROR_PERMISSION,
						     "%s: kernel.perf_event_paranoid is %d, which "
						     "forbids %s",
						     name, rights->paranoid, obstacle->what),
					   obstacle->paranoid);
	if (rights->seccomp && action == RIGHTS_ANY_EVENT)
		return refused_by_filter(rights, name);
	if (action == RIGHTS_PROBE && !has(rights, CAP_SYS_ADMIN))
		return refused_probe(rights, name);
	if (action == RIGHTS_TASK)
		return error_set_remedy(
			error_new(SP_ERROR_PERMISSION,
				  "%s: it belongs to another user, or has more privileges than "
				  "this process",
				  name),
			"run as root or as that user, or sudo setcap cap_perfmon+ep "
			"$(command -v sprof)");
	return error_set_remedy(
		error_os(errnum, "%s: a security module forbids %s", name, obstacle->what),
		"check SELinux, AppArmor and kernel lockdown: see "
		"`dmesg` or the audit log");
}

/* Explains rare errors of perf_event_open(2). */
static struct sp_error *explain_rest(const struct rights *rights, const char *name, int errnum)
{
	switch (errnum) {
	case ENOSPC:
		return error_set_remedy(
			error_os(ENOSPC, "%s: all hardware breakpoints, or counters of this "
				 "kind, are in use", name),
			"use fewer, or stop other debuggers and profilers");
	case EOVERFLOW:
		return error_set_remedy(
			error_os(EOVERFLOW, "%s: call chains are limited to %u frames", name,
				 rights->max_stack),
			"use a lower --max-stack, or sudo sysctl kernel.perf_event_max_stack=N");
	case EINTR:
		return error_set_remedy(
			error_os(EINTR, "%s: the probe is in use by ftrace",
				 name),
			"remove it first (tracefs: uprobe_events, kprobe_events)");
	case EBADF:
		return error_set_remedy(
			error_os(EBADF, "%s: its control group or group leader is gone", name),
			"name one that exists until the recording ends");
	case EINVAL:
	case E2BIG:
		return error_set_remedy(
			error_os(errnum, "%s: Linux %s rejects this combination of event and options",
				 name, *rights->release ? rights->release : "of this machine"),
			"omit modifiers and options one by one; `sprof list --limits` lists "
			"what this kernel supports");
	default:
		return error_os(errnum, "%s: cannot open the event", name);
	}
}

struct sp_error *rights_explain(const struct rights *rights, enum rights_action action,
				const char *name, int errnum)
{
	switch (errnum) {
	case ENOSYS:
	case EPERM:
	case EACCES:
		return explain_refusal(rights, action, name, errnum);
	case EMFILE:
		return error_set_remedy(
			error_os(EMFILE, "%s: the limit of %llu open files is reached", name,
				 (unsigned long long)rights->files),
			"sudo prlimit --pid $$ --nofile=1048576:1048576 (of a service: "
			"LimitNOFILE=): each event, thread and CPU needs one");
	case ENFILE:
		return error_set_remedy(
			error_os(ENFILE, "%s: the system's limit of open files is reached", name),
			"sudo sysctl fs.file-max=N");
	case EBUSY:
		return error_set_remedy(
			error_os(EBUSY, "%s: the hardware counter is in use", name),
			"stop other profilers, or sudo sysctl kernel.nmi_watchdog=0");
	case ENOENT:
		/* A version 2 group has no events until its parent enables a controller for it. */
		if (action == RIGHTS_CGROUP)
			return error_set_remedy(
				error_new(SP_ERROR_UNSUPPORTED,
					  "%s: the control group has no perf events yet", name),
				"as root: echo +pids >cgroup.subtree_control in the group above it");
		__attribute__((fallthrough));
	case ENODEV:
	case EOPNOTSUPP:
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "%s: not supported by this machine", name),
			"use -e cpu-clock (few virtual machines have hardware counters)");
	default:
		return explain_rest(rights, name, errnum);
	}
}

/* Returns the smallest power of two that is at least `pages`. */
static uint32_t round_up(uint32_t pages)
{
	uint32_t power = 1;
	while (power < pages && power < (uint32_t)1 << 31)
		power *= 2;
	return power;
}

/* Returns the pages of `cpu_count` pairs of rings, with the control page of each. */
static uint64_t pages_of(struct ring_pages pages, uint32_t cpu_count)
{
	return (uint64_t)cpu_count * ((uint64_t)pages.samples + 1 + pages.sideband + 1);
}

/* Returns the number of pages that may be locked; UINT64_MAX: unlimited. */
static uint64_t locked_pages(const struct rights *rights)
{
	if (rights->paranoid < 0 || has(rights, CAP_IPC_LOCK) ||
	    rights->memlock_bytes == UINT64_MAX)
		return UINT64_MAX;
	uint64_t pages = rights->mlock_kb * 1024 / rights->page_size * rights->online_cpus;
	return pages + rights->memlock_bytes / rights->page_size;
}

bool rights_has_unlimited_rings(const struct rights *rights)
{
	return locked_pages(rights) == UINT64_MAX;
}

struct sp_error *rights_fit_rings(const struct rights *rights, uint32_t cpu_count,
				  struct ring_pages wanted, struct event_notes *notes,
				  struct ring_pages *ret)
{
	uint64_t budget = locked_pages(rights);
	wanted.samples = round_up(wanted.samples);
	wanted.sideband = round_up(wanted.sideband);
	struct ring_pages pages = {.samples = 1, .sideband = wanted.sideband};
	while (pages.sideband > 1 && pages_of(pages, cpu_count) > budget)
		pages.sideband /= 2;
	pages.samples = wanted.samples;
	while (pages.samples > 1 && pages_of(pages, cpu_count) > budget)
		pages.samples /= 2;
	*ret = pages;
	if (pages.samples == wanted.samples && pages.sideband == wanted.sideband)
		return NULL;
	char asked[64], done[64], why[160], remedy[160];
	uint64_t kb = rights->page_size / 1024;
	uint64_t need_kb = pages_of(wanted, cpu_count) * kb / rights->online_cpus + 1;
	snprintf(asked, sizeof(asked), "ring buffers of %llu KiB",
		 (unsigned long long)(wanted.samples * kb));
	snprintf(done, sizeof(done), "%llu KiB for each CPU",
		 (unsigned long long)(pages.samples * kb));
	snprintf(why, sizeof(why), "kernel.perf_event_mlock_kb is %llu and RLIMIT_MEMLOCK %llu KiB",
		 (unsigned long long)rights->mlock_kb,
		 (unsigned long long)(rights->memlock_bytes / 1024));
	snprintf(remedy, sizeof(remedy), "sudo sysctl kernel.perf_event_mlock_kb=%llu",
		 (unsigned long long)need_kb);
	return event_notes_add(notes, asked, done, why, remedy);
}

struct sp_error *rights_shrink_rings(const struct rights *rights, struct ring_pages *pages)
{
	if (pages->samples > 1 && pages->samples >= pages->sideband) {
		pages->samples /= 2;
		return NULL;
	}
	if (pages->sideband > 1) {
		pages->sideband /= 2;
		return NULL;
	}
	return error_set_remedy(
		error_new(SP_ERROR_LIMIT,
			  "cannot lock memory for ring buffers: "
			  "kernel.perf_event_mlock_kb is %llu and RLIMIT_MEMLOCK %llu KiB, "
			  "and other profilers of this user share them",
			  (unsigned long long)rights->mlock_kb,
			  (unsigned long long)(rights->memlock_bytes / 1024)),
		"end them, or sudo sysctl kernel.perf_event_mlock_kb=%llu",
		(unsigned long long)(rights->mlock_kb * 2 + 516));
}

static uint64_t open_files(void)
{
	CLEANUP(cleanup_closedir) DIR *directory = opendir("/proc/self/fd");
	uint64_t count = 0;
	while (directory && readdir(directory))
		count++;
	return count;
}

struct sp_error *rights_raise_files(const struct rights *rights, uint64_t need,
				    uint64_t *old_soft_ret)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return error_os(errno, "RLIMIT_NOFILE");
	uint64_t taken = need + open_files(), whole = taken + FILES_SPARE;
	*old_soft_ret = limit.rlim_cur;
	if (limit.rlim_cur >= whole)
		return NULL;
	struct rlimit raised = {.rlim_cur = whole, .rlim_max = limit.rlim_max};
	/* Only CAP_SYS_RESOURCE permits a higher hard limit, up to fs.nr_open. */
	if (raised.rlim_max < whole && has(rights, CAP_SYS_RESOURCE))
		raised.rlim_max = whole;
	if (raised.rlim_max >= whole && setrlimit(RLIMIT_NOFILE, &raised) == 0)
		return NULL;
	/* Without that capability, takes as many descriptors as the hard limit allows. */
	raised.rlim_cur = raised.rlim_max = limit.rlim_max;
	if (limit.rlim_max >= taken + FILES_SPARE_LEAST && setrlimit(RLIMIT_NOFILE, &raised) == 0)
		return NULL;
	unsigned long long least = taken + FILES_SPARE_LEAST;
	struct sp_error *error =
		error_new(SP_ERROR_LIMIT, "%llu open files are needed; the limit is %llu", least,
			  (unsigned long long)limit.rlim_max);
	/* Without a right that containers lack, not even root may raise a hard limit. */
	if (rights->container)
		return error_set_remedy(error, "start the container with --ulimit nofile=%llu, or "
					"use fewer events or CPUs (-e, -C)", least);
	return error_set_remedy(error, "sudo prlimit --pid $$ --nofile=%llu:%llu (of a service: "
				"LimitNOFILE=), or use fewer events or CPUs (-e, -C)", least,
				least);
}

/* Interns a copy; NULL stays NULL. False when out of memory. */
static bool copy_text(struct event_notes *notes, const char *text, const char **ret)
{
	*ret = arena_strdup(&notes->arena, text);
	return *ret || !text;
}

struct sp_error *event_notes_add(struct event_notes *notes, const char *asked, const char *done,
				 const char *why, const char *remedy)
{
	struct event_note note, *last = notes->count ? vec_last(notes) : NULL;
	bool same = last && !strcmp(last->asked, asked);
	CLEANUP_FREE char *line = format_text("%s%s %s; %s%s%s%s", same ? last->line : asked,
					      same ? ";" : ":", why, done, remedy ? " (" : "",
					      remedy ?: "", remedy ? ")" : "");
	NEED(line);
	NEED(copy_text(notes, asked, &note.asked) && copy_text(notes, done, &note.done) &&
	     copy_text(notes, why, &note.why) && copy_text(notes, remedy, &note.remedy) &&
	     copy_text(notes, line, &note.line));
	/* Another note of the event lengthens its line. */
	struct event_note *slot = same ? last : vec_push(notes);
	NEED(slot);
	*slot = note;
	return NULL;
}

struct sp_error *event_notes_breakpoint(struct event_notes *notes,
					const struct event_kernel *kernel, const char *name,
					const struct perf_event_attr *attr)
{
	bool of_code = attr->bp_type == HW_BREAKPOINT_X;
	if (attr->type != PERF_TYPE_BREAKPOINT || !event_breakpoints_fail(kernel))
		return NULL;
	return event_notes_add(notes, name, "the event counts nothing",
			       "breakpoints do not trigger on this machine",
			       of_code ? "use uprobe:PATH:SYMBOL or kprobe:SYMBOL"
				       : "use a physical machine");
}

void event_notes_deinit(struct event_notes *notes)
{
	vec_deinit(notes);
	arena_deinit(&notes->arena);
}
