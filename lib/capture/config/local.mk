# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/config/config.h \
	lib/capture/config/graph.c lib/capture/config/graph.h \
	lib/capture/config/graph_fp.c \
	lib/capture/config/options.c lib/capture/config/options.h \
	lib/capture/config/ring_size.c lib/capture/config/ring_size.h
check_PROGRAMS += \
	tests/unit/test_graph \
	tests/unit/test_ring_size \
	tests/unit/test_sized
