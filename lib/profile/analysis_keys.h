/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of rows, and the kinds of their values. */
#pragma once

#include <sprof/private/command.h>
#include "profile/analysis_options.h"

/* Returns whether the key's values are texts that a tracepoint's format makes. */
static inline bool key_is_trace(enum sp_key key)
{
	return key >= SP_KEY_TRACE && key < SP_KEY_LIMIT;
}

static inline bool key_is_of_wakers(enum sp_key key)
{
	return key == SP_KEY_WAKER || key == SP_KEY_WAKEE;
}

/* Returns whether the key's values are of the process, at the sample's time. */
static inline bool key_is_of_command(enum sp_key key)
{
	return key == SP_KEY_CMDLINE || key == SP_KEY_ARGUMENT;
}

/*
 * Returns whether the key's words are pointers to texts. The texts belong to a worker's table, or
 * to the machine, until all workers are merged.
 */
static inline bool key_is_text(enum sp_key key)
{
	return key_is_trace(key) || key_is_of_wakers(key) || key_is_of_command(key) ||
	       key == SP_KEY_PROCESS || key == SP_KEY_ADDR || key == SP_KEY_SYSCALL;
}

/* Returns whether the key's words are indexes of frames. */
static inline bool key_is_frame(enum sp_key key)
{
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_SYMBOL_TO:
	case SP_KEY_SYMBOL_DADDR:
	case SP_KEY_DSO_FROM:
	case SP_KEY_DSO_TO:
	case SP_KEY_DSO_DADDR:
	case SP_KEY_SRCLINE_FROM:
	case SP_KEY_SRCLINE_TO:
		return true;
	default:
		return false;
	}
}

/* Keys that an analysis requests. */
struct analysis_keys {
	bool rows[SP_KEY_LIMIT];   /* keys of rows */
	bool groups[SP_KEY_LIMIT]; /* keys by which samples are counted apart: those of rows, and
				    * those of the tree's outermost nodes */
	enum sp_key details[SP_KEY_LIMIT]; /* keys of rows that are values of a sample, such as its
					    * weight or data address */
	size_t detail_count;
	bool has_traces; /* some of `details` need the formats of tracepoints (key_is_trace()) */
	bool replicates; /* samples are counted apart by replicate, too, from which intervals of
			  * ratios are computed */
};

/* Returns the keys that options request, without replicates. */
struct analysis_keys analysis_keys_of(const struct analysis_options *options);
