# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/findings/counting.c \
	lib/findings/findings.c lib/findings/findings.h \
	lib/findings/losses.c \
	lib/findings/runtimes.c lib/findings/runtimes.h \
	lib/findings/short_tasks.c \
	lib/findings/stacks.c \
	lib/findings/symbols.c
