# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/info/describe_features.c \
	lib/info/describe_machine.c lib/info/describe_machine.h \
	lib/info/description.c lib/info/description.h \
	lib/info/losses.c lib/info/losses.h
