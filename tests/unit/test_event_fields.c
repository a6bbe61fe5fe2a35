/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the field of an attr that a kernel rejects, on made-up kernels of each version. */
#include "event/attr_refusal.h"

#include <errno.h>
#include <string.h>
#include "base/cleanup.h"
#include "test.h"

/* A kernel by its version: it knows the fields that are that old. */
struct fake {
	unsigned int major, minor;
	bool no_branches;   /* EOPNOTSUPP: the PMU has none */
	bool no_counters;
	const char *forbids; /* EACCES for it */
	const char *without; /* EINVAL for it, though it is new enough */
	int opens;
};

static bool knows(const struct fake *fake, const struct event_field *field)
{
	unsigned int major = 0, minor = 0;
	sscanf(field->since, "%u.%u", &major, &minor);
	if (fake->without && !strcmp(field->name, fake->without))
		return false;
	return fake->major != major ? fake->major > major : fake->minor >= minor;
}

static int fake_open(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		     int group_fd, unsigned long flags)
{
	struct fake *fake = arg;
	size_t count;
	const struct event_field *fields = event_fields(&count);
	struct long_attr whole = {.bytes = {0}};
	(void)pid, (void)cpu, (void)group_fd, (void)flags;
	ck_assert_int_lt(fake->opens++, 1000);
	memcpy(whole.bytes, (const char *)attr, attr->size);
	for (size_t i = 0; i < count; i++) {
		if (!event_field_is_set(&fields[i], &whole) || knows(fake, &fields[i]))
			continue;
		return fields[i].place == EVENT_FIELD_VALUE && fields[i].at >= 64 ? -E2BIG : -EINVAL;
	}
	if (attr->inherit_thread && !attr->inherit)
		return -EINVAL;
	if (attr->sigtrap && !attr->remove_on_exec)
		return -EINVAL;
	if (fake->forbids && event_field_is_set(event_field_find(fake->forbids), &whole))
		return -EACCES;
	if (attr->type == PERF_TYPE_HARDWARE && fake->no_counters)
		return -ENOENT;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    (fake->no_branches || attr->type == PERF_TYPE_SOFTWARE))
		return -EOPNOTSUPP;
	return 1000;
}

static void fake_close(void *arg, int fd)
{
	(void)arg;
	ck_assert_int_eq(fd, 1000);
}

static struct rights rights_of(const struct fake *fake)
{
	struct rights rights = {.has_perf = true, .paranoid = 2, .max_stack = 127};
	snprintf(rights.release, sizeof(rights.release), "%u.%u.7-test", fake->major, fake->minor);
	return rights;
}

static struct long_attr clock_attr(void)
{
	return attr_whole(&(struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID, .sample_id_all = 1, .freq = 1,
	}, &(struct sp_attr_tail){0});
}

/* Returns the error for an attr; NULL if it opens. */
static struct sp_error *judge(struct fake *fake, const struct long_attr *whole)
{
	const struct event_kernel kernel = {.open = fake_open, .close = fake_close, .arg = fake};
	const struct rights rights = rights_of(fake);
	const struct sp_attr_tail tail = attr_tail_of(whole);
	int fd = event_open_attr(&kernel, &whole->attr, &tail, &(struct event_target){0, -1, -1, 0});
	if (fd > 0)
		return NULL;
	const struct event_refusal refusal = {
		.kernel = &kernel, .rights = &rights, .event = "cpu-clock", .whole = *whole, .cpu = -1,
		.errnum = -fd,
	};
	const struct event_field *field = event_field_find_refused(&refusal);
	ck_assert_ptr_nonnull(field);
	return event_field_error(&refusal, field);
}

static struct sp_error *judge_field(struct fake *fake, const char *name)
{
	struct long_attr whole = clock_attr();
	event_field_set(event_field_find(name), &whole);
	return judge(fake, &whole);
}

