# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/findings/counting.c \
	lib/findings/finding.c lib/findings/finding.h \
	lib/findings/findings.c lib/findings/findings.h \
	lib/findings/late_samples.c \
	lib/findings/find_inlined.c \
	lib/findings/find_lock_in.c \
	lib/findings/find_preempted.c \
	lib/findings/find_losses.c \
	lib/findings/find_damage.c \
	lib/findings/short_tasks.c \
	lib/findings/sources.h \
	lib/findings/find_truncation.c \
	lib/findings/find_stored_names.c \
	lib/findings/find_symbols.c \
	lib/findings/finding_text.c lib/findings/finding_text.h
UNIT_TESTS += tests/unit/test_findings.c
