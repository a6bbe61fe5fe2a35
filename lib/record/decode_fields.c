/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the fields of the kernel's records, except SAMPLE. */
#include <sys/mman.h>
#include "record/decode_internal.h"
#include "record/length.h"

/*
 * Returns whether the 24 bytes after file_offset are a build-id, not device and inode. The record's
 * flag is not reliable: up to Linux 6.18 at least, the kernel may leave it set from another recorder's
 * event. If no event of this recording asked for build-ids, only the two sizes that linkers write are
 * accepted. As a device's major number, they do not occur.
 */
static bool is_build_id(const struct decoder *decoder, const uint8_t *bytes)
{
	uint8_t size = bytes[0];
	if (bytes[1] || bytes[2] || bytes[3] || !size || size > 20)
		return false;
	return decoder->has_build_ids || size == 16 || size == 20;
}

static bool decode_mmap(const struct decoder *decoder, struct cursor *cursor,
			struct sp_record *record)
{
	struct sp_mmap *mmap = &record->mmap;
	if (!cursor_u32(cursor, &mmap->pid) || !cursor_u32(cursor, &mmap->tid) ||
	    !cursor_u64(cursor, &mmap->start) || !cursor_u64(cursor, &mmap->size) ||
	    !cursor_u64(cursor, &mmap->file_offset))
		return false;
	if (record->type == PERF_RECORD_MMAP)
		return read_string(cursor, &mmap->filename);
	struct cursor behind = *cursor;
	const uint8_t *bytes;
	bool good = cursor_bytes(&behind, 24, &bytes);
	if (good && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && is_build_id(decoder, bytes)) {
		*cursor = behind;
		mmap->build_id_size = bytes[0];
		memcpy(mmap->build_id, bytes + 4, mmap->build_id_size);
	} else {
		good = cursor_u32(cursor, &mmap->maj) && cursor_u32(cursor, &mmap->min) &&
		       cursor_u64(cursor, &mmap->ino) && cursor_u64(cursor, &mmap->ino_generation);
	}
	if (good && cursor_left(cursor) && mmap2_is_old(*cursor->pos)) {
		mmap->prot = PROT_READ;
		if (!(record->misc & PERF_RECORD_MISC_MMAP_DATA))
			mmap->prot |= PROT_EXEC;
		return read_string(cursor, &mmap->filename);
	}
	return good && cursor_u32(cursor, &mmap->prot) && cursor_u32(cursor, &mmap->flags) &&
	       read_string(cursor, &mmap->filename);
}

static bool decode_task(struct cursor *cursor, struct sp_task *task)
{
	return cursor_u32(cursor, &task->pid) && cursor_u32(cursor, &task->ppid) &&
	       cursor_u32(cursor, &task->tid) && cursor_u32(cursor, &task->ptid) &&
	       cursor_u64(cursor, &task->time_ns);
}

static bool decode_ksymbol(struct cursor *cursor, struct sp_ksymbol *ksymbol)
{
	return cursor_u64(cursor, &ksymbol->start) && cursor_u32(cursor, &ksymbol->size) &&
	       cursor_u16(cursor, &ksymbol->type) && cursor_u16(cursor, &ksymbol->flags) &&
	       read_string(cursor, &ksymbol->name);
}

static bool decode_bpf_event(struct cursor *cursor, struct sp_bpf_event *event)
{
	const uint8_t *tag;
	if (!cursor_u16(cursor, &event->type) || !cursor_u16(cursor, &event->flags) ||
	    !cursor_u32(cursor, &event->id) || !cursor_bytes(cursor, sizeof(event->tag), &tag))
		return false;
	memcpy(event->tag, tag, sizeof(event->tag));
	return true;
}

