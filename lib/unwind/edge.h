/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The edges of functions on arm64, where frames are set up and taken down. Compilers need not
 * describe each instruction there, since no call returns to one: most of clang's tables show the
 * frame from behind its set-up on, and to the very end. By the instructions it is seen how much
 * of it there is.
 */
#ifndef UNWIND_EDGE_H
#define UNWIND_EDGE_H

#include "unwind/guess.h"

/*
 * Whether code that runs at the place (`ip` is `vaddr`), in the entry's function, has come
 * there straight from its start, or goes straight to its end, and does nothing on the way that
 * would hide where the caller's registers are; then *ret leaves it. No on other machines.
 */
bool edge_row(const struct guess_place *place, const struct cfi_entry *entry, struct cfi_row *ret);

#endif
