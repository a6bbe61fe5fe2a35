/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of a live recording, which the browser shows one after the other. */
#ifndef TUI_BROWSE_LIVE_H
#define TUI_BROWSE_LIVE_H

#include "cmd/common/recordings.h"
#include "out/report.h"

/* Functions of the command; `arg` is their first argument. */
struct browse_live {
	void *arg;
	/* Returns the time in ms to wait for a key; negative: without limit. */
	int (*wait_ms)(void *arg);
	bool (*is_due)(void *arg);  /* whether to open the next window */
	bool (*is_over)(void *arg); /* whether to end the browser */
	/* Opens the next window. No recordings: it is empty. */
	struct sp_error *(*open)(void *arg, struct recordings *ret, struct report_live *facts_ret);
	/*
	 * The window of the last open() was analysed, in this CPU time; 0: it is not shown, because
	 * a key stopped that or, `failed`, it cannot be analysed.
	 */
	void (*on_end)(void *arg, uint64_t cpu_ns, bool failed);
	/* Keeps the window, or ends that; its facts say so. */
	void (*freeze)(void *arg, struct report_live *facts);
	/* Saves the window; writes a message of at most `size` bytes. */
	void (*save)(void *arg, const struct recordings *recordings, char *message, size_t size);
};

struct browse;

/* The browser's source must have a live recording (`live`). */

/*
 * Begins to analyse the next window in a thread if it is due, and shows it when that has ended. The
 * current one stays if it cannot be analysed.
 */
void browse_live_refresh(struct browse *browse);

/* Gives up a running analysis: call it before levels change. */
void browse_live_cancel(struct browse *browse);

/* Executes a key of live recordings. Returns false if it is none. */
bool browse_live_key(struct browse *browse, uint32_t key);

/* Lines for the help. */
#define BROWSE_LIVE_HELP                                                                           \
	"  Space             freeze the window, or show the next ones again\n"                     \
	"                    (a range of time keeps it, too, until z)\n" \
	"  S                 save the window as a recording\n"

#endif
