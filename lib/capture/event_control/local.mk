# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/event_control/absence.c lib/capture/event_control/absence.h \
	lib/capture/event_control/alternate_ids.h \
	lib/capture/event_control/event_control.c lib/capture/event_control/event_control.h \
	lib/capture/event_control/pace.c lib/capture/event_control/pace.h \
	lib/capture/event_control/stack_need.c lib/capture/event_control/stack_need.h \
	lib/capture/event_control/trigger.c lib/capture/event_control/trigger.h \
	lib/capture/event_control/turns.c lib/capture/event_control/turns.h \
	lib/capture/event_control/wide.c lib/capture/event_control/wide.h
check_PROGRAMS += \
	tests/unit/test_pace \
	tests/unit/test_stack_need
