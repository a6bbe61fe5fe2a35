/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sysctls, limits and files that perf_event_open(2) depends on, and their meaning for this user. */
#include <sprof/catalog.h>

#include <string.h>
#include <linux/capability.h>
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/vec.h"
#include "event/pmu.h"
#include "event/rights.h"
#include "proc/sysfs.h"
#include "proc/tracefs.h"

#define SYSCTL "/proc/sys/kernel/"

/* CAP_PERFMON of Linux 5.8; the headers of this build may be older. */
#define PERFMON 38

struct sp_limits {
	VEC(struct sp_limit);
	struct arena arena;
	struct rights rights;
	struct sp_ctx *ctx;
};

DEFINE_CLEANUP(struct sp_limits *, sp_limits_free)

/* Copies and frees a text from format_text(). NULL stays NULL. */
static const char *move_text(struct sp_limits *limits, char *text)
{
	const char *kept = arena_strdup(&limits->arena, text);
	free(text);
	return kept;
}

static struct sp_error *add(struct sp_limits *limits, const struct sp_limit *limit)
{
	struct sp_limit *slot = limit->meaning ? vec_push(limits) : NULL;
	NEED(slot);
	*slot = *limit;
	return NULL;
}

/* Reads a line without its newline; NULL if it is unreadable. */
static const char *read_line(struct sp_limits *limits, const char *path)
{
	char *text = NULL;
	if (sysfs_read(limits->ctx, path, &text, NULL))
		return NULL;
	text[strcspn(text, "\n")] = 0;
	return move_text(limits, text);
}

static bool has_capability(const struct rights *rights, int capability)
{
	return rights->capabilities >> capability & 1;
}

static const char *paranoid_meaning(const struct rights *rights)
{
	if (rights_perfmon(rights))
		return "no restriction: this user has CAP_PERFMON or CAP_SYS_ADMIN";
	switch (rights->paranoid) {
	case -1:
		return "no restriction: whole CPUs, the kernel and raw tracepoints";
	case 0:
		return "allows whole CPUs (-a) and the kernel, but not raw tracepoints";
	case 1:
		return "allows this user's processes, with the kernel, but not whole CPUs (-a)";
	case 2:
		return "allows this user's processes, in user mode only";
	default:
		if (rights->paranoid < -1)
			return "no restriction";
		/* Mainline treats values above 2 as 2. */
		return "allows this user's processes, in user mode only; Debian's and Android's "
		       "kernels allow nothing from 3 on";
	}
}

static struct sp_error *add_paranoid(struct sp_limits *limits)
{
	const struct rights *rights = &limits->rights;
	const char *path = SYSCTL "perf_event_paranoid";
	bool limited = !rights_perfmon(rights) && rights->paranoid > -1;
	return add(limits, &(struct sp_limit){
		.name = "kernel.perf_event_paranoid", .path = path, .value = read_line(limits, path),
		.meaning = rights->has_perf ? paranoid_meaning(rights) :
			   "this kernel has no perf events, or /proc is not there",
		.remedy = limited ? "sudo sysctl kernel.perf_event_paranoid=0 (whole CPUs; -1: raw "
				    "tracepoints, too), or sudo setcap cap_perfmon+ep $(command "
						"-v sprof)" : NULL});
}

/* A sysctl, with a text that explains its number. */
struct number_limit {
	const char *name, *format, *remedy;
	const char *enough; /* value that the remedy sets */
};

