# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/analysis/analysis.c \
	lib/analysis/recording.c lib/analysis/recording.h \
	lib/analysis/time_order.c lib/analysis/time_order.h
UNIT_TESTS += \
	tests/unit/test_analysis.c \
	tests/unit/test_cancel.c
