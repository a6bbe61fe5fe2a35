# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/count/derive.c \
	lib/count/estimate.c lib/count/estimate.h \
	lib/count/stat_places.c lib/count/stat_places.h \
	lib/count/stat.c lib/count/stat.h \
	lib/count/stat_events.c \
	lib/count/stat_open.c \
	lib/count/stat_read.c
check_PROGRAMS += tests/unit/test_derive tests/unit/test_estimate tests/unit/test_stat_places
