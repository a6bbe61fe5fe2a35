/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time stamps of the processor and the kernel's nanoseconds: ns = zero + (cycles * mult >> shift). */
#include "base/ticks.h"
#include "count/page.h"

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
	/* Rounded up: not before these ns. */
	uint64_t cycles = (whole << shift) + ((rest << shift) + clock->mult - 1) / clock->mult;
	return clock->narrow ? ticks_widen(cycles, clock->cycles, clock->mask) : cycles;
}
