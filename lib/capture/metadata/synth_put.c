/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/metadata/synth_internal.h"

struct sp_error *synth_put(struct synth *synth, struct sp_record *record, uint32_t pid,
			   uint32_t tid)
{
	record->id = (struct sp_sample_id){.pid = pid, .tid = tid, .id = synth->id};
	return record_encode(synth->buffer, record, &synth->attr);
}
