/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes records: header (u32 type, u16 misc, u16 size), fields, and for kernel records other than
 * SAMPLE the sample_id. Strings end in a NUL and are padded with zeros to a multiple of 8, as is the
 * record.
 */
#include "record/encode.h"

#include "base/error.h"
#include "record/put.h"

/* Defined here, because older headers of the kernel lack it. */
#define RECORD_CALLCHAIN_DEFERRED 22

uint32_t attr_size_needed(const struct perf_event_attr *attr, const struct sp_attr_tail *tail)
{
	const struct long_attr whole = attr_whole(attr, tail);
	size_t used = sizeof(whole);
	while (used > PERF_ATTR_SIZE_VER5 && !whole.bytes[used - 1])
		used--;
	return (uint32_t)((used + 7) & ~(size_t)7);
}

/* Writes a string. Since the record's header, callers have written a multiple of 8 bytes, or 4 less. */
static void put_string(struct put *put, const char *text, size_t start)
{
	put_bytes(put, text, strlen(text) + 1);
	put_align(put, start);
}

static void put_mmap(struct put *put, const struct sp_mmap *mmap)
{
	put_u32(put, mmap->pid);
	put_u32(put, mmap->tid);
	put_u64(put, mmap->start);
	put_u64(put, mmap->size);
	put_u64(put, mmap->file_offset);
}

static void put_mmap2(struct put *put, const struct sp_mmap *mmap)
{
	put_mmap(put, mmap);
	if (mmap->build_id_size) {
		put_u8(put, mmap->build_id_size);
		put_zeros(put, 3);
		put_bytes(put, mmap->build_id, sizeof(mmap->build_id));
	} else {
		put_u32(put, mmap->maj);
		put_u32(put, mmap->min);
		put_u64(put, mmap->ino);
		put_u64(put, mmap->ino_generation);
	}
	put_u32(put, mmap->prot);
	put_u32(put, mmap->flags);
}

static void put_task(struct put *put, const struct sp_task *task)
{
	put_u32(put, task->pid);
	put_u32(put, task->ppid);
	put_u32(put, task->tid);
	put_u32(put, task->ptid);
	put_u64(put, task->time_ns);
}

static void put_throttle(struct put *put, const struct sp_throttle *throttle)
{
	put_u64(put, throttle->time_ns);
	put_u64(put, throttle->id);
	put_u64(put, throttle->stream_id);
}

static void put_ksymbol(struct put *put, const struct sp_ksymbol *ksymbol, size_t start)
{
	put_u64(put, ksymbol->start);
	put_u32(put, ksymbol->size);
	put_u16(put, ksymbol->type);
	put_u16(put, ksymbol->flags);
	put_string(put, ksymbol->name, start);
}

static void put_bpf_event(struct put *put, const struct sp_bpf_event *bpf)
{
	put_u16(put, bpf->type);
	put_u16(put, bpf->flags);
	put_u32(put, bpf->id);
	put_bytes(put, bpf->tag, sizeof(bpf->tag));
}

static void put_text_poke(struct put *put, const struct sp_text_poke *poke, size_t start)
{
	put_u64(put, poke->ip);
	put_u16(put, (uint16_t)poke->before.size);
	put_u16(put, (uint16_t)poke->after.size);
	put_bytes(put, poke->before.bytes, poke->before.size);
	put_bytes(put, poke->after.bytes, poke->after.size);
	put_align(put, start);
}

static void put_namespaces(struct put *put, const struct sp_namespaces *namespaces)
{
	put_u32(put, namespaces->pid);
	put_u32(put, namespaces->tid);
	put_u64(put, namespaces->count);
	for (size_t i = 0; i < namespaces->count; i++) {
		put_u64(put, namespaces->namespaces[i].dev);
		put_u64(put, namespaces->namespaces[i].ino);
	}
}

static void put_build_id(struct put *put, const struct sp_build_id *build_id, size_t start)
{
	put_u32(put, build_id->pid);
	put_bytes(put, build_id->build_id, sizeof(build_id->build_id));
	put_u8(put, build_id->build_id_size);
	put_zeros(put, 3);
	put_string(put, build_id->filename, start);
}

static void put_header_attr(struct put *put, const struct sp_header_attr *header)
{
	put_attr(put, &header->attr, &header->tail,
		 header->attr.size ?: attr_size_needed(&header->attr, &header->tail));
	put_bytes(put, header->ids, 8 * header->id_count);
}

static void put_event_update(struct put *put, const struct sp_event_update *update, size_t start)
{
	put_u64(put, update->kind);
	put_u64(put, update->id);
	put_bytes(put, update->data.bytes, update->data.size);
	put_align(put, start);
}

static struct sp_error *unsupported(uint32_t type)
{
	return error_new(SP_ERROR_UNSUPPORTED, "records of type %u are not written", type);
}

/* Writes the fields of perf's own record types; the record begins at offset `start` of the buffer. */
static struct sp_error *put_user_body(struct put *put, const struct sp_record *record, size_t start)
{
	switch (record->type) {
	case SP_RECORD_HEADER_ATTR:
		put_header_attr(put, &record->attr);
		break;
	case SP_RECORD_HEADER_BUILD_ID:
		put_build_id(put, &record->build_id, start);
		break;
	case SP_RECORD_HEADER_FEATURE:
		put_u64(put, record->feature.feature);
		put_bytes(put, record->feature.payload.bytes, record->feature.payload.size);
		put_align(put, start);
		break;
	case SP_RECORD_EVENT_UPDATE:
		put_event_update(put, &record->event_update, start);
		break;
	case SP_RECORD_FINISHED_ROUND:
	case SP_RECORD_FINISHED_INIT:
		break;
	default:
		return unsupported(record->type);
	}
	return NULL;
}

