/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input of a meter: the records of its ring, its page, and traps. */
#include <signal.h>
#include <string.h>
#include "count/meter.h"
#include "count/page.h"

/* <asm-generic/siginfo.h>, Linux 5.13. */
#define CODE_TRAP_PERF 6
#define TRAP_PERF_ASYNC 1u

/* Layout after si_addr in a siginfo_t of CODE_TRAP_PERF. */
struct trap_tail {
	unsigned long data;
	uint32_t type, flags;
};

bool sp_trap_decode(const void *siginfo, struct sp_trap *ret)
{
	const siginfo_t *info = siginfo;
	struct trap_tail tail;
	if (info->si_signo != SIGTRAP || info->si_code != CODE_TRAP_PERF)
		return false;
	const char *behind = (const char *)&info->si_addr + sizeof(info->si_addr);
	memcpy(&tail, behind, sizeof(tail));
	ret->address = (uint64_t)(uintptr_t)info->si_addr;
	ret->data = tail.data;
	ret->type = tail.type;
	ret->async = tail.flags & TRAP_PERF_ASYNC;
	return true;
}

/* The record's bytes, where they lie or, if it wraps, copied. */
static const uint8_t *bytes_of(struct sp_meter *meter, size_t size)
{
	size_t at = (size_t)(meter->position & (meter->ring.size - 1));
	if (at + size <= meter->ring.size)
		return meter->ring.data + at;
	ring_copy(&meter->ring, meter->position, size, meter->bounce);
	return meter->bounce;
}

struct sp_error *sp_meter_next(struct sp_meter *meter, const struct sp_record **ret)
{
	struct perf_event_header header;
	*ret = NULL;
	if (!meter->ring.page)
		return NULL;
	/* The one that was given last is done with. */
	ring_release(&meter->ring, meter->position);
	uint64_t head = ring_head(&meter->ring);
	if (head == meter->position)
		return NULL;
	if (!ring_record(&meter->ring, meter->position, head, &header)) {
		struct sp_error *error = error_format("ring", meter->position, "incomplete record");
		meter->position = head;
		return error;
	}
	const struct raw_record raw = {
		.type = header.type, .misc = header.misc, .size = header.size,
		.bytes = bytes_of(meter, header.size), .offset = meter->position};
	meter->position += header.size;
	struct sp_error *error = decoder_decode(meter->decoder, &raw, &meter->record);
	if (!error)
		*ret = &meter->record;
	return error;
}

bool sp_meter_read_page(const struct sp_meter *meter, size_t index, struct sp_meter_page *ret)
{
	const struct metered *event = meter_at(meter, index);
	return event->page && page_copy(event->page, ret);
}

bool sp_meter_clock(const struct sp_meter *meter, struct sp_clock *ret)
{
	struct sp_meter_page page;
	if (!sp_meter_read_page(meter, 0, &page) || !page.cap_user_time_zero || !page.time_mult)
		return false;
	*ret = (struct sp_clock){.zero = page.time_zero, .mult = page.time_mult, .shift = page.time_shift,
				 .narrow = page.cap_user_time_short,
				 .cycles = page.cap_user_time_short ? page.time_cycles : 0,
				 .mask = page.cap_user_time_short ? page.time_mask : ~UINT64_C(0)};
	return true;
}
