/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/diagnosis.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"

void diagnosis_clear(struct diagnosis *diagnosis)
{
	free(diagnosis->text);
	free(diagnosis->remedy);
	*diagnosis = (struct diagnosis){0};
}

void diagnosis_set(struct diagnosis *diagnosis, unsigned int problem, const char *remedy,
		   const char *format, ...)
{
	diagnosis_clear(diagnosis);
	diagnosis->problem = problem;
	va_list args;
	va_start(args, format);
	diagnosis->text = format_text_va(format, args);
	va_end(args);
	diagnosis->remedy = remedy ? strdup(remedy) : NULL;
}

struct sp_error *error_if_no_memory(struct sp_error *error)
{
	if (!error || sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	sp_error_free(error);
	return NULL;
}

struct sp_error *diagnosis_take(struct diagnosis *diagnosis, unsigned int problem,
				struct sp_error *error)
{
	if (!error || sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	CLEANUP(cleanup_sp_error_free) struct sp_error *why = error;
	diagnosis_set(diagnosis, problem, sp_error_remedy(why), "%s", sp_error_message(why));
	return NULL;
}
