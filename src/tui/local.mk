# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/tui/browse.c src/tui/browse.h \
	src/tui/browse_analysis.c \
	src/tui/browse_changes.c \
	src/tui/browse_code.c \
	src/tui/browse_draw.c \
	src/tui/browse_flame.c \
	src/tui/browse_levels.c \
	src/tui/browse_live.c src/tui/browse_live.h \
	src/tui/browse_menu.c \
	src/tui/browse_rows.c \
	src/tui/browse_state.h \
	src/tui/browse_text.c \
	src/tui/browse_time.c \
	src/tui/flame_view.c src/tui/flame_view.h \
	src/tui/level.c src/tui/level.h \
	src/tui/row_view.c src/tui/row_view.h \
	src/tui/screen.h \
	src/tui/time_view.c src/tui/time_view.h
src_libcommand_la_LIBADD += $(NCURSES_LIBS)
if HAVE_NCURSES
src_libcommand_la_SOURCES += src/tui/screen.c
else
src_libcommand_la_SOURCES += src/tui/screen_none.c
endif
UNIT_TESTS += tests/unit/test_flame_view.c
