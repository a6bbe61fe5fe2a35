# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/python/codes.c lib/capture/python/codes.h \
	lib/capture/python/interpreter_files.c lib/capture/python/interpreter_files.h \
	lib/capture/python/functions.c lib/capture/python/functions.h \
	lib/capture/python/python_probe.c lib/capture/python/python_probe.h \
	lib/capture/python/processes.c lib/capture/python/processes.h \
	lib/capture/python/shots.c lib/capture/python/shots.h