static const struct number_limit numbers[] = {
	{"perf_event_max_sample_rate",
	 "at most %lld samples per second and CPU; the kernel lowers it if its interrupts take too "
	 "long", "sudo sysctl kernel.perf_event_max_sample_rate=100000", "100000"},
	{"perf_cpu_time_max_percent",
	 "the kernel lowers the rate if sampling takes more than %lld %% of a CPU (0, 100: never)",
	 "sudo sysctl kernel.perf_cpu_time_max_percent=100", "100"},
	{"perf_event_max_stack", "at most %lld frames per call chain; cannot change while call chains are "
	 "recorded",
	 "sudo sysctl kernel.perf_event_max_stack=1024",
	 "1024"},
	{"perf_event_max_contexts_per_stack", "at most %lld context markers per call chain", NULL, ""},
	{"perf_event_mlock_kb",
	 "at most %lld KiB of ring buffers per CPU and user, plus RLIMIT_MEMLOCK",
	 "sudo sysctl kernel.perf_event_mlock_kb=16384", "16384"},
};

static struct sp_error *add_numbers(struct sp_limits *limits)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(numbers) && !error; i++) {
		const struct number_limit *number = &numbers[i];
		const char *path = move_text(limits, format_text(SYSCTL "%s", number->name));
		struct sp_limit limit = {
			.name = move_text(limits, format_text("kernel.%s", number->name)),
			.path = path,
		};
		NEED(path && limit.name);
		limit.value = read_line(limits, path);
		if (limit.value) {
			CLEANUP_FREE char *before = strndup(
				number->format, strstr(number->format, "%lld") - number->format);
			const char *behind = strstr(number->format, "%lld") + 4;
			char *text = before ? format_text("%s%s%s", before, limit.value, behind) : NULL;
			char *percent = text ? strstr(text, "%%") : NULL;
			if (percent)
				memmove(percent, percent + 1, strlen(percent));
			limit.meaning = move_text(limits, text);
			limit.remedy = strcmp(limit.value, number->enough) ? number->remedy : NULL;
		} else {
			limit.meaning = "this kernel does not have or show this limit";
		}
		error = add(limits, &limit);
	}
	return error;
}

static struct sp_error *add_kptr(struct sp_limits *limits)
{
	static const char *const remedies[] = {
		[HIDDEN_BY_KPTR] = "sudo sysctl kernel.kptr_restrict=0, or run as root",
		[HIDDEN_BY_PARANOID] = "sudo sysctl kernel.perf_event_paranoid=1, or run as root",
		[HIDDEN_BY_KPTR | HIDDEN_BY_PARANOID] =
			"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, "
			"or run as root",
	};
	static const char *const meanings[] = {
		[0] = "kernel functions have names (/proc/kallsyms)",
		[HIDDEN_BY_KPTR] = "kernel addresses are hidden: kernel functions have no names",
		[HIDDEN_BY_PARANOID] = "kernel.perf_event_paranoid hides kernel addresses: kernel "
				       "functions have no names",
		[HIDDEN_BY_KPTR | HIDDEN_BY_PARANOID] =
			"this and kernel.perf_event_paranoid hide kernel addresses: kernel "
			"functions have no names",
	};
	const char *path = SYSCTL "kptr_restrict";
	const char *value = read_line(limits, path);
	unsigned int hidden = value ? rights_hidden(&limits->rights) : 0;
	return add(limits, &(struct sp_limit){
		.name = "kernel.kptr_restrict", .path = path, .value = value,
		.meaning = meanings[hidden], .remedy = remedies[hidden]});
}

static const char *size_text(struct sp_limits *limits, uint64_t bytes)
{
	return bytes == UINT64_MAX ? "unlimited" :
	       move_text(limits, format_text("%llu KiB", (unsigned long long)(bytes / 1024)));
}

