/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"

struct sp_error *rotation_init(struct rotation *rotation,
			       const struct capture_options *options)
{
	const struct sp_capture_output *output = &options->output;
	*rotation = (struct rotation){
		.max_bytes = output->max_bytes,
		.switch_bytes = output->switch_bytes,
		.switch_ns = output->switch_ns,
		.dated = output->timestamp_name || output->switch_bytes || output->switch_ns ||
			 output->switch_on_demand,
	};
	bool switches = rotation->switch_bytes || rotation->switch_ns || output->switch_on_demand ||
			options->buffers.overwrite;
	rotation->tracks = switches;
	if (output->keep_files && !switches)
		return error_new(SP_ERROR_INVALID, "--keep needs --switch-output: only one file is written");
	if (output->path && !strcmp(output->path, "-") && (switches || rotation->dated))
		return error_set_remedy(error_new(SP_ERROR_INVALID, "cannot split or rename standard "
						  "output"), "name a file with -o");
	return NULL;
}

/* Number of complete files that stay open until they are reported. */
#define DONE_OPEN_MAX 32

/* Closes the previously reported file, unless its descriptor was taken. */
static void replace_file(struct file_maker *maker, int fd)
{
	if (maker->file >= 0)
		close(maker->file);
	maker->file = fd;
}

static void file_maker_free(struct file_maker *maker)
{
	if (!maker)
		return;
	replace_file(maker, -1);
	if (maker->current >= 0)
		close(maker->current);
	vec_each (item, &maker->done) {
		if (item->fd >= 0)
			close(item->fd);
		free(item->path);
	}
	vec_each (item, &maker->kept)
		free(*item);
	vec_deinit(&maker->done);
	vec_deinit(&maker->kept);
	free(maker->reported);
	free(maker->path);
	host_features_deinit(&maker->features);
	arena_deinit(&maker->arena);
	pthread_mutex_destroy(&maker->lock);
	free(maker);
}

void rotation_deinit(struct rotation *rotation)
{
	live_state_deinit(&rotation->live_state);
	file_maker_free(rotation->maker);
	*rotation = (struct rotation){0};
}

#define HUNDREDTH_NS 10000000

struct sp_error *file_maker_open(struct file_maker *maker, struct writer **ret)
{
	TRY(writer_open(maker->path, maker->events, maker->event_count, &maker->info, ret));
	if (!maker->info.in_memory)
		return NULL;
	int fd = writer_reopen(*ret);
	pthread_mutex_lock(&maker->lock);
	if (maker->current >= 0)
		close(maker->current);
	maker->current = fd;
	pthread_mutex_unlock(&maker->lock);
	return NULL;
}

/*
 * Adds a complete file's name, which it owns from now on. Removes the oldest file if there are too
 * many.
 */
static struct sp_error *remove_oldest(struct file_maker *maker, char *name)
{
	char **slot = vec_push(&maker->kept);
	if (!slot) {
		free(name);
		return error_no_memory();
	}
	*slot = name;
	if (maker->kept.count <= maker->keep)
		return NULL;
	CLEANUP_FREE char *oldest = maker->kept.items[0];
	memmove(maker->kept.items, maker->kept.items + 1,
		--maker->kept.count * sizeof(*maker->kept.items));
	/* Another program may have moved it away. */
	if (unlink(oldest) && errno != ENOENT)
		return error_os(errno, "cannot remove the old recording %s", oldest);
	return NULL;
}

/* Takes over `fd`, unless it fails or too many files are open. */
static struct sp_error *on_done(struct file_maker *maker, const char *name, uint64_t samples,
				int *fd)
{
	struct stat st;
	char *path = strdup(name);
	bool sized = *fd >= 0 ? !fstat(*fd, &st) : !stat(name, &st);
	pthread_mutex_lock(&maker->lock);
	struct file_done *done = path ? vec_push(&maker->done) : NULL;
	if (done)
		*done = (struct file_done){.path = path, .samples = samples,
					   .bytes = sized ? (uint64_t)st.st_size : 0,
					   .fd = -1};
	if (done && maker->done.count <= DONE_OPEN_MAX)
		done->fd = take_fd(fd);
	pthread_mutex_unlock(&maker->lock);
	if (done)
		return NULL;
	free(path);
	return error_no_memory();
}

/*
 * Names have hundredths of a second. If files end within one, or the clock is set back, the later
 * file still has the later name, even if the earlier one was removed.
 */
