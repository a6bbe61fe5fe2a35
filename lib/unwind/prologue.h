/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prologues and epilogues on arm64. Compilers need not describe each of their instructions, since no
 * call returns there: most of clang's tables describe the complete frame from the end of the prologue
 * to the end of the function. The instructions show which part of the frame exists.
 */
#ifndef UNWIND_PROLOGUE_H
#define UNWIND_PROLOGUE_H

#include "unwind/heuristics.h"

/*
 * Finds the row for a place (`ip` is `vaddr`) in the prologue or epilogue of the entry's function.
 * Returns false if the code between the place and the function's start or end branches, or changes
 * registers in an unknown way. Always false on other architectures.
 */
bool prologue_row(const struct code_place *place, const struct cfi_entry *entry, struct cfi_row *ret);

#endif
