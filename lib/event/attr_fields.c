/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All fields of the attr. (More than 500 lines, because the table of fields belongs together.) */
#include "event/attr_fields.h"

#include <errno.h>
#include <sprof/private/fields.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_AT 40 /* offset of the flag word in the attr */

#define BRANCHES "a CPU that records branches (LBR, BRBE, SPE …)"
#define MEMORY "a PMU that samples memory accesses (PEBS, IBS, SPE)"
#define TRANSACTIONS "a CPU with hardware transactions (TSX)"
#define AUX_AREA "a PMU with an AUX area (Intel PT, SPE, CoreSight)"
#define REGISTERS "a machine for which the kernel copies registers"
#define CGROUPS "a kernel with CONFIG_CGROUP_PERF"
#define PRECISE "a PMU that samples precisely (PEBS, IBS, SPE)"

#define FLAG(name, bit, bits, since, option, needs) \
	{#name, option, since, needs, EVENT_FIELD_FLAG, bit, bits}
#define SAMPLE(name, bit, since, option, needs) \
	{"PERF_SAMPLE_" #name, option, since, needs, EVENT_FIELD_SAMPLE, bit, 1}
#define BRANCH(name, bit, since, option) \
	{"PERF_SAMPLE_BRANCH_" #name, option, since, BRANCHES, EVENT_FIELD_BRANCH, bit, 1}
#define FORMAT(name, bit, since, option) \
	{"PERF_FORMAT_" #name, option, since, NULL, EVENT_FIELD_FORMAT, bit, 1}
#define VALUE(name, at, size, since, option, needs) \
	{#name, option, since, needs, EVENT_FIELD_VALUE, at, size}

/* Ordered by Linux version; within a version, members precede the bits that use them. */
static const struct event_field fields[] = {
	FLAG(disabled, 0, 1, "2.6.31", "-D", NULL),
	FLAG(inherit, 1, 1, "2.6.31", "--inherit", NULL),
	FLAG(pinned, 2, 1, "2.6.31", "-e EVENT:D", NULL),
	FLAG(exclusive, 3, 1, "2.6.31", "-e EVENT:e", NULL),
	FLAG(exclude_user, 4, 1, "2.6.31", "--all-kernel", NULL),
	FLAG(exclude_kernel, 5, 1, "2.6.31", "--all-user", NULL),
	FLAG(exclude_hv, 6, 1, "2.6.31", "-e EVENT:uk", NULL),
	FLAG(exclude_idle, 7, 1, "2.6.31", "-e EVENT:I", NULL),
	FLAG(mmap, 8, 1, "2.6.31", NULL, NULL),
	FLAG(comm, 9, 1, "2.6.31", NULL, NULL),
	FLAG(freq, 10, 1, "2.6.31", "-F", NULL),
	FLAG(inherit_stat, 11, 1, "2.6.31", "-s", NULL),
	FLAG(enable_on_exec, 12, 1, "2.6.31", NULL, NULL),
	FLAG(task, 13, 1, "2.6.31", NULL, NULL),
	VALUE(wakeup_events, 48, 4, "2.6.31", "--wakeup-events", NULL),
	FLAG(watermark, 14, 1, "2.6.31", "--mmap-flush", NULL),
	SAMPLE(IP, 0, "2.6.31", NULL, NULL),
	SAMPLE(TID, 1, "2.6.31", NULL, NULL),
	SAMPLE(TIME, 2, "2.6.31", NULL, NULL),
	SAMPLE(ADDR, 3, "2.6.31", "-d", NULL),
	SAMPLE(READ, 4, "2.6.31", "-e {A,B}:S", NULL),
	SAMPLE(CALLCHAIN, 5, "2.6.31", "-g", NULL),
	SAMPLE(ID, 6, "2.6.31", "--sample-id", NULL),
	SAMPLE(CPU, 7, "2.6.31", NULL, NULL),
	SAMPLE(PERIOD, 8, "2.6.31", NULL, NULL),
	FORMAT(TOTAL_TIME_ENABLED, 0, "2.6.31", "--running-time"),
	FORMAT(TOTAL_TIME_RUNNING, 1, "2.6.31", "--running-time"),
	FORMAT(ID, 2, "2.6.31", NULL),
	SAMPLE(STREAM_ID, 9, "2.6.32", "--sample-stream-id", NULL),
	SAMPLE(RAW, 10, "2.6.32", "-R", NULL),
	FORMAT(GROUP, 3, "2.6.32", "-e {A,B}:S"),
	VALUE(bp_type, 52, 4, "2.6.33", "-e mem:ADDR", NULL),
	FLAG(precise_ip, 15, 2, "2.6.35", "-e EVENT:p", PRECISE),
	FLAG(mmap_data, 17, 1, "2.6.36", "--data-mmap", NULL),
	FLAG(sample_id_all, 18, 1, "2.6.38", NULL, NULL),
	FLAG(exclude_host, 19, 1, "3.2", "-e EVENT:G", NULL),
	FLAG(exclude_guest, 20, 1, "3.2", "-e EVENT:H", NULL),
	VALUE(branch_sample_type, 72, 8, "3.4", "-j", BRANCHES),
	SAMPLE(BRANCH_STACK, 11, "3.4", "-b", BRANCHES),
	BRANCH(USER, 0, "3.4", "-j u"),
	BRANCH(KERNEL, 1, "3.4", "-j k"),
	BRANCH(HV, 2, "3.4", "-j hv"),
	BRANCH(ANY, 3, "3.4", "-j any"),
	BRANCH(ANY_CALL, 4, "3.4", "-j any_call"),
	BRANCH(ANY_RETURN, 5, "3.4", "-j any_ret"),
	BRANCH(IND_CALL, 6, "3.4", "-j ind_call"),
	FLAG(exclude_callchain_kernel, 21, 1, "3.7", "--user-callchains", NULL),
	FLAG(exclude_callchain_user, 22, 1, "3.7", "--kernel-callchains", NULL),
	VALUE(sample_regs_user, 80, 8, "3.7", "--user-regs", REGISTERS),
	VALUE(sample_stack_user, 88, 4, "3.7", "--call-graph dwarf", REGISTERS),
	SAMPLE(REGS_USER, 12, "3.7", "--user-regs", REGISTERS),
	SAMPLE(STACK_USER, 13, "3.7", "--call-graph dwarf", REGISTERS),
	SAMPLE(WEIGHT, 14, "3.10", "-W", MEMORY),
	SAMPLE(DATA_SRC, 15, "3.10", "--sample-mem-info", MEMORY),
	BRANCH(ABORT_TX, 7, "3.11", "-j abort_tx"),
	BRANCH(IN_TX, 8, "3.11", "-j in_tx"),
	BRANCH(NO_TX, 9, "3.11", "-j no_tx"),
	SAMPLE(IDENTIFIER, 16, "3.12", NULL, NULL),
	SAMPLE(TRANSACTION, 17, "3.13", "--transaction", TRANSACTIONS),
	FLAG(mmap2, 23, 1, "3.16", NULL, NULL),
	FLAG(comm_exec, 24, 1, "3.16", NULL, NULL),
	BRANCH(COND, 10, "3.16", "-j cond"),
	VALUE(sample_regs_intr, 96, 8, "3.19", "--intr-regs", REGISTERS),
	SAMPLE(REGS_INTR, 18, "3.19", "--intr-regs", REGISTERS),
	VALUE(clockid, 92, 4, "4.1", "-k", NULL),
	FLAG(use_clockid, 25, 1, "4.1", "-k", NULL),
	VALUE(aux_watermark, 104, 4, "4.1", "-m PAGES,AUX-PAGES", AUX_AREA),
	BRANCH(CALL_STACK, 11, "4.1", "--call-graph lbr"),
	BRANCH(IND_JUMP, 12, "4.2", "-j ind_jmp"),
	FLAG(context_switch, 26, 1, "4.3", "--switch-events", NULL),
	BRANCH(CALL, 13, "4.4", "-j call"),
	BRANCH(NO_FLAGS, 14, "4.5", "-j no_flags"),
	BRANCH(NO_CYCLES, 15, "4.5", "-j no_cycles"),
	FLAG(write_backward, 27, 1, "4.7", "--overwrite", NULL),
	VALUE(sample_max_stack, 108, 2, "4.8", "--max-stack", NULL),
	FLAG(namespaces, 28, 1, "4.12", "--namespaces", NULL),
	SAMPLE(PHYS_ADDR, 19, "4.14", "--phys-data", NULL),
	BRANCH(TYPE_SAVE, 16, "4.14", "-j save_type"),
	FLAG(ksymbol, 29, 1, "5.1", NULL, NULL),
	FLAG(bpf_event, 30, 1, "5.1", NULL, NULL),
	FLAG(aux_output, 31, 1, "5.4", "-e EVENT/aux-output/", AUX_AREA),
	VALUE(aux_sample_size, 112, 4, "5.5", "--aux-sample", AUX_AREA),
	SAMPLE(AUX, 20, "5.5", "--aux-sample", AUX_AREA),
	FLAG(cgroup, 32, 1, "5.7", "--all-cgroups", NULL),
	SAMPLE(CGROUP, 21, "5.7", "--all-cgroups", CGROUPS),
	BRANCH(HW_INDEX, 17, "5.7", "-j hw_index"),
	FLAG(text_poke, 33, 1, "5.8", NULL, NULL),
	SAMPLE(DATA_PAGE_SIZE, 22, "5.11", "--data-page-size", NULL),
	SAMPLE(CODE_PAGE_SIZE, 23, "5.11", "--code-page-size", NULL),
	FLAG(build_id, 34, 1, "5.12", NULL, NULL),
	SAMPLE(WEIGHT_STRUCT, 24, "5.12", "-W", MEMORY),
	FLAG(inherit_thread, 35, 1, "5.13", "--inherit thread", NULL),
	FLAG(remove_on_exec, 36, 1, "5.13", "--remove-on-exec", NULL),
	VALUE(sig_data, 120, 8, "5.13", NULL, NULL),
	FLAG(sigtrap, 37, 1, "5.13", NULL, NULL),
	FORMAT(LOST, 4, "6.0", NULL),
	BRANCH(PRIV_SAVE, 18, "6.1", "-j priv"),
	VALUE(config3, 128, 8, "6.3", "-e PMU/config3=N/", NULL),
	BRANCH(COUNTERS, 19, "6.8", "-j counter"),
	VALUE(aux_action, 116, 4, "6.13", "-e EVENT/aux-action=ACTION/", AUX_AREA),
	FLAG(defer_callchain, EVENT_FLAG_DEFER_CALLCHAIN, 1, "6.19", "--call-graph fp,defer", NULL),
	FLAG(defer_output, EVENT_FLAG_DEFER_OUTPUT, 1, "6.19", "--call-graph fp,defer", NULL),
	VALUE(config4, 136, 8, "7.0", "-e PMU/config4=N/", NULL),
};
#define FIELD_COUNT (sizeof(fields) / sizeof(*fields))

const struct event_field *event_fields(size_t *count_ret)
{
	*count_ret = FIELD_COUNT;
	return fields;
}

const struct event_field *event_field_find(const char *name)
{
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

/* Returns the mask of a flag, by this compiler's layout of bit fields. */
static uint64_t flag_mask(const struct event_field *field)
{
	uint64_t mask = ((UINT64_C(1) << field->size) - 1) << field->at;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return mask;
	return ((UINT64_C(1) << field->size) - 1) << (64 - field->at - field->size);
}

/* Finds the u64 of the attr that holds the field's bits, and their mask; false for whole members. */
static bool bits_of(const struct event_field *field, size_t *at_ret, uint64_t *mask_ret)
{
	static const size_t places[] = {
		[EVENT_FIELD_FLAG] = FLAGS_AT,
		[EVENT_FIELD_SAMPLE] = offsetof(struct perf_event_attr, sample_type),
		[EVENT_FIELD_BRANCH] = offsetof(struct perf_event_attr, branch_sample_type),
		[EVENT_FIELD_FORMAT] = offsetof(struct perf_event_attr, read_format),
	};
	if (field->place == EVENT_FIELD_VALUE)
		return false;
	*at_ret = places[field->place];
	*mask_ret = field->place == EVENT_FIELD_FLAG ? flag_mask(field) : UINT64_C(1) << field->at;
	return true;
}

bool event_field_is_set(const struct event_field *field, const struct long_attr *attr)
{
	const uint8_t *bytes = attr->bytes;
	uint64_t mask, word;
	size_t at;
	if (bits_of(field, &at, &mask)) {
		memcpy(&word, bytes + at, sizeof(word));
		return word & mask;
	}
	for (size_t i = 0; i < field->size; i++)
		if (bytes[field->at + i])
			return true;
	return false;
}

/* Sets the field's lowest bit (`on`), or clears all of its bits. */
static void change(const struct event_field *field, struct long_attr *attr, bool on)
{
	uint8_t *bytes = attr->bytes;
	uint64_t mask, word;
	size_t at;
	if (bits_of(field, &at, &mask)) {
		memcpy(&word, bytes + at, sizeof(word));
		word = on ? word | mask : word & ~mask;
		memcpy(bytes + at, &word, sizeof(word));
	} else {
		memset(bytes + field->at, 0, field->size);
		size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : field->size - 1u;
		bytes[field->at + low] = on;
	}
}

void event_field_set(const struct event_field *field, struct long_attr *attr)
{
	change(field, attr, true);
}

/* Fields that are cleared together. */
static const struct pair {
	const char *name, *with;
} pairs[] = {
	{"PERF_SAMPLE_BRANCH_STACK", "branch_sample_type"},
	{"PERF_SAMPLE_REGS_USER", "sample_regs_user"},
	{"PERF_SAMPLE_STACK_USER", "sample_stack_user"},
	{"PERF_SAMPLE_REGS_INTR", "sample_regs_intr"},
	{"PERF_SAMPLE_AUX", "aux_sample_size"},
	{"use_clockid", "clockid"},
	{"sigtrap", "sig_data"},
	{"watermark", "wakeup_events"},
	{"defer_callchain", "defer_output"},
};

void event_field_clear(const struct event_field *field, struct long_attr *attr)
{
	change(field, attr, false);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (!strcmp(field->name, pairs[i].name))
			change(event_field_find(pairs[i].with), attr, false);
		if (!strcmp(field->name, pairs[i].with))
			change(event_field_find(pairs[i].name), attr, false);
	}
}

/* -- Asking ---------------------------------------------------------------- */

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
	static const struct pair company[] = {
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
	for (size_t i = 0; i < sizeof(company) / sizeof(*company); i++)
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
	/* The member then is a number of bytes. */
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

/* Fields that dummy events cannot test, because they need an AUX area. */
static bool cannot_be_asked(const struct event_field *field)
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
	if (cannot_be_asked(field))
		return !is_older(rights->release, field->since);
	event_field_set(field, &whole);
	add_company(field, &whole);
	int errnum = try(kernel, &whole, 0, -1, 0);
	return errnum != EINVAL && errnum != E2BIG && errnum != ENOSYS;
}

/* -- Explaining ------------------------------------------------------------ */

/* Whether the event may be tried without the field. Without some fields it would be another event. */
static bool is_removable(const struct event_field *field, int errnum)
{
	static const char *const kept[] = {"disabled", "inherit", "freq", "exclude_user",
					   "exclude_kernel", "exclude_hv", "bp_type",
					   "sample_id_all"};
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!strcmp(field->name, kept[i]))
			return false;
	/*
	 * config3 and config4 identify the event; they are removable only if the kernel's attr is too
	 * small.
	 */
	return strncmp(field->name, "config", 6) || errnum == E2BIG;
}

static int try_refused(const struct event_refusal *refusal, const struct long_attr *whole)
{
	return try(refusal->kernel, whole, refusal->pid, refusal->cpu, refusal->flags);
}

/*
 * Finds the newest field without which the kernel's answer differs. If several are refused, finds the
 * oldest of them: `together` also removes all newer fields.
 */
static const struct event_field *find_refused(const struct event_refusal *refusal, bool together)
{
	struct long_attr whole = refusal->whole;
	for (size_t i = FIELD_COUNT; i > 0; i--) {
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

/* Whether the machine has a PMU for its CPUs; most virtual machines have none. */
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
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED, "%s: needs Linux %s or later (%s); this is %s",
				  title(field), field->since, field->name, release),
			"omit it, or use a newer kernel");
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "%s: this kernel (%s) does not support %s, which needs %s",
					  title(field), release, field->name, field->needs),
				"omit it, or use another kernel");
}

static struct sp_error *missing_hardware(const struct event_refusal *refusal,
					 const struct event_field *field)
{
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
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
						  "%s: software events (%s) have no branch stacks: they "
						  "need %s", name, refusal->event, needs),
					"use -e cycles");
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "%s: not supported by the PMU of %s%s%s",
					  name, refusal->event, needs ? ": it needs " : "",
					  needs ? needs : ""),
				"omit it, or use another event or machine");
}

