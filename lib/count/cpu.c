/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions that read counters and time stamps in user space. x86: rdpmc; the kernel allows it
 * by CR4.PCE while an event is mapped (/sys/devices/cpu/rdpmc). arm64: PMEVCNTRn_EL0 and
 * PMCCNTR_EL0; the kernel allows them for events with bit 1 in config1 (kernel.perf_user_access,
 * Linux 5.17). Their number is in the instruction.
 */
#include "count/count_page.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)

static uint64_t read_counter(void *arg, uint32_t index)
{
	uint32_t low, high;
	(void)arg;
	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

static uint64_t read_cycles(void *arg)
{
	uint32_t low, high;
	(void)arg;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__)

/* The kernel's index of PMCCNTR_EL0, from 0, as of other counters. */
#define CYCLE_COUNTER 31

/* PMEVCNTR<n>_EL0 is S3_3_C14_C(8 + n / 8)_(n % 8). */
#define EVENT_COUNTER(n, m, op2)                                              \
	case n:                                                               \
		__asm__ volatile("mrs %0, s3_3_c14_c" #m "_" #op2 : "=r"(value)); \
		break;
#define SEVEN_COUNTERS(n, m)                                                  \
	EVENT_COUNTER(n, m, 0)                                                \
	EVENT_COUNTER(n + 1, m, 1)                                            \
	EVENT_COUNTER(n + 2, m, 2)                                            \
	EVENT_COUNTER(n + 3, m, 3)                                            \
	EVENT_COUNTER(n + 4, m, 4)                                            \
	EVENT_COUNTER(n + 5, m, 5)                                            \
	EVENT_COUNTER(n + 6, m, 6)

static uint64_t read_counter(void *arg, uint32_t index)
{
	uint64_t value = 0;
	(void)arg;
	switch (index) {
		SEVEN_COUNTERS(0, 8)
		EVENT_COUNTER(7, 8, 7)
		SEVEN_COUNTERS(8, 9)
		EVENT_COUNTER(15, 9, 7)
		SEVEN_COUNTERS(16, 10)
		EVENT_COUNTER(23, 10, 7)
		SEVEN_COUNTERS(24, 11)
	case CYCLE_COUNTER:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
		break;
	}
	return value;
}

static uint64_t read_cycles(void *arg)
{
	uint64_t value;
	(void)arg;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}

#endif

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)

static const struct page_cpu real_cpu = {.counter = read_counter, .cycles = read_cycles};

const struct page_cpu *page_cpu_real(void)
{
	return &real_cpu;
}

#else

const struct page_cpu *page_cpu_real(void)
{
	return NULL;
}

#endif
