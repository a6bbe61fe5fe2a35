/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that come while something is recorded or counted, as perf's --control has them: lines
 * read from a descriptor or a fifo, each answered by "ack\n" (and a NUL, as perf writes it) on
 * another one, if there is one.
 */
#ifndef CMD_COMMON_CONTROL_H
#define CMD_COMMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct control {
	int in, ack;     /* -1: none */
	bool close_them; /* they were opened here */
	char *made[2];   /* paths of FIFOs that control_open() made; NULL: none */
	bool named;      /* events have names here: enable and disable take one, and there is evlist */
	char line[256];
	const char *argument; /* argument of the last command, within `line`; NULL: none */
	size_t used;
	bool overlong;   /* the line that is being read does not fit: it is nothing that we know */
};

enum control_command {
	CONTROL_NONE,    /* nothing more has come */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_EVLIST,  /* with `named`: lists the events */
	CONTROL_UNKNOWN, /* said already */
	CONTROL_END,     /* the other side has closed it: `in` is -1 */
};

/* Nothing is open. */
void control_init(struct control *control);

/*
 * "fd:N[,M]" or "fifo:PATH[,PATH]"; a fifo is made where there is none. Returns false after saying
 * what is wrong.
 */
bool control_open(struct control *control, const char *text);
/* Closes, and removes FIFOs that control_open() made. May be called twice. */
void control_close(struct control *control);

/* The next command that has come; `in` is polled for more. */
enum control_command control_next(struct control *control);

/* It has been done. */
void control_ack(const struct control *control);

#endif
