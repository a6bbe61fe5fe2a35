# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/capture.c \
	lib/capture/capture_stats.c \
	lib/capture/end_notes.c \
	lib/capture/event_calls.c \
	lib/capture/file_change.c \
	lib/capture/file_limits.c \
	lib/capture/on_demand.c \
	lib/capture/perf_maps.c \
	lib/capture/recorder.h \
	lib/capture/round.c \
	lib/capture/setup.c \
	lib/capture/watch.c
UNIT_TESTS += tests/unit/test_day.c
include lib/capture/notes/local.mk
include lib/capture/waits/local.mk
include lib/capture/python/local.mk
include lib/capture/config/local.mk
include lib/capture/tasks/local.mk
include lib/capture/metadata/local.mk
include lib/capture/ring_bank/local.mk
include lib/capture/event_control/local.mk
include lib/capture/output/local.mk
include lib/capture/overwrite/local.mk
include lib/capture/samples/local.mk
