/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared library of `stacks`, which also is mapped twice. */
#include "library.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "stacks.h"

OWN uint64_t plt_leaf(uint64_t value)
{
	return value * 3;
}

static OWN uint64_t twin_leaf(uint64_t value)
{
	BUSY(value, 100000);
	return value;
}

OWN uint64_t twin_enter(uint64_t value)
{
	value = twin_leaf(value);
	STAY();
	return value;
}

OWN uint64_t lazy_calls(uint64_t value)
{
	char text[32] = "7";
	value += (uint64_t)getppid() + (uint64_t)atoi(text) + strtoul(text, NULL, 10);
	value += (uint64_t)strcspn(text, "x") + (uint64_t)strspn(text, "7");
	value += strstr(text, "7") != NULL;
	value += strpbrk(text, "7") != NULL;
	value += (uint64_t)abs((int)value) + (uint64_t)(getenv(text) != NULL);
	STAY();
	return value;
}
