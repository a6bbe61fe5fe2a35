/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diag.h"
#include "memory.h"
#include "options.h"

static const struct {
	const char *name;
	enum control_command command;
	bool argument; /* may have an event name as argument (if control->named) */
} commands[] = {
	{"enable", CONTROL_ENABLE, true}, {"disable", CONTROL_DISABLE, true},
	{"snapshot", CONTROL_SNAPSHOT, false}, {"ping", CONTROL_PING, false},
	{"stop", CONTROL_STOP, false}, {"evlist", CONTROL_EVLIST, true},
};

void control_init(struct control *control)
{
	*control = (struct control){.in = -1, .ack = -1};
}

/* Parses the number of an open descriptor. Returns -1 after printing an error. */
static int descriptor_of(const char *text)
{
	uint64_t number;
	if (option_text_number(text, 0, INT32_MAX, &number) && fcntl((int)number, F_GETFD) >= 0)
		return (int)number;
	diag_print("--control: '%s' is not an open file descriptor", text);
	return -1;
}

/*
 * Opens a FIFO for reading and writing. Then open() does not wait for the other side, and its close is
 * not read as the end of the file. Rejects other files: opening a device can have side effects.
 * Rejects FIFOs of other users, who could stop sampling.
 * *made_ret: the path, if the FIFO was created; else NULL.
 */
static int fifo_of(const char *path, char **made_ret)
{
	char link[32];
	struct stat stat = {0};
	int errnum = mkfifo(path, 0600) ? errno : 0;
	if (!errnum)
		*made_ret = xstrdup(path);
	int found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool there = found >= 0 && !fstat(found, &stat), good = there && S_ISFIFO(stat.st_mode);
	bool trusted = stat.st_uid == geteuid() || !stat.st_uid;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	int fd = good && trusted ? open(link, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
	if (good && !trusted) {
		diag_print("--control: %s: the FIFO belongs to user %u", path, stat.st_uid);
		diag_more("remove it (record creates a new one), or trust its writers: sudo chown "
			  "root %s", path);
	} else if (fd < 0) {
		errnum = found < 0 && errnum != EEXIST ? errnum : errno;
		diag_print("--control: %s: %s", path,
			   there && !good ? "not a FIFO" : strerror(errnum));
	}
	if (found >= 0)
		close(found);
	return fd;
}

bool control_open(struct control *control, const char *text)
{
	bool fifo = !strncmp(text, "fifo:", 5);
	char *copy = xstrdup(text), *rest = copy;
	if (!fifo && strncmp(text, "fd:", 3)) {
		diag_print("--control: '%s' is not fd:N[,M] or fifo:PATH[,PATH]", text);
		free(copy);
		return false;
	}
	rest += fifo ? 5 : 3;
	char *in = strsep(&rest, ",");
	control->close_them = fifo;
	control->in = fifo ? fifo_of(in, &control->made[0]) : descriptor_of(in);
	bool good = control->in >= 0;
	if (good && rest) {
		control->ack = fifo ? fifo_of(rest, &control->made[1]) : descriptor_of(rest);
		good = control->ack >= 0;
	}
	free(copy);
	int flags = good ? fcntl(control->in, F_GETFL) : -1;
	if (flags >= 0)
		fcntl(control->in, F_SETFL, flags | O_NONBLOCK);
	return good;
}

void control_close(struct control *control)
{
	if (control->close_them && control->in >= 0)
		close(control->in);
	if (control->close_them && control->ack >= 0)
		close(control->ack);
	for (size_t i = 0; i < 2; i++) {
		if (control->made[i])
			unlink(control->made[i]);
		free(control->made[i]);
	}
	control_init(control);
}

/*
 * Returns whether the received line is commands[index]; sets control->argument to the rest of the line.
 */
static bool is_command(struct control *control, size_t index)
{
	size_t size = strlen(commands[index].name);
	char *rest = control->line + size;
	control->argument = NULL;
	if (strncmp(control->line, commands[index].name, size) ||
	    (commands[index].command == CONTROL_EVLIST && !control->named))
		return false;
	if (!*rest)
		return true;
	if (*rest != ' ' || !commands[index].argument || !control->named)
		return false;
	rest += strspn(rest, " ");
	control->argument = *rest ? rest : NULL;
	return true;
}

static enum control_command command_of(struct control *control)
{
	bool overlong = control->overlong;
	control->line[control->used] = '\0';
	control->used = 0;
	control->overlong = false;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands) && !overlong; i++)
		if (is_command(control, i))
			return commands[i].command;
	diag_print("--control: '%s%s' is not a command: enable, disable, %ssnapshot, ping, stop",
		   control->line, overlong ? "..." : "", control->named ? "evlist, " : "");
	return CONTROL_UNKNOWN;
}

enum control_command control_next(struct control *control)
{
	char c;
	while (control->in >= 0) {
		ssize_t size = read(control->in, &c, 1);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return CONTROL_NONE;
		if (size == 0) {
			if (control->close_them)
				close(control->in);
			control->in = -1;
			return CONTROL_END;
		}
		if (c == '\n' || c == '\0') {
			if (control->used)
				return command_of(control);
		} else if (control->used + 1 < sizeof(control->line)) {
			control->line[control->used++] = c;
		} else {
			control->overlong = true;
		}
	}
	return CONTROL_NONE;
}

void control_ack(const struct control *control)
{
	static const char answer[] = "ack\n";
	/*
	 * Do not wait for a sender that reads no answers. O_NONBLOCK would also hold for the
	 * sender's descriptor.
	 */
	struct pollfd ready = {.fd = control->ack, .events = POLLOUT};
	if (control->ack >= 0 && !poll(&ready, 1, 0))
		diag_print("--control: cannot send ack: the pipe is full");
	else if (control->ack >= 0 && write(control->ack, answer, sizeof(answer)) < 0)
		diag_print("--control: cannot send ack: %s", strerror(errno));
}
