/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ring buffers of all CPUs, and the threads that drain them. */
#ifndef CAPTURE_RING_BANK_RING_BANK_H
#define CAPTURE_RING_BANK_RING_BANK_H

#include "capture/ring_bank/drains.h"
#include "capture/ring_bank/hurry.h"
#include "capture/ring_bank/retouch.h"
#include "capture/ring_bank/wall_clock.h"
#include "ring/ring.h"

struct ring_bank {
	struct ring *rings;             /* those of the side-band, then those of the samples */
	uint64_t *heads;                /* of the sample rings, in a round */
	struct drains *drains;          /* who keeps these empty; NULL: the round itself */
	struct retouch retouch;
	struct wall_clock wall;         /* whose times are told, if it may be set; else off */
	struct hurry hurry;             /* of the calling thread, with `realtime` alone */
	bool was_full;                  /* a sample ring had no room for some record */
};

#endif
