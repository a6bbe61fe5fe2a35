/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "diag.h"

/* More lines than these would hide what they are about. */
#define SHOWN_DAMAGE 3

const char *input_path(const char *given)
{
	if (given)
		return given;
	if (access("sprof.data", F_OK) && !access("perf.data", F_OK))
		return "perf.data";
	return "sprof.data";
}

struct sp_reader *input_open(struct sp_ctx *ctx, const char *given)
{
	const char *path = input_path(given);
	struct sp_reader *reader;
	struct sp_error *error = sp_reader_open(ctx, path, &reader);
	if (!error)
		return reader;
	bool absent = sp_error_code(error) == SP_ERROR_NOT_FOUND;
	bool remedy = sp_error_remedy(error);
	diag_error(error);
	if (absent && !remedy)
		fputs(given ? "       'sprof record -o FILE -- COMMAND' makes a recording.\n"
			    : "       Record first: sprof record -- COMMAND\n", stderr);
	return NULL;
}

int input_damage(const struct sp_reader *reader)
{
	size_t count = sp_reader_damage_count(reader);
	const char *path = sp_reader_info(reader)->path;
	for (size_t i = 0; i < count && i < SHOWN_DAMAGE; i++) {
		const struct sp_damage *damage = sp_reader_damage(reader, i);
		diag_say("%s: offset 0x%" PRIx64 ": %s", path, damage->offset, damage->what);
	}
	if (count > SHOWN_DAMAGE)
		diag_say("%s: %zu more places are damaged", path, count - SHOWN_DAMAGE);
	if (count)
		fputs("       What could be read is shown.\n", stderr);
	return count != 0;
}
