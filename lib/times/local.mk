# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/times/mode.c lib/times/mode.h \
	lib/times/mode_times.c lib/times/mode_times.h \
	lib/times/wait_reason.c lib/times/wait_reason.h
UNIT_TESTS += \
	tests/unit/test_mode_times.c \
	tests/unit/test_wait_reason.c
