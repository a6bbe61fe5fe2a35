# SPDX-License-Identifier: GPL-2.0-or-later
pkginclude_HEADERS += \
	include/sprof/analysis.h \
	include/sprof/capture.h \
	include/sprof/catalog.h \
	include/sprof/ctx.h \
	include/sprof/describe.h \
	include/sprof/error.h \
	include/sprof/fields.h \
	include/sprof/filter.h \
	include/sprof/instruction.h \
	include/sprof/list.h \
	include/sprof/losses.h \
	include/sprof/meter.h \
	include/sprof/options.h \
	include/sprof/profile.h \
	include/sprof/reader.h \
	include/sprof/record.h \
	include/sprof/script.h \
	include/sprof/sprof.h \
	include/sprof/stat.h \
	include/sprof/trace.h \
	include/sprof/words.h
