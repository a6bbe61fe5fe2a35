/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the field for which the kernel refuses an event, by opening it without each field. */
#include "event/attr_refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/fields.h>

/* Tries to open the event. Returns 0, or the errno. */
static int try(const struct event_kernel *kernel, const struct long_attr *whole, int32_t pid,
	       int32_t cpu, unsigned long flags)
{
	const struct sp_attr_tail tail = attr_tail_of(whole);
	int fd = event_open_attr(kernel, &whole->attr, &tail,
				 &(struct event_target){pid, cpu, -1, flags});
	if (fd < 0)
		return -fd;
	kernel->close(kernel->arg, fd);
	return 0;
}

/* Sets the fields without which the kernel refuses this field. */
static void add_company(const struct event_field *field, struct long_attr *whole)
{
	struct perf_event_attr *attr = &whole->attr;
	static const struct {
		const char *name, *with;
	} company[] = {
		{"inherit_thread", "inherit"}, {"inherit_stat", "inherit"},
		{"sigtrap", "remove_on_exec"}, {"mmap2", "mmap"}, {"mmap_data", "mmap"},
		{"build_id", "mmap"}, {"build_id", "mmap2"}, {"comm_exec", "comm"},
		{"clockid", "use_clockid"}, {"use_clockid", "clockid"},
		{"sample_max_stack", "PERF_SAMPLE_CALLCHAIN"},
		{"PERF_SAMPLE_REGS_USER", "sample_regs_user"},
		{"PERF_SAMPLE_REGS_INTR", "sample_regs_intr"},
		{"sample_regs_user", "PERF_SAMPLE_REGS_USER"},
		{"sample_regs_intr", "PERF_SAMPLE_REGS_INTR"},
		{"branch_sample_type", "PERF_SAMPLE_BRANCH_STACK"},
		{"PERF_SAMPLE_BRANCH_STACK", "PERF_SAMPLE_BRANCH_ANY"},
		{"defer_callchain", "PERF_SAMPLE_CALLCHAIN"},
	};
	for (size_t i = 0; i < count_of(company); i++)
		if (!strcmp(field->name, company[i].name))
			event_field_set(event_field_find(company[i].with), whole);
	if (field->place == EVENT_FIELD_BRANCH) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
	}
	if (!strcmp(field->name, "sample_stack_user") ||
	    !strcmp(field->name, "PERF_SAMPLE_STACK_USER")) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = 8;
	}
	/* With this flag, the member is a number of bytes. */
	if (!strcmp(field->name, "watermark"))
		attr->wakeup_watermark = 1;
}

static bool is_older(const char *release, const char *since)
{
	unsigned int have[3] = {0}, want[3] = {0};
	/* A release that cannot be parsed is taken for a new one. */
	if (sscanf(release, "%u.%u.%u", &have[0], &have[1], &have[2]) < 2)
		return false;
	sscanf(since, "%u.%u.%u", &want[0], &want[1], &want[2]);
	for (size_t i = 0; i < 3; i++)
		if (have[i] != want[i])
			return have[i] < want[i];
	return false;
}

/* Returns whether dummy events cannot test the field, because it needs an AUX area. */
static bool needs_aux_area(const struct event_field *field)
{
	return !strncmp(field->name, "aux_", 4) ||
	       !strcmp(field->name, "PERF_SAMPLE_AUX");
}

bool event_field_known(const struct event_kernel *kernel, const struct rights *rights,
		       const struct event_field *field)
{
	struct long_attr whole = attr_whole(&(struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	}, &(struct sp_attr_tail){0});
	if (needs_aux_area(field))
		return !is_older(rights->release, field->since);
	event_field_set(field, &whole);
	add_company(field, &whole);
	int errnum = try(kernel, &whole, 0, -1, 0);
	return errnum != EINVAL && errnum != E2BIG && errnum != ENOSYS;
}

/* -- Explanations ---------------------------------------------------------- */

/*
 * Returns whether the event may be tried without the field. Without some fields it would be another
 * event.
 */
static bool is_removable(const struct event_field *field, int errnum)
{
	static const char *const kept[] = {"disabled", "inherit", "freq", "exclude_user",
					   "exclude_kernel", "exclude_hv", "bp_type",
					   "sample_id_all"};
	for (size_t i = 0; i < count_of(kept); i++)
		if (!strcmp(field->name, kept[i]))
			return false;
	/*
	 * config3 and config4 identify the event; they are removable only if the kernel's attr is
	 * too small.
	 */
	return strncmp(field->name, "config", 6) || errnum == E2BIG;
}

static int try_refused(const struct event_refusal *refusal, const struct long_attr *whole)
{
	return try(refusal->kernel, whole, refusal->pid, refusal->cpu, refusal->flags);
}

/*
 * Finds the newest field without which the kernel's answer differs. If several are refused, finds
 * the oldest of them: `together` also removes all newer fields.
 */
static const struct event_field *find_refused(const struct event_refusal *refusal, bool together)
{
	struct long_attr whole = refusal->whole;
	size_t count;
	const struct event_field *fields = event_fields(&count);
	for (size_t i = count; i > 0; i--) {
		const struct event_field *field = &fields[i - 1];
		if (!together)
			whole = refusal->whole;
		if (!event_field_is_set(field, &whole) || !is_removable(field, refusal->errnum))
			continue;
		event_field_clear(field, &whole);
		if (try_refused(refusal, &whole) != refusal->errnum)
			return field;
	}
	return NULL;
}

