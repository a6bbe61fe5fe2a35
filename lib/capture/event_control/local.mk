# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/event_control/cpu_hotplug.c lib/capture/event_control/cpu_hotplug.h \
	lib/capture/event_control/alternate_ids.h \
	lib/capture/event_control/dither.c lib/capture/event_control/dither.h \
	lib/capture/event_control/event_control.c lib/capture/event_control/event_control.h \
	lib/capture/event_control/lost_counts.c lib/capture/event_control/lost_counts.h \
	lib/capture/event_control/rate_control.c lib/capture/event_control/rate_control.h \
	lib/capture/event_control/stack_need.c lib/capture/event_control/stack_need.h \
	lib/capture/event_control/trigger.c lib/capture/event_control/trigger.h \
	lib/capture/event_control/schedule.c lib/capture/event_control/schedule.h \
	lib/capture/event_control/alternate.c lib/capture/event_control/alternate.h
UNIT_TESTS += \
	tests/unit/test_dither.c \
	tests/unit/test_event_control.c \
	tests/unit/test_lost_counts.c \
	tests/unit/test_rate_control.c \
	tests/unit/test_stack_need.c
