/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why something is not to be had, where that is no error: the work goes on without it, and
 * the user is told. Of several reasons the last and best known stays.
 */
#ifndef BASE_DIAGNOSIS_H
#define BASE_DIAGNOSIS_H

#include <sprof/error.h>

/* A zeroed one says nothing. */
struct diagnosis {
	unsigned int problem; /* value of the caller's enum; 0: none */
	char *text, *remedy;  /* malloc'ed; NULL: none */
};

/* Replaces what was said before. `remedy` (may be NULL) is copied. */
void diagnosis_set(struct diagnosis *diagnosis, unsigned int problem, const char *remedy,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Makes `error` (may be NULL) what is said, and frees it; lack of memory is handed back. */
struct sp_error *diagnosis_take(struct diagnosis *diagnosis, unsigned int problem,
				struct sp_error *error) SP_MUST_CHECK;
void diagnosis_clear(struct diagnosis *diagnosis);

#endif
