# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/annotation/annotation.c \
	lib/annotation/code_sweep.c lib/annotation/code_sweep.h
UNIT_TESTS += tests/unit/test_code_sweep.c
