/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dumps of a recording, and an unwinder for them: for checks of the unwinder. */
#ifndef TESTS_UNWIND_DUMPS_H
#define TESTS_UNWIND_DUMPS_H

#include <sprof/reader.h>
#include "base/vec.h"
#include "binary/binary.h"
#include "machine/machine.h"
#include "unwind/unwind.h"

struct dumps {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct machine *machine;
	struct binary_env binary;
	const char *arch;
};

/* A sample with registers, copied; owned by its list. */
struct dump {
	struct unwind_sample sample;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t *values;
	uint8_t *stack;
};

struct dump_list {
	VEC(struct dump);
};

struct sp_error *dumps_open(struct dumps *dumps, const char *path);
void dumps_close(struct dumps *dumps);

/* At most `limit` of the samples that have registers of user space, evenly chosen by `step`. */
struct sp_error *dumps_read(struct dumps *dumps, size_t limit, size_t step, struct dump_list *ret);
void dump_list_free(struct dump_list *list);

struct sp_error *dumps_unwinder(struct dumps *dumps, const char *engine, struct unwinder **ret);

#endif
