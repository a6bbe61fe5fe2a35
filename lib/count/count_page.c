/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "count/count_page.h"

#include <stdatomic.h>
#include "base/ticks.h"

/* Limit of attempts: the kernel changes the page at most at each context switch and tick. */
#define TRIES 1000

/* Loads a field from memory: the compiler must neither cache it nor load it twice. */
#define FIELD(page, name) (((const volatile struct perf_event_mmap_page *)(page))->name)

/*
 * Orders loads: fields must not be loaded before the first or after the second load of the lock.
 * For the CPU this matters if the writer is another thread (in tests), or this thread has moved.
 */
static uint32_t begin(const struct perf_event_mmap_page *page)
{
	uint32_t lock = FIELD(page, lock);
	atomic_thread_fence(memory_order_acquire);
	return lock;
}

static bool held_still(const struct perf_event_mmap_page *page, uint32_t lock)
{
	atomic_thread_fence(memory_order_acquire);
	return !(lock & 1) && FIELD(page, lock) == lock;
}

/* Returns the time since the times on the page were right. */
static uint64_t time_since(const struct perf_event_mmap_page *page, const struct page_cpu *cpu)
{
	uint64_t cycles = cpu->cycles(cpu->arg);
	if (FIELD(page, cap_user_time_short))
		cycles = ticks_widen(cycles, FIELD(page, time_cycles), FIELD(page, time_mask));
	return FIELD(page, time_offset) +
	       ticks_scale(cycles, FIELD(page, time_mult), FIELD(page, time_shift));
}

/* Sign-extends the counter's valid bits. */
static uint64_t extend(uint64_t counter, uint16_t width)
{
	unsigned int unused = width && width < 64 ? 64 - width : 0;
	return (int64_t)(counter << unused) >> unused;
}

bool page_read(const struct perf_event_mmap_page *page, const struct page_cpu *cpu,
	       struct sp_count *ret)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint32_t lock = begin(page);
		/* Before Linux 3.12, the bits of the capabilities had several meanings. */
		bool allowed = FIELD(page, cap_bit0_is_deprecated) && FIELD(page, cap_user_rdpmc);
		uint32_t index = FIELD(page, index);
		if (!allowed || !index) {
			if (held_still(page, lock))
				return false;
			continue;
		}
		struct sp_count count = {
			.value = FIELD(page, offset),
			.enabled_ns = FIELD(page, time_enabled),
			.running_ns = FIELD(page, time_running),
		};
		if (FIELD(page, cap_user_time)) {
			uint64_t since_ns = time_since(page, cpu);
			count.enabled_ns += since_ns;
			count.running_ns += since_ns;
		}
		count.value += extend(cpu->counter(cpu->arg, index - 1), FIELD(page, pmc_width));
		if (!held_still(page, lock))
			continue;
		*ret = count;
		return true;
	}
	return false;
}

bool page_copy(const struct perf_event_mmap_page *page, struct sp_meter_page *ret)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint32_t lock = begin(page);
		struct sp_meter_page copy = {
			.version = FIELD(page, version),
			.compat_version = FIELD(page, compat_version),
			.lock = lock,
			.index = FIELD(page, index),
			.offset = FIELD(page, offset),
			.time_enabled = FIELD(page, time_enabled),
			.time_running = FIELD(page, time_running),
			.cap_bit0_is_deprecated = FIELD(page, cap_bit0_is_deprecated),
			.cap_user_rdpmc = FIELD(page, cap_user_rdpmc),
			.cap_user_time = FIELD(page, cap_user_time),
			.cap_user_time_zero = FIELD(page, cap_user_time_zero),
			.cap_user_time_short = FIELD(page, cap_user_time_short),
			.capabilities = FIELD(page, capabilities),
			.pmc_width = FIELD(page, pmc_width),
			.time_shift = FIELD(page, time_shift),
			.time_mult = FIELD(page, time_mult),
			.time_offset = FIELD(page, time_offset),
			.time_zero = FIELD(page, time_zero),
			.size = FIELD(page, size),
			.time_cycles = FIELD(page, time_cycles),
			.time_mask = FIELD(page, time_mask),
			.data_head = FIELD(page, data_head),
			.data_tail = FIELD(page, data_tail),
			.data_offset = FIELD(page, data_offset),
			.data_size = FIELD(page, data_size),
			.aux_head = FIELD(page, aux_head),
			.aux_tail = FIELD(page, aux_tail),
			.aux_offset = FIELD(page, aux_offset),
			.aux_size = FIELD(page, aux_size),
		};
		if (!held_still(page, lock))
			continue;
		*ret = copy;
		return true;
	}
	return false;
}

/*
 * Converts between time stamps of the CPU and the kernel's nanoseconds: ns = zero + (cycles * mult
 * >> shift).
 */

bool sp_clock_read(uint64_t *cycles_ret)
{
	const struct page_cpu *cpu = page_cpu_real();
	if (!cpu)
		return false;
	*cycles_ret = cpu->cycles(cpu->arg);
	return true;
}

uint64_t sp_clock_to_ns(const struct sp_clock *clock, uint64_t cycles)
{
	if (clock->narrow)
		cycles = ticks_widen(cycles, clock->cycles, clock->mask);
	return clock->zero + ticks_scale(cycles, clock->mult, clock->shift);
}

uint64_t sp_clock_to_cycles(const struct sp_clock *clock, uint64_t ns)
{
	if (!clock->mult)
		return 0;
	uint64_t since_ns = ns - clock->zero, shift = clock->shift & 63;
	uint64_t whole = since_ns / clock->mult, rest = since_ns % clock->mult;
	/* Rounded up: the result is not before these ns. */
	uint64_t cycles = (whole << shift) + ((rest << shift) + clock->mult - 1) / clock->mult;
	return clock->narrow ? ticks_widen(cycles, clock->cycles, clock->mask) : cycles;
}
