/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of a sample from its ring to the file. */
#ifndef CAPTURE_SAMPLES_SAMPLE_PATH_H
#define CAPTURE_SAMPLES_SAMPLE_PATH_H

#include "capture/samples/filter.h"
#include "capture/samples/unwinding.h"

struct sample_path {
	struct filter filter;
	struct unwinding *unwinding;    /* NULL: samples go to the file as they are */
	struct unwinding_counts unwound; /* when it is over */
};

#endif
