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
	struct sp_error *error = record->type < SP_RECORD_HEADER_ATTR
					 ? put_body(put, record, attr, start)
					 : put_user_body(put, record, start);
	if (error)
		return error;
	if (attr && attr->sample_id_all && record->type != PERF_RECORD_SAMPLE &&
	    record->type < SP_RECORD_HEADER_ATTR)
		put_sample_id(put, &record->id, attr->sample_type);
	if (put->no_memory)
		return error_no_memory();
	size_t size = put->buffer->count - start;
	if (size > RECORD_SIZE_MAX)
		return error_new(SP_ERROR_LIMIT, "a record of type %u and %zu bytes: %zu is the most",
				 record->type, size, RECORD_SIZE_MAX);
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
	memcpy(buffer->items + start + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return NULL;
}
