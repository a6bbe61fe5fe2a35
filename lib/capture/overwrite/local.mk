# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/overwrite/overwrite.c lib/capture/overwrite/overwrite.h
check_PROGRAMS += tests/unit/test_overwrite
