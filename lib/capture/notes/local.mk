# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/notes/notes.c lib/capture/notes/notes.h
UNIT_TESTS += tests/unit/test_notes.c
