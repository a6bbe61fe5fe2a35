# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/archive/archive.c \
	lib/archive/arguments.c \
	lib/archive/arguments.h
