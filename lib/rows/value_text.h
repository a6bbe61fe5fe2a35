/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the texts of values that are keys of rows. */
#pragma once

#include <sprof/profile.h>

/*
 * Sets the number and the text of a value. Callback of struct profile_values; `arg` is a struct
 * merged. Returns false when out of memory.
 */
bool describe_value(void *arg, enum sp_key key, uint64_t word, uint64_t samples,
		    struct sp_value *ret);
