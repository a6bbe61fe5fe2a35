# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += contrib/README contrib/Containerfile contrib/PKGBUILD contrib/sprof.spec \
	contrib/systemd/sprof.service contrib/systemd/sprof-minute.service contrib/systemd/sprof-minute.timer
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completion/sprof
EXTRA_DIST += contrib/make-deb contrib/debian/changelog contrib/debian/control contrib/debian/copyright \
	contrib/debian/libsprof-dev.install contrib/debian/libsprof-dev.lintian-overrides \
	contrib/debian/libsprof0.lintian-overrides contrib/debian/sprof.lintian-overrides contrib/debian/libsprof0.install contrib/debian/rules \
	contrib/debian/source/format contrib/debian/sprof.install contrib/debian/sprof.postrm \
	contrib/debian/sprof.preinst contrib/debian/tests/control contrib/debian/tests/library \
	contrib/debian/tests/record
