/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds threads and processes without a sample, the weight that is missing for that reason, and the
 * weight without a known place, for each program.
 */
#pragma once

#include "profile/profile.h"
#include "rows/make_rows.h"

/* Tasks of a program that have ended, and the weight that may be missing in its rows. */
struct unsampled_program {
	struct sp_unsampled ended; /* `comm` is interned */
	struct unsampled_weight lacks; /* without the comm */
};

struct programs {
	struct strtab *strings; /* owns their names, unlike the machine; borrowed */
	VEC(struct unsampled_program) rows;
	struct u64map of; /* a name's address -> index in `rows` */
	struct unsampled_weight lacking; /* sum over all programs */
};

/* A zeroed struct programs is empty. */
void programs_deinit(struct programs *programs);

/*
 * Finds the programs that have tasks without a sample of the event; `total`: its totals. *programs
 * must be empty. Returns false when out of memory.
 */
bool unsampled_find(const struct workers *workers, uint16_t event, const struct sp_profile *total,
		    struct programs *programs);

/* Adds the programs of another recording; false when out of memory. */
bool programs_merge(struct programs *into, const struct programs *from);

/* Sets the profile's list of programs, heaviest first; false when out of memory. */
bool programs_list(const struct programs *programs, struct arena *arena, struct sp_profile *profile);

/* Sets the weight that each program's rows may lack or have in excess. False when out of memory. */
bool programs_weights(const struct programs *programs, struct arena *arena,
		      struct profile_source *source);
