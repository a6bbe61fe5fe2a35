# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/archive/archive.c \
	lib/archive/function_code.c \
	lib/archive/function_code.h \
	lib/archive/hidden_arguments.c \
	lib/archive/hidden_arguments.h \
	lib/archive/join.c
