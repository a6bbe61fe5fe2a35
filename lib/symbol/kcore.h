/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code of the running kernel and its modules, from /proc/kcore, which only root may read. */
#ifndef SYMBOL_KCORE_H
#define SYMBOL_KCORE_H

#include <sprof/ctx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads code as it is in memory now. *machine_ret is ELF's EM_*. False if the file may not be read,
 * is damaged, or does not have all of the range.
 */
bool kcore_read(struct sp_ctx *ctx, uint64_t address, size_t size, uint8_t *ret,
		uint16_t *machine_ret);

#endif