/* Writes the fields of the kernel's record types. */
static struct sp_error *put_body(struct put *put, const struct sp_record *record,
				 const struct perf_event_attr *attr, size_t start)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
		put_mmap(put, &record->mmap);
		put_string(put, record->mmap.filename, start);
		break;
	case PERF_RECORD_MMAP2:
		put_mmap2(put, &record->mmap);
		put_string(put, record->mmap.filename, start);
		break;
	case PERF_RECORD_COMM:
		put_u32(put, record->comm.pid);
		put_u32(put, record->comm.tid);
		put_string(put, record->comm.comm, start);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		put_task(put, &record->task);
		break;
	case PERF_RECORD_LOST:
		put_u64(put, record->lost.id);
		put_u64(put, record->lost.lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		put_u64(put, record->lost.lost);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		put_throttle(put, &record->throttle);
		break;
	case PERF_RECORD_READ:
		put_u32(put, record->read.pid);
		put_u32(put, record->read.tid);
		put_counters(put, &record->read.counters, attr ? attr->read_format : 0);
		break;
	case PERF_RECORD_KSYMBOL:
		put_ksymbol(put, &record->ksymbol, start);
		break;
	case PERF_RECORD_BPF_EVENT:
		put_bpf_event(put, &record->bpf_event);
		break;
	case PERF_RECORD_CGROUP:
		put_u64(put, record->cgroup.id);
		put_string(put, record->cgroup.path, start);
		break;
	case PERF_RECORD_TEXT_POKE:
		put_text_poke(put, &record->text_poke, start);
		break;
	case PERF_RECORD_NAMESPACES:
		put_namespaces(put, &record->namespaces);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		put_u32(put, record->context_switch.next_prev_pid);
		put_u32(put, record->context_switch.next_prev_tid);
		break;
	case PERF_RECORD_AUX:
		put_u64(put, record->aux.offset);
		put_u64(put, record->aux.size);
		put_u64(put, record->aux.flags);
		break;
	case RECORD_CALLCHAIN_DEFERRED:
		put_u64(put, record->deferred.cookie);
		put_u64(put, record->deferred.count);
		put_bytes(put, record->deferred.ips, 8 * record->deferred.count);
		break;
	case PERF_RECORD_SAMPLE:
		return put_sample(put, &record->sample, attr);
	case PERF_RECORD_SWITCH:
		break;
	default:
		return unsupported(record->type);
	}
	return NULL;
}

static void put_sample_id(struct put *put, const struct sp_sample_id *id, uint64_t type)
{
	if (type & PERF_SAMPLE_TID) {
		put_u32(put, id->pid);
		put_u32(put, id->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		put_u64(put, id->time_ns);
	if (type & PERF_SAMPLE_ID)
		put_u64(put, id->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(put, id->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		put_u32(put, id->cpu);
		put_u32(put, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(put, id->id);
}

static uint16_t misc_of(const struct sp_record *record)
{
	if (record->type != PERF_RECORD_MMAP2)
		return record->misc;
	if (record->mmap.build_id_size)
		return record->misc | PERF_RECORD_MISC_MMAP_BUILD_ID;
	return record->misc & (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}

/* Writes the whole record, with header.size still 0. */
static struct sp_error *put_record(struct put *put, const struct sp_record *record,
				   const struct perf_event_attr *attr, size_t start)
{
	put_u32(put, record->type);
	put_u16(put, misc_of(record));
	put_u16(put, 0);
	TRY(record->type < SP_RECORD_HEADER_ATTR ? put_body(put, record, attr, start)
						 : put_user_body(put, record, start));
	if (attr && attr->sample_id_all && record->type != PERF_RECORD_SAMPLE &&
	    record->type < SP_RECORD_HEADER_ATTR)
		put_sample_id(put, &record->id, attr->sample_type);
	if (put->no_memory)
		return error_no_memory();
	size_t size = put->buffer->count - start;
	if (size > RECORD_SIZE_MAX)
		return error_new(SP_ERROR_LIMIT,
				 "a record of type %u and %zu bytes: %zu is the most", record->type,
				 size, RECORD_SIZE_MAX);
	return NULL;
}

struct sp_error *record_encode(struct record_buffer *buffer, const struct sp_record *record,
			       const struct perf_event_attr *attr)
{
	struct put put = {.buffer = buffer};
	size_t start = buffer->count;
	struct sp_error *error = put_record(&put, record, attr, start);
	if (error) {
		buffer->count = start;
		return error;
	}
	uint16_t size = (uint16_t)(buffer->count - start);
	memcpy(buffer->items + start + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
	return NULL;
}

/*
 * Encodes the fields of a SAMPLE in the kernel's order (perf_output_sample()): those with their bit
 * in attr->sample_type.
 */

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
		 * The times come before the values of a group, but after the value of a single
		 * event.
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
		return error_new(SP_ERROR_INVALID,
				 "a sample of %zu registers where the event has %zu",
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
