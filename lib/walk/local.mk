# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/walk/chain.c lib/walk/chain.h \
	lib/walk/walker.c lib/walk/walker.h lib/walk/walker_internal.h \
	lib/walk/walker_sizes.c
check_PROGRAMS += tests/unit/test_walker
