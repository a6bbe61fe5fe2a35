# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/tui/browse.c src/tui/browse.h \
	src/tui/browse_analysis.c \
	src/tui/browse_draw.c src/tui/browse_state.h \
	src/tui/level.c src/tui/level.h \
	src/tui/row_view.c src/tui/row_view.h \
	src/tui/screen.h
src_libcommand_la_LIBADD += $(NCURSES_LIBS)
if HAVE_NCURSES
src_libcommand_la_SOURCES += src/tui/screen.c
else
src_libcommand_la_SOURCES += src/tui/screen_none.c
endif
