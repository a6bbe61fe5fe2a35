# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/count/clock.c \
	lib/count/cpu.c \
	lib/count/derive.c \
	lib/count/estimate.c lib/count/estimate.h \
	lib/count/meter.c lib/count/meter.h \
	lib/count/meter_control.c \
	lib/count/meter_read.c \
	lib/count/meter_samples.c \
	lib/count/page.c lib/count/page.h \
	lib/count/stat_places.c lib/count/stat_places.h \
	lib/count/stat.c lib/count/stat.h \
	lib/count/stat_events.c \
	lib/count/stat_file.c lib/count/stat_file.h \
	lib/count/stat_load.c \
	lib/count/stat_offline.c \
	lib/count/stat_open.c \
	lib/count/stat_read.c \
	lib/count/stat_time.c \
	lib/count/stat_write.c
check_PROGRAMS += tests/unit/test_derive tests/unit/test_estimate tests/unit/test_page \
	tests/unit/test_stat_load tests/unit/test_stat_places
dist_check_SCRIPTS += tests/live/test_example_meter.sh
check_PROGRAMS += tests/live/test_meter
tests_live_test_meter_LDADD = lib/libsprof-core.la $(PTHREAD_LIBS)
