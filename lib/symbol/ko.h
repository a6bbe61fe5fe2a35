/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of kernel modules: .ko, .ko.xz, .ko.zst, with or without debug information. They have
 * sections and no addresses; the kernel lays the executable ones out one behind the other in
 * the file's order, each aligned as it asks, but those of .init, which it drops.
 */
#ifndef SYMBOL_KO_H
#define SYMBOL_KO_H

#include "symbol/source.h"

/* Opens a module like image_open_in(), and unpacks it. */
struct sp_error *ko_open_file(const char *root, const char *path, struct image **ret) SP_MUST_CHECK;

/* A relocatable file that has the module's build-id. */
bool ko_is_recorded(const struct module *module, const struct image *image);

/* Distances of the sections of code, or UINT64_MAX; the caller's to free. NULL: out of memory. */
uint64_t *ko_lay_out(const struct image *image, size_t *count_ret);

/* Whether a symbol of that name begins at an address of the recording; NULL: not asked. */
typedef bool ko_check_fn(const void *arg, uint64_t address, const char *name);

/* For struct source: the same for all who name kernel modules. */
bool ko_has_lines(const struct source_env *env, const struct module *module);
struct sp_error *ko_open_lines(const struct source_env *env, const struct module *module,
			       ko_check_fn *check, const void *arg, struct diagnosis *diagnosis,
			       struct dwarf **ret, struct placement *placement_ret) SP_MUST_CHECK;

#endif
