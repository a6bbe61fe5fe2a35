# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/walk/record_boundary.c lib/walk/record_boundary.h \
	lib/walk/walker.c lib/walk/walker.h \
	lib/walk/walker_buffer.c lib/walk/walker_buffer.h \
	lib/walk/wrong_size.c lib/walk/wrong_size.h
UNIT_TESTS += tests/unit/test_walker.c
