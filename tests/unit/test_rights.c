/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/fd_budget.h"
#include "event/rights.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "root.h"

#define NOTES CLEANUP(event_notes_deinit) struct event_notes

/* Debian's default: paranoid 2, no capabilities, 2 CPUs. */
static const struct rights plain = {
	.has_perf = true,
	.paranoid = 2,
	.mlock_kb = 516,
	.max_sample_hz = 100000,
	.online_cpus = 2,
	.page_size = 4096,
	.files = 1024,
	.files_max = 1024,
};

#define PERFMON ((uint64_t)1 << 38)
#define IPC_LOCK ((uint64_t)1 << 14)

static void put_sysctl(struct root *root, const char *name, const char *value)
{
	char path[128];
	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	root_put(root, path, value);
}

TEST(rights_are_read_below_the_root)
{
	ROOT root;
	root_init(&root);
	put_sysctl(&root, "perf_event_paranoid", "-1\n");
	put_sysctl(&root, "perf_event_mlock_kb", "1032\n");
	put_sysctl(&root, "perf_event_max_sample_rate", "50000\n");
	put_sysctl(&root, "kptr_restrict", "1\n");
	root_put(&root, "/sys/devices/system/cpu/online", "0-3,6\n");
	root_put(&root, "/proc/self/uid_map", "         0          0 4294967295\n");
	root_put(&root, "/proc/self/status",
		 "Name:\tsprof\nCapEff:\t0000004000000000\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	struct rights rights;
	ok_or_fail(rights_read(root.ctx, &rights));
	ck_assert(rights.has_perf && rights.seccomp && !rights.container);
	ck_assert_int_eq(rights.paranoid, -1);
	ck_assert_uint_eq(rights.mlock_kb, 1032);
	ck_assert_uint_eq(rights.max_sample_hz, 50000);
	ck_assert_int_eq(rights.kptr_restrict, 1);
	ck_assert_uint_eq(rights.online_cpus, 5);
	ck_assert_uint_eq(rights.capabilities, PERFMON);
}

TEST(rights_have_defaults_where_nothing_is_known)
{
	ROOT root;
	root_init(&root);
	struct rights rights;
	ok_or_fail(rights_read(root.ctx, &rights));
	ck_assert(!rights.has_perf && !rights.seccomp);
	ck_assert_int_eq(rights.paranoid, 2);
	ck_assert_uint_eq(rights.mlock_kb, 516);
	ck_assert_uint_eq(rights.online_cpus, 1);
	ck_assert_uint_eq(rights.capabilities, 0);
}

TEST(rights_do_not_count_capabilities_of_a_user_namespace)
{
	ROOT root;
	root_init(&root);
	put_sysctl(&root, "perf_event_paranoid", "2\n");
	root_put(&root, "/proc/self/status", "CapEff:\t000001ffffffffff\n");
	root_put(&root, "/proc/self/uid_map", "         0       1000          1\n");
	root_put(&root, "/run/.containerenv", "");
	struct rights rights;
	ok_or_fail(rights_read(root.ctx, &rights));
	ck_assert(rights.container);
	ck_assert(!rights_perfmon(&rights));
}

TEST(rights_see_containers)
{
	ROOT root;
	root_init(&root);
	struct rights rights;
	root_put(&root, "/proc/self/cgroup", "0::/user.slice\n");
	ok_or_fail(rights_read(root.ctx, &rights));
	ck_assert(!rights.container);
	root_put(&root, "/proc/self/cgroup", "0::/kubepods/besteffort/pod1\n");
	ok_or_fail(rights_read(root.ctx, &rights));
	ck_assert(rights.container);
}

TEST(rights_by_paranoid_and_capability)
{
	struct rights rights = plain;
	ck_assert(!rights_kernel_mode(&rights) && !rights_cpu_wide(&rights));
	rights.paranoid = 1;
	ck_assert(rights_kernel_mode(&rights) && !rights_cpu_wide(&rights));
	rights.paranoid = 0;
	ck_assert(rights_kernel_mode(&rights) && rights_cpu_wide(&rights));
	rights.paranoid = 4;
	rights.capabilities = PERFMON;
	ck_assert(rights_kernel_mode(&rights) && rights_cpu_wide(&rights));
	rights.capabilities = (uint64_t)1 << 21; /* CAP_SYS_ADMIN */
	ck_assert(rights_cpu_wide(&rights));
}

/* Linux's kallsyms_show_value(): CAP_PERFMON alone shows no addresses. */
TEST(hidden_kernel_addresses_have_a_cause)
{
	const uint64_t syslog = (uint64_t)1 << 34;
	const struct {
		int32_t kptr_restrict, paranoid;
		uint64_t capabilities;
		unsigned int hidden;
	} cases[] = {
		{0, 1, 0, 0},
		{0, 2, 0, HIDDEN_BY_PARANOID},
		{0, 2, PERFMON, HIDDEN_BY_PARANOID},
		{0, 4, syslog, 0},
		{1, 1, PERFMON, HIDDEN_BY_KPTR},
		{1, 2, PERFMON, HIDDEN_BY_KPTR | HIDDEN_BY_PARANOID},
		{1, 2, PERFMON | syslog, 0},
		{2, -1, 0, HIDDEN_BY_KPTR},
		{2, 2, syslog, HIDDEN_BY_KPTR},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rights rights = plain;
		rights.kptr_restrict = cases[i].kptr_restrict;
		rights.paranoid = cases[i].paranoid;
		rights.capabilities = cases[i].capabilities;
		ck_assert_uint_eq(rights_hidden(&rights), cases[i].hidden);
	}
}

/* Cause and remedy must hold those words. */
static void explains(const struct rights *rights, enum rights_action action, int errnum,
		     enum sp_error_code code, const char *cause, const char *remedy)
{
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = rights_explain(rights, action, "cycles", errnum);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_msg(strncmp(sp_error_message(error), "cycles: ", 8) == 0 &&
			      strstr(sp_error_message(error), cause),
		      "%s", sp_error_message(error));
	ck_assert_msg(strstr(sp_error_remedy(error) ?: "", remedy) != NULL, "%s",
		      sp_error_remedy(error));
	ck_assert_ptr_null(strchr(sp_error_message(error), '\n'));
	ck_assert_ptr_null(strchr(sp_error_remedy(error) ?: "", '\n'));
}

TEST(rights_explain_paranoid)
{
	struct rights rights = plain;
	explains(&rights, RIGHTS_KERNEL, EACCES, SP_ERROR_PERMISSION, "perf_event_paranoid is 2",
		 "sysctl kernel.perf_event_paranoid=1");
	explains(&rights, RIGHTS_CPU_WIDE, EACCES, SP_ERROR_PERMISSION, "whole CPUs",
		 "sysctl kernel.perf_event_paranoid=0");
	rights.paranoid = 3;
	explains(&rights, RIGHTS_ANY_EVENT, EACCES, SP_ERROR_PERMISSION, "perf_event_paranoid is 3",
		 "setcap cap_perfmon+ep");
	rights.container = true;
	explains(&rights, RIGHTS_ANY_EVENT, EACCES, SP_ERROR_PERMISSION, "perf_event_paranoid is 3",
		 "--cap-add PERFMON");
}

TEST(rights_explain_control_groups)
{
	const struct rights rights = plain;
	explains(&rights, RIGHTS_CGROUP, ENOENT, SP_ERROR_UNSUPPORTED, "no perf events yet",
		 "subtree_control");
	explains(&rights, RIGHTS_CGROUP, EACCES, SP_ERROR_PERMISSION, "whole CPUs",
		 "perf_event_paranoid=0");
}

TEST(rights_explain_seccomp_and_security_modules)
{
	struct rights rights = plain;
	rights.seccomp = rights.container = true;
	explains(&rights, RIGHTS_ANY_EVENT, EPERM, SP_ERROR_PERMISSION, "seccomp filter of this",
		 "--cap-add PERFMON");
	explains(&rights, RIGHTS_ANY_EVENT, ENOSYS, SP_ERROR_PERMISSION, "seccomp",
		 "--cap-add PERFMON");
	rights.container = false;
	explains(&rights, RIGHTS_ANY_EVENT, EPERM, SP_ERROR_PERMISSION, "seccomp", "sandbox");
	rights = plain;
	rights.capabilities = PERFMON;
	explains(&rights, RIGHTS_ANY_EVENT, EPERM, SP_ERROR_PERMISSION, "security module",
		 "SELinux");
	explains(&plain, RIGHTS_ANY_EVENT, ENOSYS, SP_ERROR_UNSUPPORTED, "no perf events",
		 "CONFIG_PERF_EVENTS");
}

TEST(rights_explain_the_rest)
{
	explains(&plain, RIGHTS_TASK, EACCES, SP_ERROR_PERMISSION, "belongs to another user", "as root");
	explains(&plain, RIGHTS_TASK, EMFILE, SP_ERROR_LIMIT, "1024 open files",
		 "sudo prlimit --pid $$ --nofile=");
	explains(&plain, RIGHTS_ANY_EVENT, EBUSY, SP_ERROR_OS, "in use", "nmi_watchdog");
	explains(&plain, RIGHTS_ANY_EVENT, EOPNOTSUPP, SP_ERROR_UNSUPPORTED, "not supported",
		 "cpu-clock");
	explains(&plain, RIGHTS_ANY_EVENT, EINVAL, SP_ERROR_OS, "rejects", "list --limits");
	explains(&plain, RIGHTS_ANY_EVENT, E2BIG, SP_ERROR_OS, "rejects", "list --limits");
	explains(&plain, RIGHTS_ANY_EVENT, ENOSPC, SP_ERROR_LIMIT, "breakpoints", "fewer");
	explains(&plain, RIGHTS_ANY_EVENT, EOVERFLOW, SP_ERROR_OS, "limited to", "--max-stack");
	explains(&plain, RIGHTS_ANY_EVENT, EINTR, SP_ERROR_OS, "ftrace", "uprobe_events");
	explains(&plain, RIGHTS_ANY_EVENT, EBADF, SP_ERROR_OS, "control group", "name one");
	explains(&plain, RIGHTS_ANY_EVENT, EIO, SP_ERROR_OS, "cannot open the event", "");
}

static struct ring_pages fit(const struct rights *rights, uint32_t cpus, uint32_t samples,
			     uint32_t sideband, const char *note)
{
	NOTES notes = {0};
	struct ring_pages pages, wanted = {.samples = samples, .sideband = sideband};
	ok_or_fail(rights_fit_rings(rights, cpus, wanted, &notes, &pages));
	ck_assert_uint_eq(notes.count, note ? 1 : 0);
	if (note)
		ck_assert_msg(strstr(notes.items[0].line, note) != NULL, "%s", notes.items[0].line);
	return pages;
}

static void pages_are(struct ring_pages pages, uint32_t samples, uint32_t sideband)
{
	ck_assert_uint_eq(pages.samples, samples);
	ck_assert_uint_eq(pages.sideband, sideband);
}

TEST(rings_fit_the_lock_budget)
{
	struct rights rights = plain;
	/* 516 KiB are 129 pages for each CPU: 64 + 1 and 32 + 1. */
	pages_are(fit(&rights, 2, 64, 32, NULL), 64, 32);
	pages_are(fit(&rights, 2, 128, 32, "perf_event_mlock_kb="), 64, 32);
	pages_are(fit(&rights, 2, 100, 20, "256 KiB for each CPU"), 64, 32);
	/* One ring pair alone may take what is there for both CPUs. */
	pages_are(fit(&rights, 1, 128, 32, NULL), 128, 32);
	pages_are(fit(&rights, 2, 128, 512, "RLIMIT_MEMLOCK 0 KiB"), 32, 64);
	rights.memlock_bytes = 8 << 20;
	pages_are(fit(&rights, 2, 1024, 32, NULL), 1024, 32);
	pages_are(fit(&rights, 2, 4096, 32, "KiB for each CPU"), 1024, 32);
	rights.mlock_kb = 0;
	rights.memlock_bytes = 0;
	pages_are(fit(&rights, 2, 128, 32, "mlock_kb is 0"), 1, 1);
}

TEST(rings_have_no_budget_with_rights)
{
	struct rights rights = plain;
	rights.capabilities = IPC_LOCK;
	pages_are(fit(&rights, 2, 16384, 32, NULL), 16384, 32);
	rights.capabilities = 0;
	rights.paranoid = -1;
	pages_are(fit(&rights, 2, 16384, 32, NULL), 16384, 32);
	rights.paranoid = 2;
	rights.memlock_bytes = UINT64_MAX;
	pages_are(fit(&rights, 2, 16384, 32, NULL), 16384, 32);
}

/* The remedy's number must be enough. */
TEST(rings_remedy_is_enough)
{
	struct rights rights = plain;
	NOTES notes = {0};
	struct ring_pages pages, wanted = {.samples = 1024, .sideband = 32};
	ok_or_fail(rights_fit_rings(&rights, 2, wanted, &notes, &pages));
	unsigned long long kb = 0;
	ck_assert_int_eq(
		sscanf(notes.items[0].remedy, "sudo sysctl kernel.perf_event_mlock_kb=%llu", &kb),
		1);
	rights.mlock_kb = kb;
	pages_are(fit(&rights, 2, 1024, 32, NULL), 1024, 32);
}

TEST(rings_shrink_to_the_smallest_and_no_further)
{
	struct ring_pages pages = {.samples = 128, .sideband = 32};
	uint32_t steps = 0;
	struct sp_error *error;
	while (!(error = rights_shrink_rings(&plain, &pages))) {
		ck_assert_uint_eq(pages.samples & (pages.samples - 1), 0);
		ck_assert_uint_gt(pages.samples, 0);
		ck_assert_uint_gt(pages.sideband, 0);
		steps++;
	}
	ck_assert_uint_eq(steps, 7 + 5);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_LIMIT);
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), "perf_event_mlock_kb="));
	sp_error_free(error);
}

