/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading counts from the page that the kernel shares (struct perf_event_mmap_page), by the protocol
 * that <linux/perf_event.h> describes: `lock` is a sequence number that changes before and after the
 * kernel's every change, which it makes on the CPU that reads, between two of its instructions. So a
 * reading counts if the number was the same, and even, before and after it.
 */
#ifndef COUNT_COUNT_PAGE_H
#define COUNT_COUNT_PAGE_H

#include <sprof/meter.h>

/* The processor, which tests replace. */
struct page_cpu {
	/* Hardware counter `index`, counted from 0; `width` bits of it are good. */
	uint64_t (*counter)(void *arg, uint32_t index);
	uint64_t (*cycles)(void *arg); /* the time stamp counter */
	void *arg;
};

/* Returns the real one; NULL if this architecture does not allow reading counters in user space. */
const struct page_cpu *page_cpu_real(void);

/*
 * value, enabled_ns and running_ns; false where the page does not allow it, the event is not on a
 * hardware counter, or the page never holds still. Without cap_user_time the times are those of
 * when the event was last scheduled.
 */
bool page_read(const struct perf_event_mmap_page *page, const struct page_cpu *cpu,
	       struct sp_count *ret);

/* All fields, of one moment. False if it never holds still. */
bool page_copy(const struct perf_event_mmap_page *page, struct sp_meter_page *ret);

#endif
