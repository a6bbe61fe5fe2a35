# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/profile/batches.c lib/profile/batches.h \
	lib/profile/cells.c lib/profile/cells.h \
	lib/profile/cycles.c lib/profile/cycles.h \
	lib/profile/detail.c lib/profile/detail.h \
	lib/profile/filter.c lib/profile/filter.h \
	lib/profile/function.c lib/profile/function.h \
	lib/profile/group.c lib/profile/group.h \
	lib/profile/interval.c lib/profile/interval.h \
	lib/profile/joint.c \
	lib/profile/key.c lib/profile/analysis_keys.h \
	lib/profile/analysis_options.c lib/profile/analysis_options.h \
	lib/profile/paths.c lib/profile/paths.h \
	lib/profile/profile.h \
	lib/profile/radix.c lib/profile/radix.h \
	lib/profile/ratio.c lib/profile/ratio.h \
	lib/profile/results.c \
	lib/profile/rows.c \
	lib/profile/srcfile.c lib/profile/srcfile.h \
	lib/profile/state_sums.c lib/profile/state_sums.h \
	lib/profile/tally.c lib/profile/tally.h \
	lib/profile/call_tree.c
UNIT_TESTS += \
	tests/unit/test_cells.c \
	tests/unit/test_interval.c \
	tests/unit/test_key.c \
	tests/unit/test_profile.c \
	tests/unit/test_radix.c \
	tests/unit/test_ratio.c \
	tests/unit/test_state_sums.c