/* Returns the error for fields that need a permission: to sample the kernel, or all processes. */
static struct sp_error *forbidden_field(const struct event_refusal *refusal,
					const struct event_field *field)
{
	if (strcmp(field->name, "namespaces"))
		return rights_explain(refusal->rights, RIGHTS_KERNEL, title(field), refusal->errnum);
	return error_set_remedy(
		error_new(SP_ERROR_PERMISSION, "%s: needs CAP_PERFMON (Linux 5.8) or CAP_SYS_ADMIN "
			  "for any kernel.perf_event_paranoid", title(field)),
		"run as root, or sudo setcap cap_perfmon+ep $(command -v sprof)");
}

static bool is_refusal(int errnum)
{
	return errnum == EACCES || errnum == EPERM;
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
		return forbidden_field(refusal, field);
	if (!event_field_known(refusal->kernel, refusal->rights, field))
		return unknown_field(refusal, field);
	return missing_hardware(refusal, field);
}

/* -- The list -------------------------------------------------------------- */

struct sp_error *sp_attr_fields(struct sp_ctx *ctx, struct sp_attr_field **ret, size_t *count_ret)
{
	const struct event_kernel *kernel = event_kernel_real();
	struct event_support support;
	struct rights rights;
	TRY(rights_read(ctx, &rights));
	int errnum = event_support_probe(kernel, &support);
	if (errnum)
		return rights_explain(&rights, RIGHTS_ANY_EVENT, "perf_event_open", errnum);
	struct sp_attr_field *list = calloc(FIELD_COUNT, sizeof(*list));
	NEED(list);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const struct event_field *field = &fields[i];
		list[i] = (struct sp_attr_field){
			.name = field->name, .option = field->option, .since = field->since,
			.needs = field->needs, .known = event_field_known(kernel, &rights, field),
		};
	}
	*ret = list;
	*count_ret = FIELD_COUNT;
	return NULL;
}
