# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/metadata/bpf.c lib/capture/metadata/bpf.h \
	lib/capture/metadata/host.c lib/capture/metadata/host.h \
	lib/capture/metadata/host_bpf.c \
	lib/capture/metadata/host_features.c lib/capture/metadata/host_features.h \
	lib/capture/metadata/synth.c lib/capture/metadata/synth.h \
	lib/capture/metadata/synth_bpf.c \
	lib/capture/metadata/synth_groups.c \
	lib/capture/metadata/synth_internal.h \
	lib/capture/metadata/synth_kernel.c \
	lib/capture/metadata/synth_moved.c \
	lib/capture/metadata/tracepoint_formats.c lib/capture/metadata/tracepoint_formats.h
UNIT_TESTS += \
	tests/unit/test_synth.c \
	tests/unit/test_tracepoint_formats.c
