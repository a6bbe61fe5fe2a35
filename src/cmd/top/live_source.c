/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/live_source.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sprof/private/command.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cmd/common/session.h"
#include "list.h"

/* Files of a window: each repeats the tasks and mappings that live when it begins. */
#define PARTS 3

/* Time that a complete file may take to be closed, and between looks whether it is. */
#define CLOSE_NS 2000000000ull
#define CLOSE_STEP_MS 5

/* Longest name of the recording in messages. */
#define NAME "the live recording"

/* A complete file. */
struct part {
	int fd;
	uint64_t begin_ns, end_ns, bytes;
};

struct live_source {
	struct live_source_options options;
	struct sp_capture *capture;
	pthread_t thread;
	int wake_fd; /* wakes the thread */
	int end_fd;
	bool running, joined;

	/* The thread and its user share the following. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	LIST(struct part) parts; /* the oldest first */
	uint64_t part_ns; /* begin of the file that is being written */
	uint64_t end_ns;  /* end of the recording; 0: it runs */
	size_t begun, ended; /* numbers of changes of the file: requested, and done */
	bool change, stop;
	struct sp_error *error;
};

static void signal_fd(int fd)
{
	const uint64_t one = 1;
	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* Closes the files that the window or the memory has no room for. Needs the lock. */
static void drop_parts(struct live_source *live)
{
	uint64_t now_ns = live->end_ns ?: session_now_ns(), bytes = 0;
	size_t first = live->parts.count;
	while (first && live->parts.items[first - 1].end_ns + live->options.window_ns > now_ns &&
	       bytes + live->parts.items[first - 1].bytes <= LIVE_BYTES)
		bytes += live->parts.items[--first].bytes;
	/* An empty list has no array. */
	if (!first)
		return;
	for (size_t i = 0; i < first; i++)
		close(live->parts.items[i].fd);
	live->parts.count -= first;
	memmove(live->parts.items, live->parts.items + first,
		live->parts.count * sizeof(*live->parts.items));
}

/* Adds the files that are complete. Needs the lock. */
static void collect_parts(struct live_source *live)
{
	struct sp_capture_file file;
	while (sp_capture_next_file(live->capture, &file)) {
		int fd = sp_capture_take_file(live->capture);
		struct part *part = fd < 0 ? NULL : list_try_push(&live->parts);
		/* A file may end by its size, without a request. */
		live->ended += live->ended < live->begun;
		if (part)
			*part = (struct part){fd, live->part_ns, session_now_ns(), file.bytes};
		else if (fd >= 0)
			close(fd);
		live->part_ns = session_now_ns();
	}
	drop_parts(live);
	pthread_cond_broadcast(&live->changed);
}

/*
 * Waits for records, a request, or `deadline_ns`. closes: another thread closes a complete file,
 * which wakes no one.
 */
static void wait_for_records(const struct live_source *live, uint64_t deadline_ns, bool closes)
{
	struct pollfd fds[] = {{.fd = sp_capture_fd(live->capture), .events = POLLIN},
			       {.fd = live->wake_fd, .events = POLLIN}};
	uint64_t now_ns = session_now_ns(), value;
	int64_t left_ms = deadline_ns > now_ns ? (int64_t)((deadline_ns - now_ns) / NS_PER_MS) : 0;
	if (poll(fds, 2, closes ? CLOSE_STEP_MS : (int)left_ms) > 0 && fds[1].revents)
		(void)!read(live->wake_fd, &value, sizeof(value));
}

static void *run(void *arg)
{
	struct live_source *live = arg;
	struct sp_error *error = NULL;
	bool running = true, stop = false, closes = false;
	uint64_t part_ns = live->options.window_ns / PARTS;
	uint64_t change_ns = session_now_ns() + part_ns;
	while (running && !stop && !error) {
		wait_for_records(live, change_ns, closes);
		error = sp_capture_step(live->capture, &running);
		pthread_mutex_lock(&live->lock);
		stop = live->stop;
		bool change = live->change || session_now_ns() >= change_ns;
		live->change = false;
		live->begun += change;
		collect_parts(live);
		closes = live->begun > live->ended;
		pthread_mutex_unlock(&live->lock);
		if (!change || error || stop)
			continue;
		error = sp_capture_switch(live->capture);
		change_ns = session_now_ns() + part_ns;
	}
	struct sp_error *stop_error = sp_capture_stop(live->capture);
	if (error)
		sp_error_free(stop_error);
	pthread_mutex_lock(&live->lock);
	live->end_ns = session_now_ns();
	live->error = error ?: stop_error;
	collect_parts(live);
	live->ended = live->begun;
	pthread_mutex_unlock(&live->lock);
	signal_fd(live->end_fd);
	return NULL;
}

void live_source_set_output(struct sp_capture_output *output)
{
	output->path = NAME;
	output->in_memory = true;
	output->switch_on_demand = true;
	output->switch_bytes = LIVE_BYTES / (2 * PARTS);
}

struct live_source *live_source_start(const struct live_source_options *options,
				      struct sp_capture *capture, struct sp_error **error_ret)
{
	struct live_source *live = calloc(1, sizeof(*live));
	sigset_t all, before;
	*error_ret = NULL;
	if (!live)
		return NULL;
	live->options = *options;
	live->capture = capture;
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->changed, NULL);
	live->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	live->end_fd = eventfd(0, EFD_CLOEXEC);
	live->part_ns = session_now_ns();
	if (live->wake_fd >= 0 && live->end_fd >= 0)
		*error_ret = sp_capture_start(capture);
	if (live->wake_fd < 0 || live->end_fd < 0 || *error_ret) {
		live_source_free(live);
		return NULL;
	}
	/* Signals are for the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	live->running = !pthread_create(&live->thread, NULL, run, live);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (live->running)
		return live;
	sp_error_free(sp_capture_stop(capture));
	live_source_free(live);
	return NULL;
}

void live_source_stop(struct live_source *live)
{
	if (!live->running || live->joined)
		return;
	pthread_mutex_lock(&live->lock);
	live->stop = true;
	pthread_mutex_unlock(&live->lock);
	signal_fd(live->wake_fd);
	pthread_join(live->thread, NULL);
	live->joined = true;
}

int live_source_end_fd(const struct live_source *live)
{
	return live->end_fd;
}

bool live_source_has_ended(struct live_source *live, struct sp_error **error_ret)
{
	pthread_mutex_lock(&live->lock);
	bool ended = live->end_ns;
	*error_ret = live->error;
	live->error = NULL;
	pthread_mutex_unlock(&live->lock);
	return ended;
}

/* Ends the current file, and waits until it is complete. Needs the lock. */
static void end_file(struct live_source *live)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_NS / 1000000000;
	live->change = true;
	signal_fd(live->wake_fd);
	while (!live->end_ns && (live->change || live->ended < live->begun) &&
	       !pthread_cond_timedwait(&live->changed, &live->lock, &until))
		;
}

