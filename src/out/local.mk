# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/out/cell.c src/out/cell.h \
	src/out/columns.c src/out/columns.h \
	src/out/csv.c \
	src/out/fit.c \
	src/out/findings.c src/out/findings.h \
	src/out/folded.c \
	src/out/format.c src/out/format.h \
	src/out/json.c \
	src/out/name.c \
	src/out/output.c src/out/output.h \
	src/out/report.c src/out/report.h \
	src/out/stat.c src/out/stat.h src/out/stat_internal.h \
	src/out/stat_csv.c src/out/stat_figures.c src/out/stat_json.c src/out/stat_metric.c \
	src/out/stat_place.c src/out/stat_text.c \
	src/out/table.c src/out/table.h \
	src/out/text.c \
	src/out/timeline.c src/out/timeline.h \
	src/out/times.c src/out/times.h \
	src/out/tree.c

UNIT_TESTS += tests/unit/test_output.c
