# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/absence.c lib/capture/absence.h \
	lib/capture/asking.c \
	lib/capture/attach.c \
	lib/capture/auxtrace.c lib/capture/auxtrace.h \
	lib/capture/auxtrace_info.c \
	lib/capture/bpf.c lib/capture/bpf.h \
	lib/capture/btf.c lib/capture/btf.h \
	lib/capture/capture.c \
	lib/capture/coverage.c lib/capture/coverage.h \
	lib/capture/descendants.c \
	lib/capture/doubt.c lib/capture/doubt.h \
	lib/capture/drains.c lib/capture/drains.h \
	lib/capture/dsos.c lib/capture/dsos.h \
	lib/capture/dump.c lib/capture/dump.h \
	lib/capture/fields.h \
	lib/capture/files.c lib/capture/files.h \
	lib/capture/filter.c lib/capture/filter.h \
	lib/capture/flight.c lib/capture/flight.h \
	lib/capture/graph.c lib/capture/graph.h \
	lib/capture/graph_fp.c \
	lib/capture/host.c lib/capture/host.h \
	lib/capture/host_bpf.c \
	lib/capture/host_features.c lib/capture/host_features.h \
	lib/capture/hurry.c lib/capture/hurry.h \
	lib/capture/joining.c lib/capture/joining.h \
	lib/capture/lost.c \
	lib/capture/membership.c lib/capture/membership.h \
	lib/capture/options.c lib/capture/options.h \
	lib/capture/pool.c lib/capture/pool.h \
	lib/capture/pace.c lib/capture/pace.h \
	lib/capture/plan.c \
	lib/capture/python.c lib/capture/python.h \
	lib/capture/python_codes.c lib/capture/python_codes.h \
	lib/capture/python_files.c lib/capture/python_files.h \
	lib/capture/python_functions.c lib/capture/python_functions.h \
	lib/capture/python_probe.c lib/capture/python_probe.h \
	lib/capture/python_processes.c lib/capture/python_processes.h \
	lib/capture/python_shots.c lib/capture/python_shots.h \
	lib/capture/recorder.h \
	lib/capture/rescan.c \
	lib/capture/retouch.c lib/capture/retouch.h \
	lib/capture/ring_size.c lib/capture/ring_size.h \
	lib/capture/rings.c \
	lib/capture/roster.c lib/capture/roster.h \
	lib/capture/round.c \
	lib/capture/setup.c \
	lib/capture/setup_file.c \
	lib/capture/threads.c \
	lib/capture/traces.c \
	lib/capture/tracker.c lib/capture/tracker.h \
	lib/capture/sink.c lib/capture/sink.h \
	lib/capture/summary.c \
	lib/capture/synth.c lib/capture/synth.h \
	lib/capture/synth_bpf.c \
	lib/capture/synth_groups.c \
	lib/capture/synth_internal.h \
	lib/capture/synth_kernel.c \
	lib/capture/synth_vdso.c \
	lib/capture/stack_need.c lib/capture/stack_need.h \
	lib/capture/stack_size.c lib/capture/stack_size.h \
	lib/capture/target.c \
	lib/capture/touch.c lib/capture/touch.h \
	lib/capture/switching.c lib/capture/switching.h \
	lib/capture/tracing.c lib/capture/tracing.h \
	lib/capture/trigger.c lib/capture/trigger.h \
	lib/capture/turns.c lib/capture/turns.h \
	lib/capture/unwinding.c lib/capture/unwinding.h \
	lib/capture/wall_clock.c lib/capture/wall_clock.h \
	lib/capture/watch.c \
	lib/capture/wide.c lib/capture/wide.h \
	lib/capture/workload.c lib/capture/workload.h \
	lib/capture/writing.c lib/capture/writing.h
check_PROGRAMS += \
	tests/unit/test_coverage \
	tests/unit/test_day \
	tests/unit/test_doubt \
	tests/unit/test_drains \
	tests/unit/test_dump \
	tests/unit/test_filter \
	tests/unit/test_flight \
	tests/unit/test_graph \
	tests/unit/test_joining \
	tests/unit/test_membership \
	tests/unit/test_pace \
	tests/unit/test_pool \
	tests/unit/test_retouch \
	tests/unit/test_ring_size \
	tests/unit/test_sized \
	tests/unit/test_roster \
	tests/unit/test_stack_need \
	tests/unit/test_tracker \
	tests/unit/test_synth \
	tests/unit/test_touch \
	tests/unit/test_workload \
	tests/unit/test_writing
tests_unit_test_drains_SOURCES = tests/unit/test_drains.c tests/unit/simulated_cpus.h tests/unit/rings.h
tests_unit_test_dump_SOURCES = tests/unit/test_dump.c tests/unit/rings.h
tests_unit_test_filter_SOURCES = tests/unit/test_filter.c tests/unit/rings.h
tests_unit_test_retouch_SOURCES = tests/unit/test_retouch.c tests/unit/rings.h
tests_unit_test_tracker_SOURCES = tests/unit/test_tracker.c tests/unit/rings.h
check_PROGRAMS += tests/unit/test_tracing
check_PROGRAMS += tests/unit/test_auxtrace
tests_unit_test_day_SOURCES = tests/unit/test_day.c tests/unit/rings.h
