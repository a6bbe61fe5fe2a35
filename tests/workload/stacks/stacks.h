/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Definitions shared by the scenarios of `stacks`. Each function is called from one known place, so
 * that the names in a call chain show whether it is right. The truth of a scenario lists its
 * chains, one per line, from the root on, in the format of tests/workload/chains.c:
 *
 *	main run_x outer leaf     leaf is called by outer, and that by run_x
 *	main run_x * leaf         code that is not the program's may be between
 *	main run_x! leaf          run_x calls nothing but the program's own functions
 */
#ifndef WORKLOAD_STACKS_H
#define WORKLOAD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../clock.h"

struct scenario {
	const char *name;
	void (*run)(void); /* until is_over() */
	const char *truth;
	void (*print_truth)(void); /* instead of truth */
	bool honest; /* no unwinder can complete these from a copy of the stack: it may stop
		      * early, but not be wrong */
};

extern const struct scenario deep_scenarios[], frame_scenarios[], control_scenarios[],
	jit_scenarios[], bare_scenarios[], assembler_scenarios[], library_scenarios[];

/* Whether the time given on the command line is used up. */
bool is_over(void);

/* Neither inlined, nor cloned, nor known to its callers. */
#if __has_attribute(noipa)
#define OWN __attribute__((noipa))
#else
#define OWN __attribute__((noinline))
#endif

/* Used after a call: prevents a tail call. */
#define STAY() __asm__ volatile("" : : : "memory")

/* With frame pointers, leaf functions need one, too. */
#ifdef STACKS_FP
#define KEEP_POINTER() KEEP_FRAME()
#else
#define KEEP_POINTER() STAY()
#endif

/* Body of a busy function: about STEPS * 1.3 ns, as spin(), but without its own name. */
#define BUSY(value, steps)                                                                         \
	do {                                                                                       \
		KEEP_POINTER();                                                                    \
		for (unsigned int busy_i = 0; busy_i < (steps); busy_i++) {                        \
			(value) = (value)*6364136223846793005u + 1442695040888963407u;             \
			__asm__ volatile("" : "+r"(value));                                        \
		}                                                                                  \
	} while (0)

#endif
