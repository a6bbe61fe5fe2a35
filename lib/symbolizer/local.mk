# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/symbolizer/lookup.c lib/symbolizer/lookup.h \
	lib/symbolizer/code_names.c lib/symbolizer/code_names.h \
	lib/symbolizer/space.c lib/symbolizer/space.h \
	lib/symbolizer/symbolizer.c \
	lib/symbolizer/symbols.c
UNIT_TESTS += tests/unit/test_symbolizer.c
