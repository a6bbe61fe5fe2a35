/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of a Firefox profile that all threads share: functions, frames, and what they refer to. */
#ifndef EXPORT_FIREFOX_TABLES_H
#define EXPORT_FIREFOX_TABLES_H

#include <sprof/sprof.h>
#include <stdbool.h>
#include "export/unique.h"

/* Value of a table's number that is unknown or absent. */
#define FIREFOX_NONE UINT64_MAX

/* The last two are for code of threads that are not on a CPU, in modes of time. */
enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_BLOCKED,
			CATEGORY_RUNNABLE };

/* Columns of the tables, in order. Indexes of strings, sources, … are into the table of that name. */
enum { SOURCE_NAME, SOURCE_COLUMNS };
enum { LIBRARY_NAME, LIBRARY_COLUMNS };
enum { SYMBOL_LIBRARY, SYMBOL_ADDRESS, SYMBOL_NAME, SYMBOL_COLUMNS };
/* FUNCTION_ADDRESS and FUNCTION_LEVEL only distinguish functions of one name. */
enum { FUNCTION_NAME, FUNCTION_LIBRARY, FUNCTION_SOURCE, FUNCTION_ADDRESS, FUNCTION_LEVEL,
       FUNCTION_COLUMNS };
enum { FRAME_ADDRESS, FRAME_DEPTH, FRAME_CATEGORY, FRAME_FUNCTION, FRAME_SYMBOL, FRAME_LINE,
       FRAME_COLUMNS };

struct firefox_tables {
	struct unique strings, sources, libraries, symbols, functions, frames;
	uint64_t *function_sources; /* source of each function; FIREFOX_NONE: unknown */
	size_t function_source_capacity;
	uint32_t *node_frames; /* frame of each node of the timeline; UNIQUE_NONE for the root */
	enum sp_state *node_states; /* state of each node's thread; SP_STATE_NONE: no mode of time */
};

/* Makes the tables for all nodes. Returns false when out of memory. */
bool firefox_tables_init(struct firefox_tables *tables, const struct sp_timeline *timeline);
void firefox_tables_deinit(struct firefox_tables *tables);

#endif
