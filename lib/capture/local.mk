# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/btf.c lib/capture/btf.h \
	lib/capture/synth.c lib/capture/synth.h \
	lib/capture/synth_bpf.c \
	lib/capture/synth_internal.h \
	lib/capture/synth_kernel.c
check_PROGRAMS += tests/unit/test_synth