TEST(files_are_raised_to_the_hard_limit_only)
{
	struct rlimit limit = {.rlim_cur = 128, .rlim_max = 512};
	uint64_t old;
	/* This case is a process of its own. */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ok_or_fail(rights_raise_files(&plain, 16, &old));
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, 128);
	ok_or_fail(rights_raise_files(&plain, 300, &old));
	ck_assert_uint_eq(old, 128);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_ge(limit.rlim_cur, 300);
	ck_assert_uint_eq(limit.rlim_max, 512);
	/* Room to spare is not asked for where there is none. */
	ok_or_fail(rights_raise_files(&plain, 480, &old));
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, 512);
	fails_with(SP_ERROR_LIMIT, rights_raise_files(&plain, 511, &old));
	fails_with(SP_ERROR_LIMIT, rights_raise_files(&plain, 1000, &old));
	ck_assert_uint_eq(old, limit.rlim_cur);
}

/* 2,000 threads on 256 CPUs, as no machine at hand has. */
static const struct event_demand many = {.tasks = 2000, .cpus = 256, .events = 2};

static void is_refused(const struct event_demand *demand, const struct demand_limits *limits,
		       const struct rights *rights, const char *message, const char *remedy)
{
	struct sp_error *error = demand_check(demand, limits, rights);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_LIMIT);
	ck_assert_msg(strstr(sp_error_message(error), message) != NULL, "%s", sp_error_message(error));
	ck_assert_msg(strstr(sp_error_remedy(error), remedy) != NULL, "%s", sp_error_remedy(error));
	sp_error_free(error);
}

