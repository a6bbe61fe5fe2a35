/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All of libsprof's public API. */
#ifndef SPROF_SPROF_H
#define SPROF_SPROF_H

#include <sprof/analysis.h>
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
