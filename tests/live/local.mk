# SPDX-License-Identifier: GPL-2.0-or-later
noinst_PROGRAMS += tests/live/container_filter tests/live/thread_lives
tests_live_container_filter_LDADD =
tests_live_thread_lives_SOURCES = \
	tests/live/thread_lives.c \
	tests/thread_lives.c tests/thread_lives.h
tests_live_thread_lives_LDADD = lib/libsprof-core.la
dist_check_SCRIPTS += \
	tests/live/test_advice.sh \
	tests/live/test_annotate_rows.sh \
	tests/live/test_answer.sh \
	tests/live/test_clock_set.sh \
	tests/live/test_container_filter.sh \
	tests/live/test_containers.sh \
	tests/live/test_deferred.sh \
	tests/live/test_dither.sh \
	tests/live/test_events.sh \
	tests/live/test_explain.sh \
	tests/live/test_example_record.sh \
	tests/live/test_repeat.sh \
	tests/live/test_features.sh \
	tests/live/test_identity.sh tests/live/test_idle_threads.sh \
	tests/live/test_jit.sh \
	tests/live/test_leaf.sh \
	tests/live/test_list.sh \
	tests/live/test_lock_in.sh \
	tests/live/test_losses.sh \
	tests/live/test_max_stack.sh \
	tests/live/test_moved_code.sh \
	tests/live/test_off_cpu.sh \
	tests/live/test_off_cpu_truth.sh \
	tests/live/test_command_lines.sh \
	tests/live/test_wakers.sh \
	tests/live/test_offline.sh \
	tests/live/test_page_times.sh \
	tests/live/test_perf_maps.sh \
	tests/live/test_perf_reads.sh \
	tests/live/test_pmu.sh tests/live/test_pprof.sh tests/live/test_probes.sh \
	tests/live/test_python.sh \
	tests/live/test_record.sh \
	tests/live/test_runtime_names.sh \
	tests/live/test_same_names.sh tests/live/test_filtered_names.sh \
	tests/live/test_pools.sh \
	tests/live/test_quality_figures.sh \
	tests/live/test_record_attach.sh \
	tests/live/test_record_end.sh \
	tests/live/test_record_family.sh \
	tests/live/test_record_fields.sh \
	tests/live/test_record_long.sh \
	tests/live/test_record_safety.sh \
	tests/live/test_record_threads.sh \
	tests/live/test_remedies.sh \
	tests/live/test_report_dumps.sh \
	tests/live/test_short_tasks.sh \
	tests/live/test_stack_size.sh \
	tests/live/test_stat.sh \
	tests/live/test_storm.sh tests/live/test_stored_names.sh \
	tests/live/test_languages.sh tests/live/test_stacks.sh \
	tests/live/test_thread_states.sh \
	tests/live/test_truth.sh \
	tests/live/test_unwind.sh \
	tests/live/test_thread_rows.sh \
	tests/live/test_time_ranges.sh \
	tests/live/test_top.sh \
	tests/live/test_user_access.sh
EXTRA_DIST += tests/live/tap.h
PROGRAM_TESTS += tests/live/test_two_recorders tests/live/test_library_client
tests_live_test_two_recorders_LDADD = lib/libsprof-core.la
tests_live_test_library_client_LDADD = lib/libsprof-core.la
TSAN_TESTS += tests/live/test_record_threads.sh
EXTRA_DIST += tests/live/hostile_names.py
check_LTLIBRARIES += tests/live/lost_start.la
tests_live_lost_start_la_LIBADD =
tests_live_lost_start_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
