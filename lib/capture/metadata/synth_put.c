/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/metadata/synth_internal.h"

struct sp_error *synth_put(struct synth *synth, struct sp_record *record, uint32_t pid,
			   uint32_t tid)
{
	uint64_t time_ns = synth->is_new && synth->time_ns < synth->new_ns ? synth->new_ns : synth->time_ns;
	record->id = (struct sp_sample_id){.pid = pid, .tid = tid, .id = synth->id, .time_ns = time_ns};
	return record_encode(synth->buffer, record, &synth->attr);
}
