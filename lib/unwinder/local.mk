# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/unwinder/unwinder.c lib/unwinder/unwinder.h
UNIT_TESTS += tests/unit/test_unwinder.c
dist_check_SCRIPTS += tests/live/test_example_unwinder.sh
