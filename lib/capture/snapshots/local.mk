# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/snapshots/blocked.c lib/capture/snapshots/blocked.h \
	lib/capture/snapshots/snapshots.c lib/capture/snapshots/snapshots.h
check_PROGRAMS += \
	tests/unit/test_blocked \
	tests/unit/test_snapshots