static struct sp_error *add_process(struct sp_limits *limits)
{
	const struct rights *rights = &limits->rights;
	bool free_lock = has_capability(rights, CAP_IPC_LOCK) || rights->paranoid < 0;
	struct sp_limit memlock = {
		.name = "RLIMIT_MEMLOCK", .value = size_text(limits, rights->memlock_bytes),
		.meaning = free_lock ? "no restriction of ring buffers: this user has CAP_IPC_LOCK, "
				       "or perf_event_paranoid is -1" :
			   "more memory for ring buffers than kernel.perf_event_mlock_kb",
		.remedy = free_lock || rights->memlock_bytes == UINT64_MAX ? NULL :
			  "ulimit -l unlimited, or memlock in /etc/security/limits.conf",
	};
	struct sp_limit files = {
		.name = "RLIMIT_NOFILE",
		.value = move_text(limits,
				   format_text("%llu (%llu)", (unsigned long long)rights->files,
					       (unsigned long long)rights->files_max)),
		.meaning = "open files: one for each event, CPU and attached task; sprof raises "
			   "the soft limit to the hard limit (in brackets) if needed",
		.remedy = rights->files_max < 65536 ? "ulimit -n 1048576, or nofile in "
						      "/etc/security/limits.conf"
						    : NULL,
	};
	TRY(memlock.value ? add(limits, &memlock) : error_no_memory());
	return files.value ? add(limits, &files) : error_no_memory();
}

/* README forbids all capabilities but CAP_PERFMON for sprof itself. */
static struct sp_error *add_capabilities(struct sp_limits *limits)
{
	static const struct {
		int number;
		const char *name, *with, *without, *remedy;
	} wanted[] = {
		{PERFMON, "CAP_PERFMON", "perf_event_paranoid does not apply (Linux 5.8)", NULL,
		 "run as root, or sudo setcap cap_perfmon+ep $(command -v sprof)"},
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "perf_event_paranoid does not apply",
		 "no kernel breakpoints; before Linux 5.8, perf_event_paranoid applies",
		 "run as root"},
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "allows other users' processes",
		 "allows this user's processes only", "run as root"},
		{CAP_IPC_LOCK, "CAP_IPC_LOCK", "no limit on ring buffers", "ring buffers are limited",
		 "run as root"},
		{CAP_SYSLOG, "CAP_SYSLOG", "kernel addresses are readable",
		 "kernel addresses are readable if kernel.kptr_restrict is 0 and "
		 "kernel.perf_event_paranoid at most 1",
		 "run as root, or sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
	};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(wanted) && !error; i++) {
		bool has = has_capability(&limits->rights, wanted[i].number);
		const char *without = wanted[i].without ?: "kernel.perf_event_paranoid applies";
		error = add(limits, &(struct sp_limit){
			.name = wanted[i].name, .value = has ? "yes" : "no",
			.meaning = has ? wanted[i].with : without,
			.remedy = has ? NULL : wanted[i].remedy});
	}
	return error;
}

/* Adds rdpmc and perf_user_access: whether programs may read counters without system calls. */
static struct sp_error *add_user_access(struct sp_limits *limits)
{
	CLEANUP(pmus_deinit) struct pmus pmus = {0};
	const char *arm = SYSCTL "perf_user_access";
	const char *value = read_line(limits, arm);
	struct sp_error *error = pmus_read(&pmus, limits->ctx);
	for (size_t i = 0; i < pmus.count && !error; i++) {
		const char *path =
			move_text(limits, format_text("/sys/bus/event_source/devices/%s/rdpmc",
						      pmus.items[i].name));
		const char *rdpmc = path ? read_line(limits, path) : NULL;
		if (!rdpmc)
			continue;
		error = add(limits, &(struct sp_limit){
			.name = move_text(limits, format_text("%s/rdpmc", pmus.items[i].name)),
			.path = path, .value = rdpmc,
			.meaning = *rdpmc == '0' ? "programs cannot read counters without a system call" :
				   *rdpmc == '1' ? "programs can read their mapped counters "
						"without a system call" :
				   "programs can read all counters without a system call",
			.remedy = *rdpmc == '0' ? move_text(limits, format_text("echo 1 | sudo tee "
					"%s", path)) : NULL});
	}
	if (error || !value)
		return error;
	return add(limits, &(struct sp_limit){
		.name = "kernel.perf_user_access", .path = arm, .value = value,
		.meaning = *value == '0' ? "programs cannot read counters without a system call" :
			   "programs can read their counters without a system call",
		.remedy = *value == '0' ? "sudo sysctl kernel.perf_user_access=1" : NULL});
}

