# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/cmd/annotate/annotate.c src/cmd/annotate/annotate.h \
	src/cmd/annotate/annotate_code.c \
	src/cmd/annotate/annotate_json.c \
	src/cmd/annotate/annotate_source.c \
	src/cmd/annotate/annotate_text.c \
	src/cmd/annotate/jump_lanes.c src/cmd/annotate/jump_lanes.h \
	src/cmd/annotate/skid.c \
	src/cmd/archive/archive.c \
	src/cmd/common/child.c src/cmd/common/child.h \
	src/cmd/common/control.c src/cmd/common/control.h \
	src/cmd/common/event_lists.c src/cmd/common/event_lists.h \
	src/cmd/common/input_options.c src/cmd/common/input_options.h \
	src/cmd/common/time_ranges.c src/cmd/common/time_ranges.h \
	src/cmd/common/recordings.c src/cmd/common/recordings.h \
	src/cmd/common/session.c src/cmd/common/session.h \
	src/cmd/diff/compare.c \
	src/cmd/diff/compared_runs.c \
	src/cmd/diff/comparison.c src/cmd/diff/comparison.h \
	src/cmd/diff/diff_arguments.c \
	src/cmd/diff/diff_json.c \
	src/cmd/diff/diff_folded.c src/cmd/diff/diff_html.c \
	src/cmd/diff/diff_text.c src/cmd/diff/diff_text.h \
	src/cmd/info/details.c \
	src/cmd/info/info.c src/cmd/info/info.h \
	src/cmd/info/info_json.c \
	src/cmd/info/losses_output.c \
	src/cmd/info/info_text.c \
	src/cmd/info/cpu_time_bins.c src/cmd/info/cpu_time_bins.h \
	src/cmd/list/list.c \
	src/cmd/record/answer.c \
	src/cmd/record/record_arguments.c src/cmd/record/record_arguments.h \
	src/cmd/record/empty.c \
	src/cmd/record/sample_fields.c \
	src/cmd/record/file_options.c src/cmd/record/file_options.h \
	src/cmd/record/name_store.c src/cmd/record/name_store.h \
	src/cmd/record/record.c src/cmd/record/record.h \
	src/cmd/record/program.c \
	src/cmd/record/record_summary.c \
	src/cmd/record/repeat.c \
	src/cmd/record/values.c src/cmd/record/values.h \
	src/cmd/report/report_arguments.c src/cmd/report/report_arguments.h \
	src/cmd/report/report_result.h \
	src/cmd/report/tracepoint_fields.c \
	src/cmd/report/key_options.c \
	src/cmd/report/keys.c \
	src/cmd/report/unmatched_names.c \
	src/cmd/report/mode.c \
	src/cmd/report/report.c \
	src/cmd/script/script_arguments.c \
	src/cmd/script/code_blocks.c \
	src/cmd/script/counters.c \
	src/cmd/script/dump.c \
	src/cmd/script/line_fields.c src/cmd/script/line_fields.h \
	src/cmd/script/script_json.c \
	src/cmd/script/json_user.c \
	src/cmd/script/records.c \
	src/cmd/script/script.c src/cmd/script/script.h \
	src/cmd/script/script_text.c \
	src/cmd/script/view.c \
	src/cmd/stat/stat_arguments.c \
	src/cmd/stat/stat.c src/cmd/stat/stat_arguments.h \
	src/cmd/top/live_source.c src/cmd/top/live_source.h \
	src/cmd/top/top.c \
	src/cmd/top/top_arguments.c src/cmd/top/top_arguments.h
