/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Table of the fields of the attr, and access to them. */
#include "event/attr_fields.h"

#include <string.h>

#include "base/vec.h"

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
#define FIELD_COUNT (count_of(fields))

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
static const struct {
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
	for (size_t i = 0; i < count_of(pairs); i++) {
		if (!strcmp(field->name, pairs[i].name))
			change(event_field_find(pairs[i].with), attr, false);
		if (!strcmp(field->name, pairs[i].with))
			change(event_field_find(pairs[i].name), attr, false);
	}
}
