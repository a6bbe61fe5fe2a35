/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spells names of files and functions alike in all builds of a program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the size of a library's name without its version: "libz.so" of "libz.so.1.2.13". */
size_t object_name_size(const char *dso);

/* Returns whether the name is of a program: no library, kernel, or memory without a file. */
bool object_is_program(const char *dso);

/* Returns the size of a function's name without the suffix of a clone: "f" of "f.constprop.0". */
size_t function_name_size(const char *function);

/* Returns the size of a name without the file that ends it: "f" of "f [app]". */
size_t unfiled_name_size(const char *function);
