/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overwrite mode: the kernel overwrites old samples, and rings are read on demand only. Side-band
 * has rings of its own and is drained as in other modes, into the live state,
 * so that whenever it is asked, what lived then is known; nothing is written meanwhile.
 */
#ifndef CAPTURE_OVERWRITE_H
#define CAPTURE_OVERWRITE_H

#include <sprof/capture.h>
#include "ring/snapshot.h"

/*
 * Limit of side-band records that are held since the oldest sample. Where rings
 * reach back further, what is older is left out: it is not known any more where it belongs.
 */
#define FLIGHT_LOG_BYTES ((size_t)32 << 20)

/* Times of a CPU that a file covers. */
struct overwrite_span {
	uint64_t begin_ns, end_ns;
};

struct overwrite {
	bool on;
	uint64_t window_ns;   /* older samples are left out; 0: all that is there is taken */
	uint64_t stack_dump_ns;     /* start of the current dump, by the recording's clock; 0: none */
	struct snapshot snapshot;
	struct overwrite_span *spans; /* one for each CPU */
	uint64_t overwritten; /* bytes, before what was taken this time */
};

/* Once rings are mapped. */
struct sp_error *capture_start_overwrite(struct sp_capture *capture) SP_MUST_CHECK;
void overwrite_deinit(struct overwrite *overwrite);

/* A round: the live state advances with time, and stays within its limits. */
struct sp_error *capture_expire_overwrite(struct sp_capture *capture) SP_MUST_CHECK;

/* Writes what rings hold; all but the last time, that becomes a file of its own. */
struct sp_error *capture_dump(struct sp_capture *capture, bool last) SP_MUST_CHECK;

#endif
