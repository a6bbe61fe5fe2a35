/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of the states of threads: text, JSON and CSV. */
#ifndef OUT_THREADS_H
#define OUT_THREADS_H

#include "out/report.h"

/* Threads of one recording. Borrowed. */
struct threads_view {
	const char *path;
	const struct sp_threads *threads;
};

struct threads_report {
	const struct threads_view *views;
	size_t view_count;
	bool all;   /* text shows threads that were blocked all the time, too */
	bool quiet; /* text has no head and no legend */
	struct term term;
};

void threads_write_text(const struct threads_report *report, FILE *out);
void threads_write_json(const struct threads_report *report, FILE *out);
void threads_write_csv(const struct threads_report *report, FILE *out);

#endif
