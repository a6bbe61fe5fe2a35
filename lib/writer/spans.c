/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/spans.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define BATCH 64

/*
 * Signal mask and state during a write. A write that fails with EPIPE or EFBIG also sends a signal,
 * which by default kills the process. The signal is blocked and removed, so that a failed write is only
 * an error. The program's own handlers and the signals that child processes inherit are unchanged.
 */
struct signal_guard {
	sigset_t before;
};

static void signal_guard_end(struct signal_guard *guard, int errnum)
{
	int raised = errnum == EPIPE ? SIGPIPE : errnum == EFBIG ? SIGXFSZ : 0;
	const struct timespec at_once = {0};
	sigset_t one;
	if (raised && !sigismember(&guard->before, raised)) {
		sigemptyset(&one);
		sigaddset(&one, raised);
		while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

uint64_t spans_size(const struct iovec *spans, int count)
{
	uint64_t size = 0;
	for (int i = 0; i < count; i++)
		size += spans[i].iov_len;
	return size;
}

/*
 * Lists bytes [skip, skip + size) of the spans as at most BATCH pieces. Returns the number of pieces.
 */
static int batch_make(const struct iovec *spans, int count, uint64_t skip, uint64_t size,
		      struct iovec *batch)
{
	int used = 0;
	for (int i = 0; i < count && used < BATCH && size; i++) {
		if (skip >= spans[i].iov_len) {
			skip -= spans[i].iov_len;
			continue;
		}
		uint64_t length = spans[i].iov_len - skip;
		if (length > size)
			length = size;
		batch[used++] = (struct iovec){
			.iov_base = (char *)spans[i].iov_base + skip,
			.iov_len = length,
		};
		size -= length;
		skip = 0;
	}
	return used;
}

int spans_write(int fd, int64_t offset, const struct spans_part *part, uint64_t *done_ret)
{
	struct signal_guard guard;
	uint64_t done = 0;
	int errnum = 0;
	sigset_t raised;
	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &raised, &guard.before);
	while (done < part->size && !errnum) {
		struct iovec batch[BATCH];
		int used = batch_make(part->spans, part->count, part->skip + done,
				      part->size - done, batch);
		ssize_t put = offset == SPANS_APPEND
				      ? writev(fd, batch, used)
				      : pwritev(fd, batch, used, (off_t)offset + (off_t)done);
		if (put > 0)
			done += (uint64_t)put;
		else if (put == 0)
			errnum = EIO;
		else if (errno != EINTR)
			errnum = errno;
	}
	signal_guard_end(&guard, errnum);
	*done_ret = done;
	return errnum;
}

void spans_copy_next(struct spans_place *place, void *to, size_t size)
{
	while (size) {
		const struct iovec *span = &place->spans[place->span];
		size_t length = span->iov_len - place->at;
		if (length > size)
			length = size;
		if (to && length) {
			memcpy(to, (char *)span->iov_base + place->at, length);
			to = (char *)to + length;
		}
		size -= length;
		place->at += length;
		if (place->at == span->iov_len) {
			place->span++;
			place->at = 0;
		}
	}
}

void spans_copy(const struct iovec *spans, void *to, size_t size)
{
	struct spans_place place = {.spans = spans};
	spans_copy_next(&place, to, size);
}

/*
 * Walks over the records in the next `size` bytes. Returns the offset after the last whole record,
 * and counts the samples from offset `count_from` on.
 */
static uint64_t walk(struct spans_place place, uint64_t size, uint64_t count_from,
		     uint64_t *counted)
{
	struct perf_event_header header;
	uint64_t whole = 0;
	while (size - whole >= sizeof(header)) {
		struct spans_place next = place;
		spans_copy_next(&next, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - whole)
			break;
		*counted += whole >= count_from && header.type == PERF_RECORD_SAMPLE;
		spans_copy_next(&place, NULL, header.size);
		whole += header.size;
	}
	return whole;
}

uint64_t spans_whole_at(const struct spans_place *place, uint64_t size)
{
	uint64_t counted = 0;
	return walk(*place, size, 0, &counted);
}

uint64_t spans_whole_records(const struct iovec *spans, int count, uint64_t size)
{
	const struct spans_place place = {.spans = spans};
	uint64_t all = spans_size(spans, count);
	return spans_whole_at(&place, size < all ? size : all);
}

uint64_t spans_count_samples(const struct iovec *spans, int count, uint64_t skip)
{
	const struct spans_place place = {.spans = spans};
	uint64_t counted = 0;
	walk(place, spans_size(spans, count), skip, &counted);
	return counted;
}
