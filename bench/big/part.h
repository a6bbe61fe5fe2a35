/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One part of the large program: see bench/big.sh. */
#ifndef BIG_PART_H
#define BIG_PART_H

#include <cstdint>

struct part {
	const char *name;
	uint64_t (*run)(uint64_t seed); /* tens of microseconds to a millisecond of work */
};

#endif
