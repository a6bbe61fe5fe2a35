/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts branches of branch stacks in place of samples (-b). */
#ifndef SAMPLES_BRANCHES_H
#define SAMPLES_BRANCHES_H

#include "samples/counted.h"

/* Counts the branches of a sample's branch stack for its event. */
struct sp_error *count_branches(struct counted *counted,
				       const struct sp_record *record) SP_MUST_CHECK;

#endif
