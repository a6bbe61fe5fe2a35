# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/aggregate/branches.c lib/aggregate/branches.h \
	lib/aggregate/chain.c lib/aggregate/chain.h \
	lib/aggregate/counted.c lib/aggregate/counted.h \
	lib/aggregate/counters.c lib/aggregate/counters.h \
	lib/aggregate/entry_points.c lib/aggregate/entry_points.h \
	lib/aggregate/event_groups.c lib/aggregate/event_groups.h \
	lib/aggregate/function_identity.c lib/aggregate/function_identity.h \
	lib/aggregate/generated.c lib/aggregate/generated.h \
	lib/aggregate/instruction.c lib/aggregate/instruction.h \
	lib/aggregate/label_keys.c lib/aggregate/label_keys.h \
	lib/aggregate/labels.c lib/aggregate/labels.h \
	lib/aggregate/make_rows.c lib/aggregate/make_rows.h \
	lib/aggregate/matches.c lib/aggregate/matches.h \
	lib/aggregate/make_profiles.c lib/aggregate/make_profiles.h \
	lib/aggregate/merged.c lib/aggregate/merged.h \
	lib/aggregate/merged_event.c lib/aggregate/merged_event.h \
	lib/aggregate/leaf_states.c lib/aggregate/leaf_states.h \
	lib/aggregate/mode.c lib/aggregate/mode.h \
	lib/aggregate/mode_scale.c lib/aggregate/mode_scale.h \
	lib/aggregate/mode_times.c lib/aggregate/mode_times.h \
	lib/aggregate/names.c lib/aggregate/names.h \
	lib/aggregate/options.c lib/aggregate/options.h \
	lib/aggregate/resolve_chains.c lib/aggregate/resolve_chains.h \
	lib/aggregate/run.h \
	lib/aggregate/sample_counter.c lib/aggregate/sample_counter.h \
	lib/aggregate/sample_reader.c lib/aggregate/sample_reader.h \
	lib/aggregate/sample_task.c lib/aggregate/sample_task.h \
	lib/aggregate/sample_values.c lib/aggregate/sample_values.h \
	lib/aggregate/stack_end.h \
	lib/aggregate/stacks.c lib/aggregate/stacks.h \
	lib/aggregate/time_bins.c lib/aggregate/time_bins.h \
	lib/aggregate/timeline.c lib/aggregate/timeline.h \
	lib/aggregate/tree_build.c lib/aggregate/tree_build.h \
	lib/aggregate/unsampled.c lib/aggregate/unsampled.h \
	lib/aggregate/value_text.c lib/aggregate/value_text.h \
	lib/aggregate/wait_reason.c lib/aggregate/wait_reason.h \
	lib/aggregate/wakers.c lib/aggregate/wakers.h \
	lib/aggregate/worker.h
check_PROGRAMS += tests/unit/test_chain tests/unit/test_generated tests/unit/test_labels tests/unit/test_make_rows \
	tests/unit/test_mode_times tests/unit/test_wait_reason tests/unit/test_time_bins