TEST(the_demand_of_attaching_is_computed_first)
{
	struct rights rights = plain;
	struct demand_limits limits = {.files = 1 << 20, .nr_open = 1 << 20,
				       .available_bytes = UINT64_C(8) << 30};
	ck_assert_uint_eq(demand_files(&many), 2000 * 256 * 2 + 512);
	ck_assert_uint_eq(demand_kernel_bytes(&many) / 1000000, 1710);
	ok_or_fail(demand_check(&many, &limits, &rights));
	/* systemd's limit. */
	limits.files = 524288;
	is_refused(&many, &limits, &rights, "2000 threads on 256 CPUs with 2 events need 1024640 "
		   "open files; the limit is 524288", "CAP_PERFMON");
	is_refused(&many, &limits, &rights, "", "--nofile=1024640:1024640");
	rights.capabilities = PERFMON;
	is_refused(&many, &limits, &rights, "", "use -a: whole CPUs need 1024 files (--scope cpu)");
	/* More than even root may open. */
	struct event_demand more = many;
	more.events = 3;
	limits.files = 1 << 20;
	is_refused(&more, &limits, &rights, "1536640",
		   "sudo sysctl fs.nr_open=1536640 && sudo prlimit --pid $$ --nofile=");
	limits.available_bytes = UINT64_C(1) << 30;
	is_refused(&many, &limits, &rights, "need 1710 MB of kernel memory; 1073 MB",
		   "fewer CPUs");
	/* CPU-wide events, and few threads, fit any limit. */
	const struct event_demand whole = {.tasks = 1, .cpus = 256, .events = 2};
	const struct event_demand few = {.tasks = 10, .cpus = 2, .events = 2};
	limits.files = 4096;
	ok_or_fail(demand_check(&whole, &limits, &rights));
	ok_or_fail(demand_check(&few, &limits, &rights));
}

