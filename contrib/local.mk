# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += contrib/README
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completion/sprof
