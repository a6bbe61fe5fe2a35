# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/info/describe.c \
	lib/info/losses.c lib/info/losses.h
