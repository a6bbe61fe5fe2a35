/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the shared library of `stacks`. */
#ifndef WORKLOAD_STACKS_LIBRARY_H
#define WORKLOAD_STACKS_LIBRARY_H

#include <stdint.h>

uint64_t plt_leaf(uint64_t value); /* short, so that its PLT entry counts */
uint64_t twin_enter(uint64_t value);
uint64_t lazy_calls(uint64_t value); /* binds eight functions, if LD_BIND_NOW does not */

#endif