/* The files of a window, the oldest first. */
struct window_files {
	LIST(struct sp_reader *) readers;
	ino_t inode; /* the last one's; 0: there is none */
};

/* Opens a file, and adds it unless it is the one before. */
static struct sp_error *add_file(const struct live_source *live, int fd, struct window_files *files)
{
	struct stat st = {0};
	if (fstat(fd, &st) || st.st_ino == files->inode)
		return NULL;
	struct sp_reader **reader = list_try_push(&files->readers);
	if (!reader)
		return NULL;
	*reader = NULL;
	files->inode = st.st_ino;
	return sp_reader_open_fd(live->options.ctx, fd, NAME, reader);
}

/* Opens all files of the window. */
static struct sp_error *open_files(struct live_source *live, struct window_files *files,
				   struct window_times *window_ret)
{
	struct sp_error *error = NULL;
	pthread_mutex_lock(&live->lock);
	if (live->options.ends_files && !live->end_ns)
		end_file(live);
	/* If the file is ended meanwhile, it is the last of the parts, too, and none is missing. */
	int current = live->end_ns || live->options.ends_files ?
			      -1 : sp_capture_open_file(live->capture);
	collect_parts(live);
	size_t count = live->parts.count;
	*window_ret = (struct window_times){count ? live->parts.items[0].begin_ns : live->part_ns,
					   live->end_ns ?: session_now_ns()};
	for (size_t i = 0; i < count && !error; i++)
		error = add_file(live, live->parts.items[i].fd, files);
	pthread_mutex_unlock(&live->lock);
	if (current >= 0 && !error)
		error = add_file(live, current, files);
	if (current >= 0)
		close(current);
	return error;
}

/*
 * Joins the files in memory, and opens that. A single file is copied, too: while it is written,
 * records take the place of its features, which are read later if the window is saved.
 */
static struct sp_error *join_files(const struct live_source *live,
				   const struct window_files *files, struct sp_reader **ret)
{
	int fd;
	struct sp_error *error =
		sp_recordings_join(files->readers.items, files->readers.count, NAME, &fd);
	if (error)
		return error;
	error = sp_reader_open_fd(live->options.ctx, fd, NAME, ret);
	close(fd);
	return error;
}

struct sp_error *live_source_open(struct live_source *live, struct recordings *ret,
				  struct window_times *window_ret)
{
	struct window_files files = {.inode = 0};
	struct sp_error *error = open_files(live, &files, window_ret);
	*ret = (struct recordings){.items = calloc(1, sizeof(*ret->items))};
	if (!error && files.readers.count && ret->items)
		error = join_files(live, &files, &ret->items[0].reader);
	ret->count = ret->items && ret->items[0].reader;
	for (size_t i = 0; i < files.readers.count; i++)
		sp_reader_free(files.readers.items[i]);
	free(files.readers.items);
	return error;
}

void live_source_free(struct live_source *live)
{
	if (!live)
		return;
	live_source_stop(live);
	for (size_t i = 0; i < live->parts.count; i++)
		close(live->parts.items[i].fd);
	free(live->parts.items);
	sp_error_free(live->error);
	if (live->wake_fd >= 0)
		close(live->wake_fd);
	if (live->end_fd >= 0)
		close(live->end_fd);
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	free(live);
}
