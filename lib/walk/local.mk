# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/walk/resync.c lib/walk/resync.h \
	lib/walk/walker.c lib/walk/walker.h \
	lib/walk/walker_buffer.c lib/walk/walker_buffer.h \
	lib/walk/walker_sizes.c lib/walk/walker_sizes.h
UNIT_TESTS += tests/unit/test_walker.c
