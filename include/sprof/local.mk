# SPDX-License-Identifier: GPL-2.0-or-later
pkginclude_HEADERS += \
	include/sprof/analysis.h \
	include/sprof/annotation.h \
	include/sprof/archive.h \
	include/sprof/capture.h \
	include/sprof/catalog.h \
	include/sprof/ctx.h \
	include/sprof/diff.h \
	include/sprof/error.h \
	include/sprof/filter.h \
	include/sprof/list.h \
	include/sprof/meter.h \
	include/sprof/options.h \
	include/sprof/profile.h \
	include/sprof/reader.h \
	include/sprof/record.h \
	include/sprof/script.h \
	include/sprof/sprof.h \
	include/sprof/stat.h \
	include/sprof/symbolizer.h \
	include/sprof/timeline.h \
	include/sprof/trace.h \
	include/sprof/unwinder.h
# For the command only: not installed, and exported with a version node of their own.
noinst_HEADERS += \
	include/sprof/private/command.h \
	include/sprof/private/describe.h \
	include/sprof/private/fields.h \
	include/sprof/private/instruction.h \
	include/sprof/private/losses.h \
	include/sprof/private/words.h
