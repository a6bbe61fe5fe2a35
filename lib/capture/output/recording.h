/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that are recorded to, and what is on its way to them. */
#ifndef CAPTURE_OUTPUT_RECORDING_H
#define CAPTURE_OUTPUT_RECORDING_H

#include "base/vec.h"
#include "capture/notes/notes.h"
#include "capture/output/auxtrace.h"
#include "capture/output/dsos.h"
#include "capture/output/sink.h"
#include "capture/output/switching.h"
#include "capture/output/writing.h"
#include "record/encode.h"

/* What a tracing PMU writes into AUX areas; zeroed: there is none. */
struct capture_traces {
	struct auxtrace_pmu pmu;
	size_t event;        /* of the plan's samples */
	uint64_t area_bytes; /* of each CPU */
	bool snapshot;       /* areas are overwritten, and taken only when that is asked for */
	bool sampled;        /* areas are overwritten, and what is needed of them is in samples */
	struct auxtrace_area *areas;
	size_t count;
	uint64_t bytes;      /* taken */
};

struct recording {
	struct switching switching;
	struct writing *writing;        /* what `sink` hands on to */
	struct sink sink;
	struct batch batch;
	struct dsos dsos;
	struct capture_traces traces;
	struct record_buffer synthesised; /* records of what ran already */
	struct record_buffer extra;     /* records of our own on their way to the file */
	struct notes notes;
	bool closed;                    /* there is no file any more */
	bool dirty;                     /* something was written since the last commit */
	uint64_t marked_ns;             /* all taken before the last mark is older than that */
	uint64_t commit_ns;             /* time of that */
};

#endif
