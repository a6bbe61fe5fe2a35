# SPDX-License-Identifier: GPL-2.0-or-later
src_sprof_SOURCES += \
	src/cmd/info.c src/cmd/info.h src/cmd/info_json.c src/cmd/info_text.c \
	src/cmd/record.c \
	src/cmd/report.c src/cmd/report_arguments.c src/cmd/report_arguments.h \
	src/cmd/report_keys.c \
	src/cmd/stat.c src/cmd/stat.h src/cmd/stat_arguments.c
