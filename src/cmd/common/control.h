/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands during recording or counting, like perf's --control: lines read from a descriptor or a FIFO.
 * Each is answered by "ack\n" and a NUL, as in perf, on an optional second descriptor.
 */
#ifndef CMD_COMMON_CONTROL_H
#define CMD_COMMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct control {
	int in, ack;     /* descriptors of commands and answers; -1: none */
	bool close_them; /* control_close() closes `in` and `ack`, because control_open() opened them
			  * (fifo:, not fd:) */
	char *made[2];   /* paths of FIFOs that control_open() made; NULL: none */
	bool named;      /* enable and disable accept an event name, and evlist is accepted */
	char line[256];
	const char *argument; /* argument of the last command, within `line`; NULL: none */
	size_t used;
	bool overlong;   /* the line being received is longer than `line`, so it is rejected as an unknown
			  * command */
};

enum control_command {
	CONTROL_NONE,    /* no complete command is pending */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_EVLIST,  /* with `named`: lists the events */
	CONTROL_UNKNOWN, /* unknown command; an error was printed */
	CONTROL_END,     /* the other side closed its end: `in` is -1 */
};

/* Initializes `control` with no open descriptor. */
void control_init(struct control *control);

/*
 * Parses --control and opens its files: "fd:N[,M]" or "fifo:PATH[,PATH]". Missing FIFOs are created.
 * Returns false after printing the error.
 */
bool control_open(struct control *control, const char *text);
/* Closes the descriptors and removes FIFOs that control_open() created. May be called twice. */
void control_close(struct control *control);

/* Returns the next pending command; does not wait. Poll `in` for more. */
enum control_command control_next(struct control *control);

/* Writes "ack" to the sender after a command was executed. */
void control_ack(const struct control *control);

#endif
