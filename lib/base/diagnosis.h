/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Diagnosis: the reason why something is missing, if this is no error. The program continues without it
 * and reports the reason. A later reason replaces an earlier one.
 */
#pragma once

#include <sprof/error.h>

/* A zeroed diagnosis is empty. */
struct diagnosis {
	unsigned int problem; /* value of the caller's enum; 0: none */
	char *text, *remedy;  /* malloc'ed; NULL: none */
};

/* Replaces the diagnosis. `remedy` (may be NULL) is copied. */
void diagnosis_set(struct diagnosis *diagnosis, unsigned int problem, const char *remedy,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Converts `error` (may be NULL) to a diagnosis and frees it. Returns it if memory is short. */
struct sp_error *diagnosis_take(struct diagnosis *diagnosis, unsigned int problem,
				struct sp_error *error) SP_MUST_CHECK;
/* Frees `error` (may be NULL), which needs no diagnosis. Returns it if memory is short. */
struct sp_error *error_if_no_memory(struct sp_error *error) SP_MUST_CHECK;
void diagnosis_clear(struct diagnosis *diagnosis);
