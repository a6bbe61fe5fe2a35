# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/record/encode.c lib/record/encode.h \
	lib/record/encode_sample.c lib/record/put.h \
	lib/record/note.c lib/record/note.h
