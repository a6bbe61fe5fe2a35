/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads counts from the page that the kernel shares (struct perf_event_mmap_page), by the protocol
 * in <linux/perf_event.h>. `lock` is a sequence number that changes before and after each change of
 * the page, which the kernel makes on the reader's CPU, between two of its instructions. A reading
 * is valid if the number is the same, and even, before and after it.
 */
#pragma once

#include <sprof/meter.h>

/* Instructions of the CPU, which tests replace. */
struct page_cpu {
	/* Reads hardware counter `index`, from 0. Its low `width` bits are valid. */
	uint64_t (*counter)(void *arg, uint32_t index);
	uint64_t (*cycles)(void *arg); /* Reads the time stamp counter. */
	void *arg;
};

/*
 * Returns this CPU's instructions; NULL if the architecture does not allow reading counters in user
 * space.
 */
const struct page_cpu *page_cpu_real(void);

/*
 * Reads value, enabled_ns and running_ns. Returns false if the page does not allow it, the event is
 * on no hardware counter, or the page changes in all attempts. Without cap_user_time, the times are
 * those of when the event was last scheduled.
 */
bool page_read(const struct perf_event_mmap_page *page, const struct page_cpu *cpu,
	       struct sp_count *ret);

/* Copies all fields at one moment. Returns false if the page changes in all attempts. */
bool page_copy(const struct perf_event_mmap_page *page, struct sp_meter_page *ret);
