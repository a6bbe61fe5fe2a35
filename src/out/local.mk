# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/out/csv_cell.c src/out/csv_cell.h \
	src/out/columns.c src/out/columns.h \
	src/out/csv.c \
	src/out/explain.c \
	src/out/fit.c \
	src/out/findings_output.c src/out/findings_output.h \
	src/out/folded.c src/out/folded.h \
	src/out/format_value.c src/out/format_value.h \
	src/out/report_json.c \
	src/out/shorten_name.c \
	src/out/output.c src/out/output.h \
	src/out/report.c src/out/report.h \
	src/out/row_order.c src/out/row_order.h \
	src/out/stat_output.c src/out/stat_output.h src/out/stat_internal.h \
	src/out/stat_csv.c src/out/stat_figures.c src/out/stat_json.c src/out/stat_metric.c \
	src/out/stat_place.c src/out/stat_text.c \
	src/out/row_words.c src/out/row_words.h \
	src/out/table.c src/out/table.h \
	src/out/report_text.c \
	src/out/time_line.c src/out/time_line.h \
	src/out/thread_times.c src/out/thread_times.h \
	src/out/tree.c

UNIT_TESTS += tests/unit/test_output.c tests/unit/test_row_order.c
