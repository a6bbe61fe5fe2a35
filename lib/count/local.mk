# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/count/cpu.c \
	lib/count/derive.c \
	lib/count/estimate.c lib/count/estimate.h \
	lib/count/meter.c lib/count/meter.h \
	lib/count/meter_control.c \
	lib/count/meter_read.c \
	lib/count/count_page.c lib/count/count_page.h \
	lib/count/stat_places.c \
	lib/count/stat.c lib/count/stat.h \
	lib/count/stat_events.c \
	lib/count/stat_hotplug.c \
	lib/count/stat_open.c \
	lib/count/stat_read.c
UNIT_TESTS += \
	tests/unit/test_derive.c \
	tests/unit/test_estimate.c \
	tests/unit/test_count_page.c \
	tests/unit/test_stat_places.c
dist_check_SCRIPTS += tests/live/test_example_meter.sh
PROGRAM_TESTS += tests/live/test_meter
tests_live_test_meter_LDADD = lib/libsprof-core.la $(PTHREAD_LIBS)
