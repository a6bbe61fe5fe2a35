/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that may have a perf map, by metadata records. */
#include <sys/mman.h>
#include "base/bytes.h"
#include "binary/held_maps.h"
#include "capture/recorder.h"
#include "machine/modules.h"
#include "record/types.h"

/* Layout of the records, as perf_event_open(2) has them. */
enum {
	PID = 8,
	TID = 12, /* FORK: the parent's pid */
	FORK_TID = 16,
	FORK_END = 32,
	MMAP2_INODE = 48,
	MMAP2_PROT = 64,
	MMAP2_NAME = 72,
};

/* Returns whether a mapping may have code that its process generates, in memory. */
static bool is_generated(const uint8_t *record, size_t size)
{
	static const char *const names[] = {"//", "[anon", "[heap", "[stack", "/memfd:",
					    "/dev/zero", "/anon_hugepage", "/SYSV"};
	const char *name = (const char *)record + MMAP2_NAME;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strnlen(names[i], size - MMAP2_NAME)))
			return true;
	return false;
}

static bool on_mapping(struct held_maps *maps, const uint8_t *record, size_t size, uint64_t time_ns)
{
	const char *path = (const char *)record + MMAP2_NAME;
	uint32_t pid = bytes_u32(record + PID);
	if (size <= MMAP2_NAME || !(bytes_u32(record + MMAP2_PROT) & PROT_EXEC) ||
	    !memchr(path, 0, size - MMAP2_NAME))
		return true;
	if (modules_is_jitdump(path))
		return held_maps_add_dump(maps, pid, path, bytes_u64(record + MMAP2_INODE));
	return !is_generated(record, size) || held_maps_watch(maps, pid, time_ns);
}

static bool on_record(struct held_maps *maps, const uint8_t *record, uint64_t time_ns,
		      uint64_t now_ns)
{
	const struct perf_event_header header = record_header_of(record);
	if (header.size < FORK_TID)
		return true;
	uint32_t pid = bytes_u32(record + PID), second = bytes_u32(record + TID);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return on_mapping(maps, record, header.size, time_ns);
	case PERF_RECORD_FORK:
		return pid == second || held_maps_fork(maps, second, pid, time_ns);
	case PERF_RECORD_EXIT:
		if (header.size >= FORK_END && bytes_u32(record + FORK_TID) == pid)
			held_maps_end(maps, pid, now_ns);
		break;
	case PERF_RECORD_COMM:
		if (header.misc & PERF_RECORD_MISC_COMM_EXEC)
			held_maps_end(maps, pid, now_ns);
		break;
	default:
		break;
	}
	return true;
}

struct sp_error *capture_follow_maps(struct sp_capture *capture,
				     const struct record_buffer *records)
{
	uint64_t now_ns = capture_record_time_ns(capture);
	const struct record_fields *fields = &capture->samples.filter.fields;
	struct perf_event_header header;
	for (size_t at = 0; at + sizeof(header) <= records->count; at += header.size) {
		const uint8_t *record = records->items + at;
		header = record_header_of(record);
		if (header.size < sizeof(header) + fields->trailer_tid ||
		    header.size > records->count - at)
			break;
		uint64_t time_ns = bytes_u64(record + header.size - fields->trailer_time);
		NEED(on_record(capture->maps, record, time_ns, now_ns));
	}
	held_maps_mark(capture->maps, now_ns);
	return NULL;
}
