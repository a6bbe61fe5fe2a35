# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/python/code.c lib/python/code.h \
	lib/python/frames.c lib/python/frames.h \
	lib/python/layout.c lib/python/layout.h \
	lib/python/linetable.c lib/python/linetable.h \
	lib/python/memory.c lib/python/memory.h
UNIT_TESTS += \
	tests/unit/test_python.c \
	tests/unit/test_python_names.c
