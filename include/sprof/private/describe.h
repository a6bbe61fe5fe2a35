/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text for a recording's header: attributes of events, and all features. */
#ifndef SPROF_PRIVATE_DESCRIBE_H
#define SPROF_PRIVATE_DESCRIBE_H

#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the next field of an attr that is not 0, in perf's order and words ("sample_type",
 * "IP|TID|TIME"). *at is 0 for the first field. Returns false after the last one. `value` has room
 * for SP_WORDS_SIZE bytes.
 */
SP_API bool sp_attr_next(const struct perf_event_attr *attr, const struct sp_attr_tail *tail,
			 unsigned int *at, const char **name_ret, char *value);

/* A name and its value. Names may repeat; they are "" if there is only one value. */
struct sp_description_row {
	const char *name, *value;
};

struct sp_description;

/*
 * Describes feature `bit`; *ret is NULL if it is absent. Fails with SP_ERROR_FORMAT if it is
 * damaged; *ret then has the rows before the damage, or is NULL. The size describes an unknown
 * feature.
 */
SP_API struct sp_error *sp_description_new(const struct sp_reader *reader, unsigned int bit,
					   struct sp_description **ret) SP_MUST_CHECK;

/* The rows; they belong to the description. */
SP_API size_t sp_description_count(const struct sp_description *description);
SP_API const struct sp_description_row *sp_description_row(
	const struct sp_description *description, size_t index);

/* NULL may be freed. */
SP_API void sp_description_free(struct sp_description *description);

#ifdef __cplusplus
}
#endif
#endif