static const char *title(const struct event_field *field)
{
	return field->option ? field->option : field->name;
}

/* Returns the option that requested branches, without their types. */
static const char *branch_title(const struct perf_event_attr *attr)
{
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return "--call-graph lbr";
	return attr->branch_sample_type == PERF_SAMPLE_BRANCH_ANY ? "-b" : "-j";
}

/* Returns whether the machine has a PMU for its CPUs; most virtual machines have none. */
static bool has_counters(const struct event_refusal *refusal)
{
	const struct long_attr whole = attr_whole(&(struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	}, &(struct sp_attr_tail){0});
	return try(refusal->kernel, &whole, 0, -1, 0) != ENOENT;
}

static struct sp_error *unknown_field(const struct event_refusal *refusal,
				      const struct event_field *field)
{
	const char *release = refusal->rights->release;
	if (is_older(release, field->since) || !field->needs)
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
						  "%s: needs Linux %s or later (%s); this is %s",
						  title(field), field->since, field->name, release),
					"omit it, or use a newer kernel");
	return error_set_remedy(
		error_new(SP_ERROR_UNSUPPORTED,
			  "%s: this kernel (%s) does not support %s, which needs %s", title(field),
			  release, field->name, field->needs),
		"omit it, or use another kernel");
}

/* Makes the error for a field that was refused by EACCES or EPERM. */
static struct sp_error *explain_forbidden(const struct event_refusal *refusal,
					  const struct event_field *field)
{
	if (refusal->whole.attr.type == PERF_TYPE_TRACEPOINT)
		return rights_explain(refusal->rights, RIGHTS_TRACEPOINT, refusal->event,
				      refusal->errnum);
	if (strcmp(field->name, "namespaces"))
		return rights_explain(refusal->rights, RIGHTS_KERNEL, title(field),
				      refusal->errnum);
	return error_set_remedy(
		error_new(SP_ERROR_PERMISSION, "%s: needs CAP_PERFMON (Linux 5.8) or CAP_SYS_ADMIN "
			  "for any kernel.perf_event_paranoid", title(field)),
		"run as root, or sudo setcap cap_perfmon+ep $(command -v sprof)");
}

const struct event_field *event_field_find_refused(const struct event_refusal *refusal)
{
	int errnum = refusal->errnum;
	if (!is_refusal(errnum) && errnum != EINVAL && errnum != E2BIG && errnum != EOPNOTSUPP &&
	    errnum != ENOSYS && errnum != ENODEV)
		return NULL;
	/* If the event opens outside of its group, no field of it is refused. */
	if (try_refused(refusal, &refusal->whole) != errnum)
		return NULL;
	const struct event_field *field = find_refused(refusal, false);
	return field ? field : find_refused(refusal, true);
}

struct sp_error *event_field_error(const struct event_refusal *refusal,
				   const struct event_field *field)
{
	if (is_refusal(refusal->errnum))
		return explain_forbidden(refusal, field);
	if (!event_field_known(refusal->kernel, refusal->rights, field))
		return unknown_field(refusal, field);
	const char *needs = field->needs, *name = title(field);
	bool branches = field->place == EVENT_FIELD_BRANCH ||
			!strcmp(field->name, "PERF_SAMPLE_BRANCH_STACK");
	if (branches)
		name = branch_title(&refusal->whole.attr);
	if (!has_counters(refusal))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED,
				  "%s: it needs %s; this machine has no hardware PMU", name,
				  needs ? needs : "a hardware PMU"),
			"omit it; a virtual machine has hardware counters only if its host passes "
			"them on");
	if (branches && refusal->whole.attr.type == PERF_TYPE_SOFTWARE)
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED,
				  "%s: software events (%s) have no branch stacks: they "
				  "need %s",
				  name, refusal->event, needs),
			"use -e cycles");
	return error_set_remedy(
		error_new(SP_ERROR_UNSUPPORTED, "%s: not supported by the PMU of %s%s%s", name,
			  refusal->event, needs ? ": it needs " : "", needs ? needs : ""),
		"omit it, or use another event or machine");
}

/* -- The list -------------------------------------------------------------- */

struct sp_error *sp_attr_fields(struct sp_ctx *ctx, struct sp_attr_field **ret, size_t *count_ret)
{
	const struct event_kernel *kernel = event_kernel_real();
	struct event_support support;
	struct rights rights;
	const struct event_field *fields = event_fields(count_ret);
	TRY(rights_read(ctx, &rights));
	int errnum = event_support_probe(kernel, &support);
	if (errnum)
		return rights_explain(&rights, RIGHTS_ANY_EVENT, "perf_event_open", errnum);
	struct sp_attr_field *list = calloc(*count_ret, sizeof(*list));
	NEED(list);
	for (size_t i = 0; i < *count_ret; i++) {
		const struct event_field *field = &fields[i];
		list[i] = (struct sp_attr_field){
			.name = field->name, .option = field->option, .since = field->since,
			.needs = field->needs, .known = event_field_known(kernel, &rights, field),
		};
	}
	*ret = list;
	return NULL;
}
