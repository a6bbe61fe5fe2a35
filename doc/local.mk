# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	doc/example-diff.c \
	doc/example-meter.c \
	doc/example-meter-control.c \
	doc/example-read.c \
	doc/example-symbolizer.c \
	doc/example-record.c \
	doc/example-unwinder.c \
	doc/COMPARISON.md \
	doc/DESIGN.md \
	doc/decisions/bounds.md \
	doc/decisions/diff.md \
	doc/decisions/names.md \
	doc/decisions/recording.md \
	doc/decisions/stacks.md \
	doc/decisions/time.md \
	doc/decisions/views.md \
	doc/FILE.md \
	doc/GLOSSARY.md \
	doc/HOWTO-add-command.md \
	doc/HOWTO-add-event.md \
	doc/HOWTO-add-key.md \
	doc/HOWTO-add-output.md \
	doc/HOWTO-add-symbol-source.md \
	doc/HOWTO-add-test.md \
	doc/HOWTO-add-unwinder.md \
	doc/HOWTO-find-callers.md \
	doc/HOWTO-find-waits.md \
	doc/HOWTO-compare-two-runs.md \
	doc/HOWTO-find-hot-functions.md \
	doc/HOWTO-find-hot-lines.md \
	doc/HOWTO-profile-a-container.md \
	doc/HOWTO-profile-python.md \
	doc/HOWTO-profile-another-machine.md \
	doc/HOWTO-profile-continuously.md \
	doc/HOWTO-stacks.md \
	doc/HOWTO-use-from-scripts.md \
	doc/KERNELS.md \
	doc/PERF_EVENT_OPEN.md \
	doc/screens.sh
dist_man_MANS += \
	doc/libsprof.3 \
	doc/libsprof-symbolizer.3 \
	doc/libsprof-unwinder.3 \
	doc/sprof.1 \
	doc/sprof-annotate.1 \
	doc/sprof-archive.1 \
	doc/sprof-browse.1 \
	doc/sprof-diff.1 \
	doc/sprof-events.7 \
	doc/sprof-info.1 \
	doc/sprof-list.1 \
	doc/sprof-record.1 \
	doc/sprof-report.1 \
	doc/sprof-script.1 \
	doc/sprof-stat.1 \
	doc/sprof-top.1
