# SPDX-License-Identifier: GPL-2.0-or-later
src_libcommand_la_SOURCES += \
	src/html/head.c src/html/head.h \
	src/html/html.c \
	src/html/markup.h \
	src/html/page.c src/html/page.h \
	src/html/reduce.c src/html/reduce.h
html_scripts = src/html/model.js src/html/flame.js src/html/strip.js src/html/table.js \
	src/html/state.js src/html/look.js src/html/selection.js src/html/views.js \
	src/html/wakers.js src/html/changes.js src/html/source.js \
	src/html/facts.js src/html/dialogs.js src/html/page.js
html_files = src/html/page.html src/html/page.css $(html_scripts)
EXTRA_DIST += src/html/embed $(html_files)
nodist_src_libcommand_la_SOURCES = src/html/markup.c
CLEANFILES += src/html/markup.c
src/html/markup.c: $(html_files) src/html/embed
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	$(AM_V_at)cd $(top_srcdir) && sh src/html/embed $(html_files) >$(abs_top_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
UNIT_TESTS += \
	tests/unit/test_html_page.c
