/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of places of code (address, function, file), as in perf script. The text goes to printer->out.
 */
#ifndef CMD_SCRIPT_PLACE_TEXT_H
#define CMD_SCRIPT_PLACE_TEXT_H

#include "cmd/script/script.h"

/* Appends "(DSO)" or, with DSOFF, "(DSO+0xOFFSET)". */
void place_put_dso(struct buffer *out, const struct sp_place *place, uint64_t fields);

/* Appends "NAME" or "NAME+0xOFFSET"; "[unknown]" without a name. */
void place_put_symbol(struct buffer *out, const struct sp_place_frame *frame, bool offset);

/* Appends the sampled place, on the same line as the other fields of its sample. */
void place_put(struct printer *printer, const struct sp_place *place, uint64_t fields);

/* Appends the call chain, a line for each function, up to the first function that --stop-bt names. */
void place_put_chain(struct printer *printer, const struct sp_script_item *item, uint64_t fields);

#endif
