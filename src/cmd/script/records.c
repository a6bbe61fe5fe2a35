/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of records other than samples, as in perf 6.1 (perf_event__fprintf()). */
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include "cmd/script/script.h"

static void put_hex_bytes(struct buffer *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buffer_format(out, "%02x", bytes[i]);
}

static void put_last_name(struct buffer *out, const char *name)
{
	buffer_name(out, name);
	buffer_char(out, '\n');
}

static void put_mmap2(struct buffer *out, const struct sp_mmap *mmap)
{
	buffer_format(out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, (int)mmap->pid,
		      (int)mmap->tid, mmap->start, mmap->size, mmap->file_offset);
	if (mmap->build_id_size) {
		buffer_put(out, " <", 2);
		put_hex_bytes(out, mmap->build_id, mmap->build_id_size);
		buffer_char(out, '>');
	} else {
		buffer_format(out, " %02x:%02x %" PRIu64 " %" PRIu64, mmap->maj, mmap->min,
			      mmap->ino, mmap->ino_generation);
	}
	buffer_format(out, "]: %c%c%c%c ", mmap->prot & PROT_READ ? 'r' : '-',
		      mmap->prot & PROT_WRITE ? 'w' : '-', mmap->prot & PROT_EXEC ? 'x' : '-',
		      mmap->flags & MAP_SHARED ? 's' : 'p');
	put_last_name(out, mmap->filename);
}

static void put_namespaces(struct buffer *out, const struct sp_namespaces *namespaces)
{
	buffer_format(out, " %d/%d - nr_namespaces: %zu\n\t\t[", (int)namespaces->pid,
		      (int)namespaces->tid, namespaces->count);
	for (size_t i = 0; i < namespaces->count; i++) {
		const struct sp_namespace *one = &namespaces->namespaces[i];
		const char *name = sp_namespace_name(i);
		if (i && i % 4 == 0)
			buffer_string(out, "\n\t\t ");
		buffer_format(out, "%zu/%s: %" PRIu64 "/%#" PRIx64 "%s", i, name ? name : "unknown",
			      one->dev, one->ino, i + 1 < namespaces->count ? ", " : "]\n");
	}
}

static void put_switch(struct buffer *out, const struct sp_record *record)
{
	bool leaves = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	const char *how = !leaves ? "IN         " :
			  record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt" :
									       "OUT        ";
	if (record->type == PERF_RECORD_SWITCH)
		buffer_format(out, " %s\n", how);
	else
		buffer_format(out, " %s  %s pid/tid: %5d/%-5d\n", how, leaves ? "next" : "prev",
			      (int)record->context_switch.next_prev_pid,
			      (int)record->context_switch.next_prev_tid);
}

/* Prints code bytes in hex, sixteen on a line. */
static void put_code(struct buffer *out, const char *title, const struct sp_bytes *code)
{
	for (size_t line = 0; line < code->size; line += 16) {
		buffer_format(out, "            %s", line ? "          " : title);
		for (size_t i = line; i < code->size && i < line + 16; i++)
			buffer_format(out, " %02x", code->bytes[i]);
		buffer_char(out, '\n');
	}
}

static void put_text_poke(struct printer *printer, const struct sp_text_poke *poke)
{
	struct buffer *out = &printer->out;
	const struct sp_place *place = sp_teller_place(printer->teller, poke->ip);
	const struct sp_place_frame *frame =
		place ? sp_place_frame(place, place->frame_count - 1) : NULL;
	buffer_format(out, " %" PRIx64 " ", poke->ip);
	if (frame && frame->name) {
		buffer_name(out, frame->name);
		buffer_format(out, "+0x%" PRIx64, frame->offset);
	}
	buffer_format(out, " old len %zu new len %zu\n", poke->before.size, poke->after.size);
	put_code(out, "old bytes:", &poke->before);
	put_code(out, "new bytes:", &poke->after);
}

static void put_mapping(struct buffer *out, const struct sp_record *record)
{
	const struct sp_mmap *mmap = &record->mmap;
	buffer_format(out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64 "]: %c ",
		      (int)mmap->pid, (int)mmap->tid, mmap->start, mmap->size, mmap->file_offset,
		      record->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x');
	put_last_name(out, mmap->filename);
}

/*
 * Appends the values of the other records, on the line that the record's type begins. Types without
 * a case get only the newline.
 */
static void put_other_record(struct buffer *out, const struct sp_record *record)
{
	switch (record->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		buffer_format(out, " lost %" PRIu64 "\n", record->lost.lost);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		buffer_format(out, "(%d:%d):(%d:%d)\n", (int)record->task.pid,
			      (int)record->task.tid, (int)record->task.ppid,
			      (int)record->task.ptid);
		break;
	case PERF_RECORD_KSYMBOL:
		buffer_format(out, " addr %" PRIx64 " len %u type %u flags 0x%x name ",
			      record->ksymbol.start, record->ksymbol.size, record->ksymbol.type,
			      record->ksymbol.flags);
		put_last_name(out, record->ksymbol.name);
		break;
	case PERF_RECORD_BPF_EVENT:
		buffer_format(out, " type %u, flags %u, id %u\n", record->bpf_event.type,
			      record->bpf_event.flags, record->bpf_event.id);
		break;
	case PERF_RECORD_CGROUP:
		buffer_format(out, " cgroup: %" PRIu64 " ", record->cgroup.id);
		put_last_name(out, record->cgroup.path);
		break;
	default:
		buffer_char(out, '\n');
	}
}

void script_put_record(struct printer *printer, const struct sp_record *record)
{
	struct buffer *out = &printer->out;
	const char *name = sp_record_type_name(record->type);
	buffer_format(out, "PERF_RECORD_%s", name ? name : "UNKNOWN");
	switch (record->type) {
	case PERF_RECORD_MMAP:
		put_mapping(out, record);
		break;
	case PERF_RECORD_MMAP2:
		put_mmap2(out, &record->mmap);
		break;
	case PERF_RECORD_COMM:
		buffer_string(out, record->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec: " : ": ");
		buffer_name(out, record->comm.comm);
		buffer_format(out, ":%d/%d\n", (int)record->comm.pid, (int)record->comm.tid);
		break;
	case PERF_RECORD_NAMESPACES:
		put_namespaces(out, &record->namespaces);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		put_switch(out, record);
		break;
	case PERF_RECORD_TEXT_POKE:
		put_text_poke(printer, &record->text_poke);
		break;
	default:
		put_other_record(out, record);
	}
}
