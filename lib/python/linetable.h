/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The location table of a code object (co_linetable) of CPython 3.11 and later. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the line of the instruction at `offset` (in bytes of bytecode); 0 if it has none, or the table
 * is damaged before it.
 */
uint32_t python_linetable_line(const uint8_t *table, size_t size, uint32_t first_line, uint64_t offset);
