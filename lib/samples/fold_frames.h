/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folds frames: leaves them out, so that their time is their callers'. Weights do not change.
 *
 * fold_python() folds the interpreter's frames in stacks of Python code. A Python function is
 * the caller of the frame of CPython's evaluation function that runs it
 * (record/python_record.h). That frame is left out: its time is the function's. Also left out
 * are the interpreter's frames between two evaluations, which make the call: frames of the
 * interpreter's file, whatever their names, because most interpreters are stripped, and its
 * trampolines. Callees of the innermost evaluation, and frames of other files, remain. Frames
 * between the outermost one and the first Python frame, which start the interpreter or a thread,
 * are left out, too.
 *
 * A run of the garbage collector is one frame: its callees in user code are left out.
 *
 * fold_other_code() folds all but the user's own code (frame.own_code). The outermost frame
 * stays if it shows that the stack is complete, or if no frame is the user's own.
 */
#pragma once

#include "samples/counted.h"

/*
 * Both fold callers that stacks_check() has checked, in a buffer of `counted` that is valid
 * until the next call. *leaf_ret: answer for the frame that replaces the sampled address, and is
 * no caller then; ANSWER_FAILED: the sampled address remains. It depends only on the callers,
 * and on CALLERS_OF_OTHERS. Return false when out of memory.
 */
bool fold_python(struct counted *counted, uint32_t view, struct callers *callers,
		 uint32_t *leaf_ret);
bool fold_other_code(struct counted *counted, uint32_t view, struct callers *callers,
		     uint32_t *leaf_ret);
