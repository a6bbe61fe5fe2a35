# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/snapshots/blocked.c lib/capture/snapshots/blocked.h \
	lib/capture/snapshots/snapshots.c lib/capture/snapshots/snapshots.h
UNIT_TESTS += \
	tests/unit/test_blocked.c \
	tests/unit/test_snapshots.c
