# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/findings/counting.c \
	lib/findings/finding.c lib/findings/finding.h \
	lib/findings/findings.c lib/findings/findings.h \
	lib/findings/late_samples.c \
	lib/findings/lock_in.c \
	lib/findings/losses.c \
	lib/findings/recording.c \
	lib/findings/short_tasks.c \
	lib/findings/sources.h \
	lib/findings/stacks.c \
	lib/findings/stored_names.c \
	lib/findings/symbols.c \
	lib/findings/text.c lib/findings/text.h
UNIT_TESTS += tests/unit/test_findings.c
