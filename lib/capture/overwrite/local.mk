# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/overwrite/overwrite.c lib/capture/overwrite/overwrite.h
UNIT_TESTS += tests/unit/test_overwrite.c