static bool decode_text_poke(struct cursor *cursor, struct sp_text_poke *poke)
{
	uint16_t before, after;
	if (!cursor_u64(cursor, &poke->ip) || !cursor_u16(cursor, &before) ||
	    !cursor_u16(cursor, &after) || !cursor_bytes(cursor, before, &poke->before.bytes) ||
	    !cursor_bytes(cursor, after, &poke->after.bytes))
		return false;
	poke->before.size = before;
	poke->after.size = after;
	return true;
}

static bool decode_namespaces(struct decoder *decoder, struct cursor *cursor,
			      struct sp_namespaces *namespaces)
{
	_Static_assert(sizeof(struct sp_namespace) == 16, "two words, as in the record");
	uint64_t count;
	const uint64_t *words;
	if (!cursor_u32(cursor, &namespaces->pid) || !cursor_u32(cursor, &namespaces->tid) ||
	    !cursor_u64(cursor, &count) || count > cursor_left(cursor) / 16 ||
	    !read_words(decoder, cursor, count * 2, &words))
		return false;
	namespaces->namespaces = (const struct sp_namespace *)words;
	namespaces->count = count;
	return true;
}

static bool decode_deferred(struct decoder *decoder, struct cursor *cursor,
			    struct sp_deferred *deferred)
{
	uint64_t count;
	if (!cursor_u64(cursor, &deferred->cookie) || !cursor_u64(cursor, &count) ||
	    !read_words(decoder, cursor, count, &deferred->ips))
		return false;
	deferred->count = count;
	return true;
}

static bool decode_aux(struct cursor *cursor, struct sp_aux *aux)
{
	return cursor_u64(cursor, &aux->offset) && cursor_u64(cursor, &aux->size) &&
	       cursor_u64(cursor, &aux->flags);
}

bool decode_fields(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
		   struct sp_record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(decoder, cursor, record);
	case PERF_RECORD_LOST:
		return cursor_u64(cursor, &record->lost.id) &&
		       cursor_u64(cursor, &record->lost.lost);
	case PERF_RECORD_COMM:
		return cursor_u32(cursor, &record->comm.pid) &&
		       cursor_u32(cursor, &record->comm.tid) &&
		       read_string(cursor, &record->comm.comm);
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		return decode_task(cursor, &record->task);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return cursor_u64(cursor, &record->throttle.time_ns) &&
		       cursor_u64(cursor, &record->throttle.id) &&
		       cursor_u64(cursor, &record->throttle.stream_id);
	case PERF_RECORD_READ:
		return cursor_u32(cursor, &record->read.pid) &&
		       cursor_u32(cursor, &record->read.tid) &&
		       read_counters(decoder, cursor, plan->read_format, &record->read.counters);
	case PERF_RECORD_AUX:
		return decode_aux(cursor, &record->aux);
	case PERF_RECORD_LOST_SAMPLES:
		return cursor_u64(cursor, &record->lost.lost);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return cursor_u32(cursor, &record->context_switch.next_prev_pid) &&
		       cursor_u32(cursor, &record->context_switch.next_prev_tid);
	case PERF_RECORD_NAMESPACES:
		return decode_namespaces(decoder, cursor, &record->namespaces);
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(cursor, &record->ksymbol);
	case PERF_RECORD_BPF_EVENT:
		return decode_bpf_event(cursor, &record->bpf_event);
	case PERF_RECORD_CGROUP:
		return cursor_u64(cursor, &record->cgroup.id) &&
		       read_string(cursor, &record->cgroup.path);
	case PERF_RECORD_TEXT_POKE:
		return decode_text_poke(cursor, &record->text_poke);
	case PERF_RECORD_ITRACE_START:
		return cursor_u32(cursor, &record->itrace_start.pid) &&
		       cursor_u32(cursor, &record->itrace_start.tid);
	case RECORD_AUX_OUTPUT_HW_ID:
		return cursor_u64(cursor, &record->aux_output_hw_id.hw_id);
	case RECORD_CALLCHAIN_DEFERRED:
		return decode_deferred(decoder, cursor, &record->deferred);
	default:
		return true;
	}
}