static struct sp_error *add_tracefs(struct sp_limits *limits)
{
	struct tracefs tracefs;
	TRY(tracefs_init(&tracefs, limits->ctx));
	struct sp_limit limit = {.name = "tracefs", .path = "/sys/kernel/tracing"};
	CLEANUP(cleanup_sp_error_free) struct sp_error *why =
		tracefs.path ? NULL : tracefs_error(&tracefs, "tracepoints");
	if (tracefs.path) {
		limit.value = tracefs.mount_fd >= 0 ? "not mounted" : "readable";
		limit.meaning = tracefs.mount_fd >= 0 ? "tracepoints are available: sprof mounts it for "
							"itself" : "tracepoints are available";
	} else {
		limit.value = tracefs.state == TRACEFS_FORBIDDEN ? "not readable" :
			      tracefs.state == TRACEFS_UNMOUNTED ? "not mounted" : "absent";
		limit.meaning = move_text(limits, format_text("%s", sp_error_message(why)));
		limit.remedy = move_text(limits, format_text("%s", sp_error_remedy(why)));
	}
	struct sp_error *error = add(limits, &limit);
	tracefs_deinit(&tracefs);
	return error;
}

static struct sp_error *add_confinement(struct sp_limits *limits)
{
	const struct rights *rights = &limits->rights;
	if (!rights->seccomp && !rights->container)
		return NULL;
	return add(limits, &(struct sp_limit){
		.name = "seccomp", .value = rights->seccomp ? "on" : "off",
		.meaning = !rights->seccomp ? "no system call filter refuses perf_event_open(2)" :
			   rights->container ? "this container's filter may refuse "
					       "perf_event_open(2)" :
			   "a system call filter may refuse perf_event_open(2)",
		.remedy = rights->seccomp && rights->container ?
			  "start it with --cap-add PERFMON (Docker before 20.10, Podman 4: "
			  "and --security-opt seccomp=unconfined)" : NULL});
}

static struct sp_error *add_breakpoints(struct sp_limits *limits)
{
	const struct event_kernel *kernel = event_kernel_real();
	int64_t count = kernel->try_breakpoint(kernel->arg);
	if (count < 0)
		return NULL;
	return add(limits, &(struct sp_limit){
		.name = "breakpoints", .value = count ? "yes" : "no",
		.meaning = count ? "breakpoints (mem:) count" :
			   "breakpoints (mem:) can be opened, but never trigger on this machine",
		.remedy = count ? NULL : "use a physical machine, or uprobe: and kprobe:"});
}

struct sp_error *sp_limits_new(struct sp_ctx *ctx, struct sp_limits **ret)
{
	static struct sp_error *(*const parts[])(struct sp_limits *) = {
		add_paranoid, add_numbers, add_kptr, add_process, add_capabilities, add_user_access,
		add_tracefs, add_confinement, add_breakpoints,
	};
	CLEANUP(cleanup_sp_limits_free) struct sp_limits *limits = calloc(1, sizeof(*limits));
	NEED(limits);
	limits->ctx = ctx;
	struct sp_error *error = rights_read(ctx, &limits->rights);
	for (size_t i = 0; i < count_of(parts) && !error; i++)
		error = parts[i](limits);
	if (!error)
		*ret = take_ptr(limits);
	return error;
}

void sp_limits_free(struct sp_limits *limits)
{
	if (!limits)
		return;
	vec_deinit(limits);
	arena_deinit(&limits->arena);
	free(limits);
}

size_t sp_limits_entry_count(const struct sp_limits *limits)
{
	return limits->count;
}

const struct sp_limit *sp_limits_entry(const struct sp_limits *limits, size_t index)
{
	return &limits->items[index];
}