/* The release before each, and that release. */
static void begins(const char *name, unsigned int major, unsigned int minor, const char *option,
		   const char *since)
{
	struct fake before = {.major = minor ? major : major - 1, .minor = minor ? minor - 1 : 99};
	struct fake then = {.major = major, .minor = minor};
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = judge_field(&before, name);
	ck_assert_msg(error != NULL, "%s: not refused", name);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_UNSUPPORTED);
	const char *message = sp_error_message(error);
	char wanted[128];
	snprintf(wanted, sizeof(wanted), "%s: needs Linux %s or later (%s); this is %u.%u.7",
		 option, since, name, before.major, before.minor);
	ck_assert_msg(strstr(message, wanted) == message, "%s, not %s", message, wanted);
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), "newer kernel"));
	CLEANUP(cleanup_sp_error_free) struct sp_error *none = judge_field(&then, name);
	ck_assert_msg(!none, "%s: %s", name, none ? sp_error_message(none) : "");
}

TEST(each_field_is_refused_by_the_release_before_it)
{
	begins("use_clockid", 4, 1, "-k", "4.1");
	begins("context_switch", 4, 3, "--switch-events", "4.3");
	begins("write_backward", 4, 7, "--overwrite", "4.7");
	begins("sample_max_stack", 4, 8, "--max-stack", "4.8");
	begins("namespaces", 4, 12, "--namespaces", "4.12");
	begins("PERF_SAMPLE_PHYS_ADDR", 4, 14, "--phys-data", "4.14");
	begins("cgroup", 5, 7, "--all-cgroups", "5.7");
	begins("PERF_SAMPLE_CGROUP", 5, 7, "--all-cgroups", "5.7");
	begins("PERF_SAMPLE_DATA_PAGE_SIZE", 5, 11, "--data-page-size", "5.11");
	begins("PERF_SAMPLE_CODE_PAGE_SIZE", 5, 11, "--code-page-size", "5.11");
	begins("PERF_SAMPLE_WEIGHT_STRUCT", 5, 12, "-W", "5.12");
	begins("remove_on_exec", 5, 13, "--remove-on-exec", "5.13");
	begins("PERF_FORMAT_LOST", 6, 0, "PERF_FORMAT_LOST", "6.0");
	begins("config3", 6, 3, "-e PMU/config3=N/", "6.3");
	begins("defer_callchain", 6, 19, "--call-graph fp,defer", "6.19");
	begins("config4", 7, 0, "-e PMU/config4=N/", "7.0");
}

TEST(the_newest_field_that_is_rejected_alone_is_named)
{
	struct fake old = {.major = 5, .minor = 6};
	struct long_attr whole = clock_attr();
	whole.attr.sample_type |= PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE;
	whole.attr.context_switch = 1;
	CLEANUP(cleanup_sp_error_free) struct sp_error *one = judge(&old, &whole);
	ck_assert_ptr_nonnull(strstr(sp_error_message(one), "--data-page-size: needs Linux 5.11"));
	/* Two: neither is enough to leave out alone, and one of them is named. */
	whole.attr.cgroup = 1;
	CLEANUP(cleanup_sp_error_free) struct sp_error *two = judge(&old, &whole);
	ck_assert_ptr_nonnull(strstr(sp_error_message(two), "--all-cgroups: needs Linux 5.7"));
}

