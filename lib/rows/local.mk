# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/rows/event_groups.c lib/rows/event_groups.h \
	lib/rows/make_profiles.c lib/rows/make_profiles.h \
	lib/rows/make_rows.c lib/rows/make_rows.h \
	lib/rows/merged.c lib/rows/merged.h \
	lib/rows/merged_event.c lib/rows/merged_event.h \
	lib/rows/resolve_chains.c lib/rows/resolve_chains.h \
	lib/rows/result.h \
	lib/rows/timed_cells.c lib/rows/timed_cells.h \
	lib/rows/timed_leaves.c lib/rows/timed_leaves.h \
	lib/rows/timeline.c lib/rows/timeline.h \
	lib/rows/tree_build.c lib/rows/tree_build.h \
	lib/rows/unsampled.c lib/rows/unsampled.h \
	lib/rows/value_text.c lib/rows/value_text.h
UNIT_TESTS += tests/unit/test_make_rows.c
