# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/dwarf/abbrev.c lib/dwarf/abbrev.h \
	lib/dwarf/dwarf.c lib/dwarf/dwarf.h \
	lib/dwarf/form.c lib/dwarf/form.h \
	lib/dwarf/leb.h \
	lib/dwarf/line.c lib/dwarf/line.h \
	lib/dwarf/entry_name.c lib/dwarf/entry_name.h \
	lib/dwarf/entry_ranges.c lib/dwarf/entry_ranges.h \
	lib/dwarf/section.c lib/dwarf/section.h \
	lib/dwarf/split.c lib/dwarf/split.h \
	lib/dwarf/unit.c lib/dwarf/unit.h \
	lib/dwarf/walk.c lib/dwarf/walk.h
