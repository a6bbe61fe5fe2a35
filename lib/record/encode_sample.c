/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes the fields of a SAMPLE in the kernel's order (perf_output_sample()): those with their bit
 * in attr->sample_type.
 */
#include "record/put.h"

#include "base/error.h"

/* Defined here, because older headers of the kernel lack it. */
#define BRANCH_COUNTERS (1U << 19)
#define SAMPLE_TYPES_KNOWN ((UINT64_C(1) << 25) - 1)

void put_counters(struct put *put, const struct sp_counters *counters, uint64_t read_format)
{
	bool group = read_format & PERF_FORMAT_GROUP;
	size_t count = group ? counters->count : 1;
	if (group)
		put_u64(put, count);
	for (size_t i = 0; i < count; i++) {
		struct sp_counter value = i < counters->count ? counters->values[i]
							      : (struct sp_counter){0};
		/*
		 * The times come before the values of a group, but after the value of a single event.
		 */
		if (!group)
			put_u64(put, value.value);
		if (i == 0 && (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED))
			put_u64(put, counters->time_enabled_ns);
		if (i == 0 && (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING))
			put_u64(put, counters->time_running_ns);
		if (group)
			put_u64(put, value.value);
		if (read_format & PERF_FORMAT_ID)
			put_u64(put, value.id);
		if (read_format & PERF_FORMAT_LOST)
			put_u64(put, value.lost);
	}
}

/* Writes a u32 size and the bytes, together a multiple of 8. */
static void put_raw(struct put *put, struct sp_bytes raw)
{
	size_t padding = -(sizeof(uint32_t) + raw.size) & 7;
	put_u32(put, (uint32_t)(raw.size + padding));
	put_bytes(put, raw.bytes, raw.size);
	put_zeros(put, padding);
}

/* Writes a u64 size and the bytes, a multiple of 8. */
static void put_sized(struct put *put, struct sp_bytes data)
{
	size_t padding = -data.size & 7;
	put_u64(put, data.size + padding);
	put_bytes(put, data.bytes, data.size);
	put_zeros(put, padding);
}

static void put_branches(struct put *put, const struct sp_sample *sample, uint64_t branch_type)
{
	put_u64(put, sample->branch_count);
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		put_u64(put, sample->branch_hw_index);
	for (size_t i = 0; i < sample->branch_count; i++) {
		put_u64(put, sample->branches[i].from);
		put_u64(put, sample->branches[i].to);
		put_u64(put, sample->branches[i].flags);
	}
	if (!(branch_type & BRANCH_COUNTERS))
		return;
	if (sample->branch_counters)
		put_bytes(put, sample->branch_counters, 8 * sample->branch_count);
	else
		put_zeros(put, 8 * sample->branch_count);
}

static struct sp_error *put_registers(struct put *put, const struct sp_registers *registers,
				      uint64_t mask)
{
	put_u64(put, registers->abi);
	if (registers->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return NULL;
	size_t count = (size_t)__builtin_popcountll(mask);
	if (registers->count != count)
		return error_new(SP_ERROR_INVALID, "a sample of %zu registers where the event has %zu",
				 registers->count, count);
	put_bytes(put, registers->values, 8 * count);
	return NULL;
}

/* Writes the fields of fixed size before the counters. */
static void put_sample_head(struct put *put, const struct sp_sample *sample, uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(put, sample->id);
	if (type & PERF_SAMPLE_IP)
		put_u64(put, sample->ip);
	if (type & PERF_SAMPLE_TID) {
		put_u32(put, sample->pid);
		put_u32(put, sample->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		put_u64(put, sample->time_ns);
	if (type & PERF_SAMPLE_ADDR)
		put_u64(put, sample->addr);
	if (type & PERF_SAMPLE_ID)
		put_u64(put, sample->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(put, sample->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		put_u32(put, sample->cpu);
		put_u32(put, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		put_u64(put, sample->period);
}

/* Writes the fields after the interrupted registers. */
static void put_sample_tail(struct put *put, const struct sp_sample *sample, uint64_t type)
{
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_u64(put, sample->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		put_u64(put, sample->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_u64(put, sample->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_u64(put, sample->code_page_size);
	if (type & PERF_SAMPLE_AUX)
		put_sized(put, sample->aux);
}

struct sp_error *put_sample(struct put *put, const struct sp_sample *sample,
			    const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	struct sp_error *error = NULL;
	if (type & ~SAMPLE_TYPES_KNOWN)
		return error_new(SP_ERROR_UNSUPPORTED, "a sample type of unknown bits: 0x%llx",
				 (unsigned long long)type);
	put_sample_head(put, sample, type);
	if (type & PERF_SAMPLE_READ)
		put_counters(put, &sample->counters, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(put, sample->ip_count);
		put_bytes(put, sample->ips, 8 * sample->ip_count);
	}
	if (type & PERF_SAMPLE_RAW)
		put_raw(put, sample->raw);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(put, sample, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		error = put_registers(put, &sample->user_registers, attr->sample_regs_user);
	if (error)
		return error;
	if (type & PERF_SAMPLE_STACK_USER) {
		put_sized(put, sample->stack);
		if (sample->stack.size)
			put_u64(put, sample->stack_dyn_size);
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		put_u64(put, sample->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_u64(put, sample->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		put_u64(put, sample->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		error = put_registers(put, &sample->interrupt_registers, attr->sample_regs_intr);
	if (!error)
		put_sample_tail(put, sample, type);
	return error;
}
