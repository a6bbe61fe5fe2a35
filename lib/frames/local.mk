# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/frames/entry_points.c lib/frames/entry_points.h \
	lib/frames/frame.c lib/frames/frame.h \
	lib/frames/frame_filter.c lib/frames/frame_filter.h \
	lib/frames/function_identity.c lib/frames/function_identity.h \
	lib/frames/generated.c lib/frames/generated.h \
	lib/frames/labels.c lib/frames/labels.h \
	lib/frames/linkage.c lib/frames/linkage.h \
	lib/frames/matches.c lib/frames/matches.h \
	lib/frames/names.c lib/frames/names.h \
	lib/frames/namesakes.c lib/frames/namesakes.h \
	lib/frames/shown_names.c lib/frames/shown_names.h
UNIT_TESTS += \
	tests/unit/test_generated.c \
	tests/unit/test_labels.c \
	tests/unit/test_shown_names.c
