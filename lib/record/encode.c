/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes records: header (u32 type, u16 misc, u16 size), fields, and for kernel records other than
 * SAMPLE the sample_id. Strings end in a NUL and are padded with zeros to a multiple of 8, as is the
 * record.
 */
#include "record/encode.h"

#include "base/error.h"
#include "record/fixed_fields.h"
#include "record/put.h"
#include "record/types.h"

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

/* Writes the fields of the record's table. The record begins at offset `start` of the buffer. */
static void put_fixed_fields(struct put *put, const struct sp_record *record,
			     const struct fixed_field *field, size_t start)
{
	for (; field->kind > FIELD_MORE; field++) {
		const void *member = (const uint8_t *)record + field->at;
		if (field->kind == FIELD_TEXT)
			put_string(put, *(const char *const *)member, start);
		else if (field->kind == FIELD_PADDING)
			put_zeros(put, field->at);
		else
			put_bytes(put, member, field->kind / 8);
	}
}

/* Writes the fields of MMAP2 after file_offset. */
static void put_mmap2(struct put *put, const struct sp_mmap *mmap, size_t start)
{
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
	put_string(put, mmap->filename, start);
}

static void put_text_poke(struct put *put, const struct sp_text_poke *poke, size_t start)
{
	put_u16(put, (uint16_t)poke->before.size);
	put_u16(put, (uint16_t)poke->after.size);
	put_bytes(put, poke->before.bytes, poke->before.size);
	put_bytes(put, poke->after.bytes, poke->after.size);
	put_align(put, start);
}

static void put_namespaces(struct put *put, const struct sp_namespaces *namespaces)
{
	put_u64(put, namespaces->count);
	for (size_t i = 0; i < namespaces->count; i++) {
		put_u64(put, namespaces->namespaces[i].dev);
		put_u64(put, namespaces->namespaces[i].ino);
	}
}

static void put_build_id(struct put *put, const struct sp_build_id *build_id, size_t start)
{
	put_bytes(put, build_id->build_id, sizeof(build_id->build_id));
	put_u8(put, build_id->build_id_size);
	put_zeros(put, 3);
	put_string(put, build_id->filename, start);
}

static void put_data(struct put *put, struct sp_bytes data, size_t start)
{
	put_bytes(put, data.bytes, data.size);
	put_align(put, start);
}

/* Writes the fields of a record other than SAMPLE, which begins at offset `start` of the buffer. */
static struct sp_error *put_body(struct put *put, const struct sp_record *record,
				 const struct perf_event_attr *attr, size_t start)
{
	const struct fixed_field *fields = fixed_fields(record->type);
	if (fields)
		put_fixed_fields(put, record, fields, start);
	switch (record->type) {
	case PERF_RECORD_MMAP2:
		put_mmap2(put, &record->mmap, start);
		return NULL;
	case PERF_RECORD_READ:
		put_counters(put, &record->read.counters, attr ? attr->read_format : 0);
		return NULL;
	case PERF_RECORD_BPF_EVENT:
		put_bytes(put, record->bpf_event.tag, sizeof(record->bpf_event.tag));
		return NULL;
	case PERF_RECORD_TEXT_POKE:
		put_text_poke(put, &record->text_poke, start);
		return NULL;
	case PERF_RECORD_NAMESPACES:
		put_namespaces(put, &record->namespaces);
		return NULL;
	case RECORD_CALLCHAIN_DEFERRED:
		put_u64(put, record->deferred.count);
		put_bytes(put, record->deferred.ips, 8 * record->deferred.count);
		return NULL;
	case SP_RECORD_HEADER_ATTR:
		put_attr(put, &record->attr.attr, &record->attr.tail,
			 record->attr.attr.size
				 ?: attr_size_needed(&record->attr.attr, &record->attr.tail));
		put_bytes(put, record->attr.ids, 8 * record->attr.id_count);
		return NULL;
	case SP_RECORD_HEADER_BUILD_ID:
		put_build_id(put, &record->build_id, start);
		return NULL;
	case SP_RECORD_HEADER_FEATURE:
		put_data(put, record->feature.payload, start);
		return NULL;
	case SP_RECORD_EVENT_UPDATE:
		put_data(put, record->event_update.data, start);
		return NULL;
	default:
		while (fields && fields->kind > FIELD_MORE)
			fields++;
		if (fields && fields->kind == FIELD_END)
			return NULL;
		return error_new(SP_ERROR_UNSUPPORTED, "records of type %u are not written",
				 record->type);
	}
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
	TRY(record->type == PERF_RECORD_SAMPLE ? put_sample(put, &record->sample, attr)
					       : put_body(put, record, attr, start));
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
	if (!(branch_type & RECORD_BRANCH_COUNTERS))
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

struct sp_error *put_sample(struct put *put, const struct sp_sample *sample,
			    const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	if (type & ~RECORD_SAMPLE_KNOWN)
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
		TRY(put_registers(put, &sample->user_registers, attr->sample_regs_user));
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
		TRY(put_registers(put, &sample->interrupt_registers, attr->sample_regs_intr));
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
	return NULL;
}
