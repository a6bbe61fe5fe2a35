/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Address filters of PMUs that trace code, in perf's syntax:
 *
 *	filters = filter { ',' filter }
 *	filter  = action place [ '/' ( SIZE | SYMBOL ) ] [ '@' FILE ]
 *	action  = "filter" | "start" | "stop" | "tracestop"
 *	place   = ADDRESS | SYMBOL | '*'
 *
 * "filter" and "tracestop" are about ranges: a symbol's own, or from the one to the end of the other,
 * or ('*') all of a file. Without a file, addresses and symbols are the kernel's.
 */
#pragma once

#include "base/ctx.h"

/*
 * Translates a filter to the syntax of PERF_EVENT_IOC_SET_FILTER, "filter 0x1139/0x20@/bin/true", with
 * offsets in the file. The caller frees *ret. Fails with SP_ERROR_INVALID and the character's position,
 * or with SP_ERROR_NOT_FOUND if there is no such file or symbol.
 */
struct sp_error *address_filter_translate(const struct sp_ctx *ctx, const char *text,
					  char **ret) SP_MUST_CHECK;
