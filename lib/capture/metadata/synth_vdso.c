/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "base/cleanup.h"
#include "binary/vdso.h"
#include "capture/metadata/synth_internal.h"
#include "record/kept.h"
#include "record/types.h"

#define NAME "[vdso]"

static struct sp_error *put_build_id(struct synth *synth, const struct image *image)
{
	struct sp_record record = {
		.type = SP_RECORD_HEADER_BUILD_ID,
		.misc = PERF_RECORD_MISC_USER | RECORD_MISC_BUILD_ID_SIZE,
		.build_id = {.pid = UINT32_MAX, .build_id_size = image->build_id_size,
			     .filename = NAME},
	};
	if (!image->build_id_size)
		return NULL;
	memcpy(record.build_id.build_id, image->build_id, image->build_id_size);
	return synth_put(synth, &record, 0, 0);
}

struct sp_error *synth_vdso(struct synth *synth)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = vdso_own(&image);
	if (error || !image)
		return error;
	error = put_build_id(synth, image);
	if (!error)
		error = record_encode_kept(synth->buffer, NAME, image->memory, image->size);
	/* None is that large. */
	if (error && sp_error_code(error) == SP_ERROR_LIMIT)
		sp_error_free(take_ptr(error));
	return error;
}
