# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/python/code_object.c lib/python/code_object.h \
	lib/python/python_stack.c lib/python/python_stack.h \
	lib/python/layout.c lib/python/layout.h \
	lib/python/linetable.c lib/python/linetable.h \
	lib/python/process_memory.c lib/python/process_memory.h
UNIT_TESTS += \
	tests/unit/test_python.c \
	tests/unit/test_python_names.c
