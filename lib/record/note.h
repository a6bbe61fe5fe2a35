/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes: what the recorder has to say about the recording (rate lowered, rings
 * grown, side-band lost), kept in it. A note is an EVENT_UPDATE record (78) of a
 * kind of our own, which other readers pass over without a word:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     kind: NOTE_KIND ("sprof" in ASCII)
 *	u64     id: 0, the first event (perf refuses the file where it finds none)
 *	u64     time_ns, in the recording's clock, little-endian; 0: of it all
 *	char[]  text: UTF-8, one plain sentence, a NUL behind, zeros up to 8 bytes
 *
 * What follows the NUL is for later versions to use, and ignored. sp_record_note()
 * reads it.
 */
#ifndef RECORD_NOTE_H
#define RECORD_NOTE_H

#include <sprof/record.h>
#include "record/encode.h"

#define NOTE_KIND UINT64_C(0x666f727073)

/*
 * In the recorder's note on stacks that were cut, for who reads it: a size in bytes that would
 * have held them follows; or there is none.
 */
#define NOTE_STACK_SIZE "--call-graph dwarf,"
#define NOTE_NO_MORE_STACK "more cannot be copied of a stack"

/*
 * Where whole CPUs are sampled, and only what some tasks did is kept: LOST records count everyone's
 * samples. For printf and scanf; two unsigned long long.
 */
#define NOTE_LOST_OWN "of the %llu samples lost, which are everyone's on these CPUs, probably %llu were"

/* Appends a note. Fails with SP_ERROR_LIMIT where the text does not fit a record. */
struct sp_error *record_encode_note(struct record_buffer *buffer, const char *text,
				    uint64_t time_ns) SP_MUST_CHECK;

#endif
