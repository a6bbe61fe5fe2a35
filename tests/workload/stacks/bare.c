/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code as musl is built: compiled without any unwind tables, twice: with frame pointers
 * (POINTED), by which there is a way through it, and without, where there is only a guess.
 */
#include "stacks.h"

#ifdef POINTED
#define NAME(name) pointed_##name
#define KEEP() KEEP_FRAME()
#else
#define NAME(name) bare_##name
#define KEEP() STAY()
#endif

uint64_t NAME(leaf)(uint64_t value);
uint64_t NAME(mid)(uint64_t value);
uint64_t NAME(outer)(uint64_t value);

OWN uint64_t NAME(leaf)(uint64_t value)
{
	KEEP();
	BUSY(value, 400000);
	return value;
}

OWN uint64_t NAME(mid)(uint64_t value)
{
	KEEP();
	volatile uint64_t kept[5] = {value, ~value};
	value = NAME(leaf)(value);
	STAY();
	return value + kept[1];
}

OWN uint64_t NAME(outer)(uint64_t value)
{
	KEEP();
	value = NAME(mid)(value);
	STAY();
	return value;
}
