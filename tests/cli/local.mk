# SPDX-License-Identifier: GPL-2.0-or-later
noinst_PROGRAMS += tests/cli/recording
tests_cli_recording_SOURCES = tests/cli/recording.c tests/cli/wakeups.h tests/sched_waking.h
tests_cli_recording_LDADD = lib/libsprof-core.la
EXTRA_DIST += tests/cli/lib.sh tests/cli/stacks.sh tests/cli/tables.sh
dist_check_SCRIPTS += \
	tests/cli/test_chains.sh \
	tests/cli/test_debug_files.sh \
	tests/cli/test_docs.sh \
	tests/cli/test_entry.sh \
	tests/cli/test_report.sh \
	tests/cli/test_report_deferred.sh \
	tests/cli/test_report_fields.sh \
	tests/cli/test_report_functions.sh \
	tests/cli/test_report_inline.sh \
	tests/cli/test_report_jit.sh \
	tests/cli/test_report_lbr.sh \
	tests/cli/test_report_commands.sh \
	tests/cli/test_report_keys.sh \
	tests/cli/test_report_oracle.sh \
	tests/cli/test_report_stripped.sh \
	tests/cli/test_pmus.sh \
	tests/cli/test_threads.sh
noinst_PROGRAMS += tests/cli/decoded tests/cli/rewrite
tests_cli_rewrite_LDADD = lib/libsprof-core.la
dist_check_SCRIPTS += tests/cli/test_rewrite.sh
tests_cli_decoded_LDADD = lib/libsprof-core.la
dist_check_SCRIPTS += tests/cli/test_corpus.sh tests/cli/test_info.sh
EXTRA_DIST += tests/cli/perf_dump.awk
noinst_PROGRAMS += tests/cli/sources
tests_cli_sources_LDADD = lib/libsprof-core.la
dist_check_SCRIPTS += tests/cli/test_kernel_modules.sh tests/cli/test_sources.sh \
	tests/cli/test_removed_code.sh
dist_check_SCRIPTS += tests/cli/test_names.sh tests/cli/test_script.sh tests/cli/test_symfs.sh
dist_check_SCRIPTS += tests/cli/test_remedies.sh tests/cli/test_time.sh tests/cli/test_examples.sh \
	tests/cli/test_example_read.sh \
	tests/cli/test_example_symbolizer.sh
dist_check_SCRIPTS += tests/cli/test_firefox.sh tests/cli/test_speedscope.sh
dist_check_SCRIPTS += tests/cli/test_html.sh tests/cli/test_html_big.sh tests/cli/test_html_page.sh \
	tests/cli/test_diff_html.sh
VIEW_TESTS += tests/cli/test_diff_html.sh tests/cli/test_html.sh tests/cli/test_html_big.sh tests/cli/test_html_page.sh \
	tests/cli/test_firefox.sh tests/cli/test_export.sh tests/cli/test_speedscope.sh
EXTRA_DIST += tests/cli/diff_recordings.sh tests/cli/firefox.py tests/cli/html.py tests/cli/html_recordings.sh \
	tests/cli/intervals.py \
	tests/views/html.js tests/views/speedscope.js tests/views/package.json tests/views/package-lock.json
dist_check_SCRIPTS += tests/cli/test_simpleperf.sh tests/cli/test_report_sum.sh \
	tests/cli/test_intervals.sh \
	tests/cli/test_report_modes.sh tests/cli/test_my_code.sh tests/cli/test_tree.sh tests/cli/test_wakers.sh tests/cli/test_export.sh \
	tests/cli/test_jobs.sh tests/cli/test_export_modes.sh tests/cli/test_widths.sh
EXTRA_DIST += tests/cli/browse.sh tests/cli/simpleperf.py tests/cli/exports.py tests/cli/waits_recording.sh \
	tests/cli/wakers_recording.sh
EXTRA_DIST += tests/cli/sources.awk \
	tests/data/lines/assembled.S tests/data/lines/main.cc tests/data/lines/part.c \
	tests/data/lines/part.f90
noinst_PROGRAMS += tests/cli/go_frames
tests_cli_go_frames_LDADD = lib/libsprof-core.la $(ELFUTILS_LIBS)
dist_check_SCRIPTS += tests/cli/test_go.sh
noinst_PROGRAMS += tests/cli/instructions
tests_cli_instructions_LDADD = lib/libsprof-core.la
dist_check_SCRIPTS += tests/cli/test_instructions.sh
dist_check_SCRIPTS += tests/cli/test_annotate.sh
dist_check_SCRIPTS += tests/cli/test_browse.sh tests/cli/test_browse_keys.sh \
	tests/cli/test_browse_pictures.sh \
	tests/cli/test_diff.sh tests/cli/test_install.sh
