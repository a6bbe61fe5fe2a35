/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by a script and its tellers. */
#ifndef SCRIPT_INTERNAL_H
#define SCRIPT_INTERNAL_H

#include <sprof/script.h>
#include <stdatomic.h>
#include "aggregate/stacks.h"
#include "script/order.h"
#include "script/places.h"
#include "sideband/deferred.h"
#include "sideband/dump_unwind.h"
#include "sideband/sideband.h"

struct sp_script {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_script_options options;
	struct machine *machine;
	struct sideband sideband;
	struct resolver *resolver;
	struct unwinding unwinding;
	struct deferred deferred; /* empty: there are none, or chains are not wanted */
	struct atlas atlas;
	struct order order;
	VEC(size_t) batches; /* index of each one's first in `order`, and the end */
	unsigned int threads;
	atomic_ullong *nameless; /* samples that were told, of each module, that have no name */
};

/* Implements sp_teller_new(); the caller has the places of one that only collects. */
struct places *teller_places(struct sp_teller *teller);

#endif
