# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/diff/diff.c \
	lib/diff/matched_names.c lib/diff/matched_names.h \
	lib/diff/statistics.c lib/diff/statistics.h
UNIT_TESTS += \
	tests/unit/test_diff.c