static struct timespec next_date(struct file_maker *maker, struct timespec when)
{
	struct timespec least = maker->dated;
	least.tv_nsec += HUNDREDTH_NS;
	if (least.tv_nsec >= 1000000000) {
		least.tv_sec++;
		least.tv_nsec -= 1000000000;
	}
	bool early = when.tv_sec < least.tv_sec ||
		     (when.tv_sec == least.tv_sec && when.tv_nsec < least.tv_nsec);
	maker->dated = early ? least : when;
	return maker->dated;
}

struct sp_error *file_maker_close(struct file_maker *maker, struct writer *writer,
				  struct file_end *end)
{
	CLEANUP_FREE char *name = NULL;
	if (!writer) {
		dsos_deinit(&end->dsos);
		return NULL;
	}
	/* Names are stored by this descriptor: the path might be another user's file by then. */
	CLEANUP_CLOSE int fd = writer_reopen(writer);
	/* Read after all writes, so that the sample count is final. */
	struct sp_error *commit_error = writer_commit(writer);
	uint64_t samples = writer_samples(writer);
	struct sp_error *dsos_error = dsos_complete(&end->dsos, ctx_proxies(maker->ctx));
	if (end->dsos.contents.count) {
		struct iovec span = {end->dsos.contents.items, end->dsos.contents.count};
		/* Closing reports a failed write. */
		sp_error_free(writer_write(writer, &span, 1));
	}
	const struct writer_end last = {
		.first_sample_ns = end->first_ns,
		.last_sample_ns = end->last_ns,
		.samples = end->samples,
		.build_ids = end->dsos.known.items,
		.build_id_count = end->dsos.known.count,
	};
	struct sp_error *error =
		end->dated ? writer_close_dated(writer, &last, next_date(maker, end->when), &name)
			   : writer_close(writer, &last);
	dsos_deinit(&end->dsos);
	error = error_first(dsos_error, error_first(commit_error, error));
	pthread_mutex_lock(&maker->lock);
	maker->samples += samples;
	if (!end->dated)
		replace_file(maker, take_fd(&fd));
	pthread_mutex_unlock(&maker->lock);
	if (name)
		error = error_first(error, on_done(maker, name, samples, &fd));
	if (name && maker->keep)
		error = error_first(error, remove_oldest(maker, take_ptr(name)));
	return error;
}

struct file_change {
	struct write_queue_change change;
	struct file_maker *maker;
	struct file_end end;
};

static struct sp_error *make(struct write_queue_change *change, struct writer *old,
			     struct writer **next_ret)
{
	struct file_change *both = (struct file_change *)change;
	struct writer *next = NULL;
	struct sp_error *error = file_maker_close(both->maker, old, &both->end);
	struct sp_error *next_error = file_maker_open(both->maker, &next);
	if (!next_error)
		next_error = writer_publish(next);
	*next_ret = next;
	return error_first(error, next_error);
}

static void change_free(struct write_queue_change *change)
{
	struct file_change *both = (struct file_change *)change;
	dsos_deinit(&both->end.dsos);
	free(both);
}

struct sp_error *file_maker_change(struct file_maker *maker, const struct file_end *end,
				   struct write_queue_change **ret)
{
	struct file_change *both = malloc(sizeof(*both));
	NEED(both);
	*both = (struct file_change){.change = {make, change_free}, .maker = maker, .end = *end};
	*ret = &both->change;
	return NULL;
}

bool file_maker_next_done(struct file_maker *maker, struct sp_capture_file *ret)
{
	pthread_mutex_lock(&maker->lock);
	bool any = maker->done.count;
	if (any) {
		const struct file_done done = maker->done.items[0];
		free(maker->reported);
		maker->reported = done.path;
		replace_file(maker, done.fd);
		*ret = (struct sp_capture_file){.path = done.path, .bytes = done.bytes,
						.samples = done.samples};
		memmove(maker->done.items, maker->done.items + 1,
			--maker->done.count * sizeof(*maker->done.items));
	}
	pthread_mutex_unlock(&maker->lock);
	return any;
}

int file_maker_take_file(struct file_maker *maker)
{
	pthread_mutex_lock(&maker->lock);
	int fd = take_fd(&maker->file);
	pthread_mutex_unlock(&maker->lock);
	return fd;
}

int file_maker_open_current(struct file_maker *maker)
{
	pthread_mutex_lock(&maker->lock);
	int fd = maker->current < 0 ? -1 : fcntl(maker->current, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&maker->lock);
	return fd;
}
