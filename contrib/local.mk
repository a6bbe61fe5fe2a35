# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += contrib/README contrib/Containerfile contrib/PKGBUILD contrib/sprof.spec contrib/sprof.rpmlintrc \
	contrib/systemd/sprof.service contrib/systemd/sprof-minute.service contrib/systemd/sprof-minute.timer
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completion/sprof
translate = contrib/completion/translate contrib/completion/zsh.awk contrib/completion/fish.awk
EXTRA_DIST += $(translate)
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
if TRANSLATE_COMPLETION
nodist_zshcompletion_DATA = contrib/completion/_sprof
nodist_fishcompletion_DATA = contrib/completion/sprof.fish
CLEANFILES += $(nodist_zshcompletion_DATA) $(nodist_fishcompletion_DATA)
endif
translate_to = $(MKDIR_P) contrib/completion && $(BASH_PROGRAM) $(srcdir)/contrib/completion/translate
translated = src/sprof$(EXEEXT) $(srcdir)/contrib/completion/sprof
contrib/completion/_sprof: src/sprof$(EXEEXT) contrib/completion/sprof $(translate)
	$(AM_V_GEN)$(translate_to) zsh $(translated) >$@.tmp && mv $@.tmp $@
contrib/completion/sprof.fish: src/sprof$(EXEEXT) contrib/completion/sprof $(translate)
	$(AM_V_GEN)$(translate_to) fish $(translated) >$@.tmp && mv $@.tmp $@
EXTRA_DIST += contrib/make-deb contrib/debian/changelog contrib/debian/control contrib/debian/copyright \
	contrib/debian/libsprof-dev.install contrib/debian/libsprof-dev.lintian-overrides \
	contrib/debian/libsprof0.lintian-overrides contrib/debian/sprof.lintian-overrides contrib/debian/libsprof0.install contrib/debian/rules \
	contrib/debian/source/format contrib/debian/sprof.install contrib/debian/sprof.postrm \
	contrib/debian/sprof.preinst contrib/debian/tests/control contrib/debian/tests/library \
	contrib/debian/tests/record
