/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/writer_struct.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Limits of the space that is allocated ahead, which is a quarter of the data's size. */
#define AHEAD_MIN ((uint64_t)256 << 10)
#define AHEAD_MAX ((uint64_t)16 << 20)

/* Smallest allocation that is tried when the disk is full. */
#define BLOCK_SIZE ((uint64_t)4096)

static uint64_t file_size_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur > INT64_MAX)
		return INT64_MAX;
	return limit.rlim_cur;
}

/* Allocates space up to offset `goal`. Returns 0 or the errno. */
static int allocate(struct preallocation *space, uint64_t goal)
{
	if (goal <= space->allocated)
		return 0;
	while (!space->cannot_allocate &&
	       fallocate(space->fd, FALLOC_FL_KEEP_SIZE, space->allocated,
			 goal - space->allocated) < 0) {
		if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
			return errno;
		/* Other errors of fallocate(2) do not mean that a write would fail, too. */
		if (errno != EINTR)
			space->cannot_allocate = true;
	}
	space->allocated = goal;
	return 0;
}

/* Allocates as much as possible, when there is no space up to `goal`. */
static void allocate_part(struct preallocation *space, uint64_t goal)
{
	uint64_t step = goal > space->allocated ? goal - space->allocated : 0;
	while (step >= BLOCK_SIZE) {
		step /= 2;
		(void)allocate(space, space->allocated + step);
	}
}

uint64_t preallocate_room(struct preallocation *space, uint64_t end, uint64_t size, int *errnum_ret)
{
	uint64_t need = end + size + space->reserve;
	*errnum_ret = 0;
	if (need <= space->allocated)
		return size;
	uint64_t ahead = end / 4;
	ahead = ahead < AHEAD_MIN ? AHEAD_MIN : ahead > AHEAD_MAX ? AHEAD_MAX : ahead;
	uint64_t limit = file_size_limit();
	uint64_t goal = need + ahead < limit ? need + ahead : limit;
	uint64_t most = need < limit ? need : limit;
	int errnum = allocate(space, goal);
	if (errnum && most < goal)
		errnum = allocate(space, most);
	if (errnum)
		allocate_part(space, most);
	if (!errnum && need > limit)
		errnum = EFBIG;
	if (!errnum)
		return size;
	*errnum_ret = errnum;
	uint64_t taken = end + space->reserve;
	uint64_t room = space->allocated > taken ? space->allocated - taken : 0;
	return room < size ? room : size;
}

int preallocate_cut(struct preallocation *space, uint64_t size)
{
	if (ftruncate(space->fd, size) < 0)
		return errno;
	if (space->allocated > size)
		space->allocated = size;
	return 0;
}
