# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/export/callgrind.c \
	src/export/firefox.c src/export/firefox.h src/export/firefox_meta.c \
	src/export/firefox_shared.c \
	src/export/gzip.c src/export/gzip.h \
	src/export/report_notes.c src/export/report_notes.h \
	src/export/pprof.c \
	src/export/protobuf.c src/export/protobuf.h \
	src/export/speedscope.c \
	src/export/unique.c src/export/unique.h
