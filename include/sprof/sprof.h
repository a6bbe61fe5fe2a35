/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All of libsprof's public API.
 *
 * Lists: sp_X_Y_count() is the number of items, or a member `Y_count`. sp_X_Y(x, index) returns one
 * item. Notes end with NULL. Streams (sp_reader_next(), sp_teller_next(), sp_meter_next(),
 * sp_capture_next_file()) return one item after the other.
 *
 * Structs that functions return by pointer may get more members in later versions. Options have
 * their size as first member, and may grow, too. Programs depend on the size of no other struct,
 * except of those that are final: structs that the caller provides for results, members that are
 * structs, and elements of arrays that have a type, as all in sprof/record.h.
 */
#ifndef SPROF_SPROF_H
#define SPROF_SPROF_H

#include <sprof/analysis.h>
#include <sprof/annotation.h>
#include <sprof/archive.h>
#include <sprof/capture.h>
#include <sprof/catalog.h>
#include <sprof/ctx.h>
#include <sprof/diff.h>
#include <sprof/error.h>
#include <sprof/filter.h>
#include <sprof/list.h>
#include <sprof/meter.h>
#include <sprof/options.h>
#include <sprof/profile.h>
#include <sprof/reader.h>
#include <sprof/record.h>
#include <sprof/script.h>
#include <sprof/stat.h>
#include <sprof/symbolizer.h>
#include <sprof/timeline.h>
#include <sprof/trace.h>
#include <sprof/unwinder.h>

#endif