TEST(limits_of_attaching_are_read_below_the_root)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/sys/fs/nr_open", "1073741816\n");
	root_put(&root, "/proc/meminfo", "MemTotal:  100 kB\nMemAvailable:    12345 kB\n");
	struct rights rights = plain;
	struct demand_limits limits = demand_limits_read(root.ctx, &rights);
	ck_assert_uint_eq(limits.files, 1024);
	ck_assert_uint_eq(limits.nr_open, 1073741816);
	ck_assert_uint_eq(limits.available_bytes, 12345 * 1024);
	rights.capabilities = (uint64_t)1 << 24; /* CAP_SYS_RESOURCE */
	ck_assert_uint_eq(demand_limits_read(root.ctx, &rights).files, 1073741816);
}

/* Rings are of CPUs, however many threads there are. */
TEST(rings_of_256_cpus_fit)
{
	struct rights rights = plain;
	rights.online_cpus = 256;
	/* A user may lock 516 KiB for each CPU: half of the 512 KiB that are the default. */
	pages_are(fit(&rights, 256, 128, 32, "256 KiB for each CPU"), 64, 32);
	rights.memlock_bytes = UINT64_C(64) << 20;
	pages_are(fit(&rights, 256, 128, 32, NULL), 128, 32);
}

TEST(notes_are_one_line)
{
	NOTES notes = {0};
	ok_or_fail(event_notes_add(&notes, "cycles", "sampling cpu-clock", "no counters", NULL));
	ok_or_fail(event_notes_add(&notes, "a", "b", "c", "d"));
	ck_assert_str_eq(notes.items[0].line, "cycles: no counters; sampling cpu-clock");
	ck_assert_str_eq(notes.items[1].line, "a: c; b (d)");
	ck_assert_ptr_null(notes.items[0].remedy);
}
