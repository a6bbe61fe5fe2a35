# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/cmd/info.c src/cmd/info.h src/cmd/info_details.c src/cmd/info_json.c \
	src/cmd/info_losses.c src/cmd/info_text.c src/cmd/slices.c src/cmd/slices.h \
	src/cmd/list.c \
	src/cmd/record.c src/cmd/record.h \
	src/cmd/record_answer.c src/cmd/record_answer.h \
	src/cmd/record_arguments.c src/cmd/record_arguments.h \
	src/cmd/record_control.c src/cmd/record_control.h \
	src/cmd/record_empty.c src/cmd/record_empty.h \
	src/cmd/record_fields.c src/cmd/record_fields.h \
	src/cmd/record_files.c src/cmd/record_files.h \
	src/cmd/record_stop.c src/cmd/record_stop.h \
	src/cmd/record_summary.c src/cmd/record_summary.h \
	src/cmd/record_values.c src/cmd/record_values.h \
	src/cmd/report.c src/cmd/report_arguments.c src/cmd/report_arguments.h \
	src/cmd/report_fields.c src/cmd/report_keys.c src/cmd/report_missing.c src/cmd/run.c src/cmd/run.h \
	src/cmd/selection.c src/cmd/selection.h \
	src/cmd/stat.c src/cmd/stat.h src/cmd/stat_arguments.c src/cmd/stat_report.c
src_libcommand_la_SOURCES += \
	src/cmd/script.c src/cmd/script.h src/cmd/script_arguments.c \
	src/cmd/script_code.c src/cmd/script_dump.c \
	src/cmd/script_view.c \
	src/cmd/script_fields.c src/cmd/script_fields.h \
	src/cmd/script_counters.c src/cmd/script_json.c src/cmd/script_json_user.c \
	src/cmd/script_records.c src/cmd/script_stat.c src/cmd/script_text.c
