/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Beginning of a wrapped call. */
#ifndef SIM_ENTER_H
#define SIM_ENTER_H

#include <errno.h>
#include "sim.h"

/* Leaves calls outside of a session to the C library. */
#define PASS(name, ...)                                                                        \
	do {                                                                                   \
		if (!sim_inside())                                                             \
			return __real_##name(__VA_ARGS__);                                     \
	} while (0)

/* Time passes; the call may fail with one of `errnos` (NULL: never). */
#define ENTER(name, errnos)                                                                    \
	do {                                                                                   \
		int fault_ = sim_enter(name, errnos);                                          \
		if (fault_) {                                                                  \
			errno = fault_;                                                        \
			return -1;                                                             \
		}                                                                              \
	} while (0)

#endif