TEST(branch_stacks_are_a_matter_of_hardware)
{
	struct long_attr whole = clock_attr();
	whole.attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	whole.attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	struct fake none = {.major = 6, .minor = 1, .no_counters = true};
	CLEANUP(cleanup_sp_error_free) struct sp_error *virtual = judge(&none, &whole);
	ck_assert_ptr_nonnull(strstr(sp_error_message(virtual), "records branches (LBR"));
	ck_assert_ptr_nonnull(strstr(sp_error_message(virtual), "no hardware PMU"));
	struct fake there = {.major = 6, .minor = 1};
	CLEANUP(cleanup_sp_error_free) struct sp_error *software = judge(&there, &whole);
	ck_assert_ptr_nonnull(strstr(sp_error_message(software), "software events (cpu-clock)"));
	ck_assert_str_eq(sp_error_remedy(software), "use -e cycles");
	whole.attr.type = PERF_TYPE_HARDWARE;
	struct fake without = {.major = 6, .minor = 1, .no_branches = true};
	CLEANUP(cleanup_sp_error_free) struct sp_error *pmu = judge(&without, &whole);
	ck_assert_ptr_nonnull(strstr(sp_error_message(pmu), "the PMU of cpu-clock"));
	/* A kind of branches that the kernel does not know is the kernel's matter. */
	whole.attr.branch_sample_type |= RECORD_BRANCH_COUNTERS;
	CLEANUP(cleanup_sp_error_free) struct sp_error *kernel = judge(&there, &whole);
	ck_assert_ptr_nonnull(strstr(sp_error_message(kernel), "-j counter: needs Linux 6.8"));
}

TEST(a_kernel_can_be_built_without)
{
	struct fake built = {.major = 6, .minor = 1, .without = "PERF_SAMPLE_CGROUP"};
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = judge_field(&built, "PERF_SAMPLE_CGROUP");
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), "CONFIG_CGROUP_PERF"));
}

TEST(forbidden_fields_have_their_own_remedy)
{
	struct fake fake = {.major = 6, .minor = 1, .forbids = "namespaces"};
	CLEANUP(cleanup_sp_error_free) struct sp_error *names = judge_field(&fake, "namespaces");
	ck_assert_int_eq(sp_error_code(names), SP_ERROR_PERMISSION);
	ck_assert_ptr_nonnull(strstr(sp_error_message(names), "--namespaces: needs CAP_PERFMON"));
	fake.forbids = "PERF_SAMPLE_PHYS_ADDR";
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *phys = judge_field(&fake, "PERF_SAMPLE_PHYS_ADDR");
	ck_assert_int_eq(sp_error_code(phys), SP_ERROR_PERMISSION);
	ck_assert_ptr_nonnull(strstr(sp_error_message(phys), "--phys-data"));
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(phys), "perf_event_paranoid=1"));
}

/* By the real attr: the table's places are those of the header. */
TEST(the_table_is_the_headers)
{
	struct long_attr whole = attr_whole(&(struct perf_event_attr){
		.precise_ip = 2, .exclude_guest = 1, .remove_on_exec = 1,
		.sample_regs_intr = 1, .clockid = 3, .wakeup_events = 1,
	}, &(struct sp_attr_tail){0});
	static const char *const names[] = {"precise_ip", "exclude_guest", "remove_on_exec",
					    "sample_regs_intr", "clockid", "wakeup_events"};
	size_t count, set = 0;
	const struct event_field *fields = event_fields(&count);
	for (size_t i = 0; i < count; i++)
		set += event_field_is_set(&fields[i], &whole);
	ck_assert_uint_eq(set, 6);
	for (size_t i = 0; i < 6; i++) {
		ck_assert(event_field_is_set(event_field_find(names[i]), &whole));
		event_field_clear(event_field_find(names[i]), &whole);
	}
	static const struct long_attr zero;
	ck_assert_mem_eq(&whole, &zero, sizeof(whole));
	whole.attr.sample_type = PERF_SAMPLE_REGS_INTR;
	whole.attr.sample_regs_intr = 7;
	event_field_clear(event_field_find("PERF_SAMPLE_REGS_INTR"), &whole);
	ck_assert_mem_eq(&whole, &zero, sizeof(whole));
}

TEST(the_table_is_by_age)
{
	size_t count;
	const struct event_field *fields = event_fields(&count);
	unsigned int last = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned int parts[3] = {0};
		ck_assert_int_ge(sscanf(fields[i].since, "%u.%u.%u", &parts[0], &parts[1], &parts[2]), 2);
		unsigned int age = parts[0] << 16 | parts[1] << 8 | parts[2];
		/* Only up to 2.6 does the third number matter. */
		if (parts[0] > 2)
			ck_assert_msg(age >= last, "%s", fields[i].name);
		last = age;
	}
}
