/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "diag.h"
#include "options.h"

static bool reject(const char *text)
{
	diag_say("--control: '%s' is not fd:CTL[,ACK] or fifo:CTL[,ACK]", text);
	return false;
}

/* Neither waits for the other end, nor does a write to it. */
static bool prepare(int fd, const char *what)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
		return true;
	diag_say("--control: %s: %s", what, strerror(errno));
	return false;
}

static bool take_fd(const char *text, int *fd)
{
	uint64_t number;
	if (!option_text_number(text, 0, INT32_MAX, &number))
		return reject(text);
	*fd = (int)number;
	return prepare(*fd, text);
}

/* For reading and writing, so that a writer that goes does not end it. */
static bool open_fifo(const char *path, int *fd)
{
	*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return prepare(*fd, path);
}

bool record_control_open(struct record_control *control, const char *text)
{
	*control = (struct record_control){.fd = -1, .ack_fd = -1};
	if (!text)
		return true;
	bool by_fd = !strncmp(text, "fd:", 3);
	if (!by_fd && strncmp(text, "fifo:", 5))
		return reject(text);
	char *name = strdup(text + (by_fd ? 3 : 5));
	if (!name) {
		diag_say("out of memory");
		return false;
	}
	char *ack = name, *first = strsep(&ack, ",");
	control->own = !by_fd;
	bool fine = *first && (!ack || *ack);
	if (!fine)
		reject(text);
	fine = fine && (by_fd ? take_fd(first, &control->fd) : open_fifo(first, &control->fd));
	if (fine && ack)
		fine = by_fd ? take_fd(ack, &control->ack_fd) : open_fifo(ack, &control->ack_fd);
	free(name);
	if (!fine)
		record_control_close(control);
	return fine;
}

void record_control_close(struct record_control *control)
{
	if (control->own && control->fd >= 0)
		close(control->fd);
	if (control->own && control->ack_fd >= 0)
		close(control->ack_fd);
	control->fd = control->ack_fd = -1;
}

static void acknowledge(const struct record_control *control)
{
	static const char ack[] = "ack\n";
	/* Who does not read it misses it: the recording does not wait. */
	if (control->ack_fd >= 0 && write(control->ack_fd, ack, sizeof(ack) - 1) < 0)
		diag_say("--control: an acknowledgement could not be written: %s", strerror(errno));
}

/* The name of the event behind "enable " or "disable "; NULL: all. */
static const char *event_of(const char *line, const char *word)
{
	const char *rest = line + strlen(word);
	while (*rest == ' ')
		rest++;
	return *rest ? rest : NULL;
}

/* Whether the line is that word, alone or with something behind it. */
static bool is_command(const char *line, const char *word)
{
	size_t size = strlen(word);
	return !strncmp(line, word, size) && (!line[size] || line[size] == ' ');
}

static void print_fields(const struct perf_event_attr *attr)
{
	printf(": type: %u, config: 0x%llx, { sample_period, sample_freq }: %llu, "
	       "sample_type: 0x%llx, read_format: 0x%llx, freq: %u, exclude_user: %u, "
	       "exclude_kernel: %u, precise_ip: %u, inherit: %u",
	       attr->type, (unsigned long long)attr->config,
	       (unsigned long long)attr->sample_period, (unsigned long long)attr->sample_type,
	       (unsigned long long)attr->read_format, attr->freq, attr->exclude_user,
	       attr->exclude_kernel, attr->precise_ip, attr->inherit);
}

/* perf's own: names, with -v their fields, with -F their frequencies. */
static bool list_events(const struct sp_capture *capture, const char *line)
{
	const char *how = event_of(line, "evlist");
	if (how && strcmp(how, "-v") && strcmp(how, "-F") && strcmp(how, "-g")) {
		diag_say("--control: evlist takes -v, -F or -g, not '%s'", how);
		return false;
	}
	for (size_t i = 0; i < sp_capture_event_count(capture); i++) {
		const struct perf_event_attr *attr = sp_capture_event_attr(capture, i);
		fputs(sp_capture_event_name(capture, i), stdout);
		if (how && !strcmp(how, "-v"))
			print_fields(attr);
		if (how && !strcmp(how, "-F"))
			printf(": sample_%s=%llu", attr->freq ? "freq" : "period",
			       (unsigned long long)attr->sample_period);
		putchar('\n');
	}
	fflush(stdout);
	return true;
}

/* False where it could not be done; that was said then. */
static bool switch_events(struct sp_capture *capture, const char *line, bool on)
{
	const char *event = event_of(line, on ? "enable" : "disable");
	struct sp_error *error = on ? sp_capture_enable(capture, event)
				    : sp_capture_disable(capture, event);
	bool fine = !error;
	diag_error(error);
	return fine;
}

/* False where it is no command, or failed. */
static bool run_line(struct sp_capture *capture, const char *line, bool *stop)
{
	if (is_command(line, "enable"))
		return switch_events(capture, line, true);
	if (is_command(line, "disable"))
		return switch_events(capture, line, false);
	if (is_command(line, "evlist"))
		return list_events(capture, line);
	if (!strcmp(line, "ping") || !strcmp(line, "ack"))
		return true;
	if (!strcmp(line, "snapshot")) {
		diag_say("--control: snapshot: no AUX area is recorded in snapshot mode");
		return false;
	}
	if (!strcmp(line, "stop")) {
		*stop = true;
		return true;
	}
	diag_say("--control: '%s' is no command: enable [EVENT], disable [EVENT], evlist [-v|-F|-g], "
		 "ping, stop", line);
	return false;
}

static bool take_line(struct record_control *control, struct sp_capture *capture, bool *stop)
{
	bool fine = !control->too_long;
	control->line[control->used] = '\0';
	control->used = 0;
	control->too_long = false;
	if (!fine)
		diag_say("--control: a line of more than %d characters is no command",
			 RECORD_CONTROL_LINE - 1);
	else if (!*control->line)
		return true;
	fine = fine && run_line(capture, control->line, stop);
	/* perf acknowledges what it did, and what it did not understand as well. */
	acknowledge(control);
	return fine;
}

bool record_control_read(struct record_control *control, struct sp_capture *capture,
			 bool *stop_ret)
{
	char bytes[RECORD_CONTROL_LINE];
	bool fine = true;
	ssize_t size;
	while ((size = read(control->fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < size; i++) {
			if (bytes[i] == '\n' || !bytes[i])
				fine &= take_line(control, capture, stop_ret);
			else if (control->used < sizeof(control->line) - 1)
				control->line[control->used++] = bytes[i];
			else
				control->too_long = true;
		}
	bool later = size < 0 && (errno == EAGAIN || errno == EINTR);
	if (later)
		return fine;
	/* A last line may have no end. */
	if (control->used)
		fine &= take_line(control, capture, stop_ret);
	record_control_close(control);
	return fine;
}
