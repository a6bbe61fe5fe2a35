# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/export/firefox.c src/export/firefox.h src/export/firefox_meta.c \
	src/export/firefox_shared.c src/export/firefox_tables.c src/export/firefox_tables.h \
	src/export/gzip.c src/export/gzip.h \
	src/export/unique.c src/export/unique.h
