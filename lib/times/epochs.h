/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Epochs: the parts of each slice in which its thread had one name and one program. A child of a
 * shell is one epoch from fork to exec, and one from exec to its end.
 */
#pragma once

#include "machine/machine.h"
#include "times/slices.h"

struct epoch {
	uint64_t begin_ns, end_ns;
	uint64_t running_ns, unknown_ns;
	uint32_t slice;
};

/* Epochs of all slices, which are borrowed. A zeroed struct is empty. */
struct epochs {
	VEC(struct epoch);
	const struct slices *slices;
	uint32_t *first; /* by slice, and one more: its first epoch */
};

void epochs_deinit(struct epochs *epochs);

/* Finds the epochs. Returns false when out of memory. */
bool epochs_make(struct epochs *epochs, const struct slices *slices, const struct machine *machine);

/* Returns the index of the epoch that includes a time, or of the lifetime's nearest one. */
uint32_t epochs_at(const struct epochs *epochs, uint32_t lifetime, uint64_t time_ns);

/* Returns the index of a lifetime's last epoch. */
uint32_t epochs_last(const struct epochs *epochs, uint32_t lifetime);

/* Gets the part of a slice that is an epoch. */
struct slice epochs_get(const struct epochs *epochs, uint32_t index);
