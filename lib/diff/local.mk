# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/diff/changes.c lib/diff/changes.h \
	lib/diff/compared_tree.c lib/diff/compared_tree.h \
	lib/diff/diff.c \
	lib/diff/function_renames.c lib/diff/function_renames.h \
	lib/diff/matched_names.c lib/diff/matched_names.h \
	lib/diff/moved_time.c lib/diff/moved_time.h \
	lib/diff/passed_calls.c lib/diff/passed_calls.h \
	lib/diff/statistics.c lib/diff/statistics.h
UNIT_TESTS += \
	tests/unit/test_diff.c
