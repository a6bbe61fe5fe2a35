# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/waits/match.c lib/capture/waits/match.h \
	lib/capture/waits/output.c lib/capture/waits/output.h \
	lib/capture/waits/threads.c lib/capture/waits/threads.h \
	lib/capture/waits/waits.c lib/capture/waits/waits.h
UNIT_TESTS += \
	tests/unit/test_waits.c \
	tests/unit/test_wait_weights.c
