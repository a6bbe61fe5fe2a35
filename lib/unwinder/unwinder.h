/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of include/sprof/unwinder.h. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sprof/unwinder.h>
#include "base/vec.h"
#include "binary/binary.h"
#include "machine/live.h"
#include "unwind/unwind.h"

/* A file that sp_unwinder_add() got as a descriptor. */
struct given_file {
	char *path;
	uint64_t ino;
	uint32_t maj, min;
	int fd;
};

struct sp_unwinder {
	struct sp_ctx *ctx;
	char *arch;
	uint32_t pid;
	unsigned int sp_number;   /* perf's number of the stack pointer */
	struct binary_env binaries;
	struct unwinder *unwinder;
	pthread_mutex_t lock;     /* for adding, and for `given` */
	struct live *live;        /* mappings of `pid`, the only process */
	uint64_t time_ns;         /* number of additions: the mappings' times */
	atomic_uint_least32_t view; /* the newest view of the mappings; 0: there are none */
	VEC(struct given_file) given;
};
