/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the profiles of an analysis from the merged recordings. */
#pragma once

#include "rows/merged.h"

/* Makes the rows, trees and groups of the analysis, after all recordings were added. */
struct sp_error *profiles_make(struct merged *merged) SP_MUST_CHECK;
