/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code of one function, instruction by instruction, with samples and source lines. */
#ifndef SPROF_ANNOTATION_H
#define SPROF_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/options.h>
#include <sprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed members are the defaults. */
struct sp_annotation_options {
	size_t size;	 /* sizeof of this struct */
	bool big_endian; /* byte order of the recorded machine */
	bool intel;	 /* Intel's syntax of x86, instead of AT&T's */
	bool whole;	 /* all instructions of a large function, instead of those near samples */
	enum sp_choice lines; /* SP_OFF: no functions and lines of the debug information */
};

/* Size from which only instructions near samples are listed, and how near, in bytes. */
#define SP_ANNOTATION_LARGE 16384
#define SP_ANNOTATION_NEAR 96

struct sp_annotation;

/*
 * Reads the code of the function that a row belongs to, and finds all rows of that function. The
 * analysis has sp_analysis_rows.annotate, with the keys SP_KEY_DSO and SP_KEY_SYMBOL alone. It must
 * outlive the annotation. Not for several threads with one analysis.
 *
 * Only the recorded code is shown. Fails with SP_ERROR_NOT_FOUND, the reason and a remedy if it is
 * not here, and with SP_ERROR_UNSUPPORTED if the function is too large.
 */
SP_API struct sp_error *sp_annotation_new(const struct sp_profile *profile,
					  const struct sp_row *row,
					  const struct sp_annotation_options *options,
					  struct sp_annotation **ret) SP_MUST_CHECK;
SP_API void sp_annotation_free(struct sp_annotation *annotation);

/* Facts about the function. Texts belong to the annotation or the analysis; NULL: unknown. */
struct sp_annotation_info {
	const struct sp_row *row; /* its hottest instruction, with its symbol and dso */
	uint64_t address;	  /* begin, as nm and objdump have it; the kernel's as it ran */
	bool is_relative; /* addresses are distances from the begin: code made at run time */
	uint64_t bytes;	  /* size of the code */
	uint16_t machine; /* ELF's EM_* */
	uint64_t samples, weight; /* sums of its instructions */
	uint64_t other_samples; /* samples of other code with this name: copies of a JIT compiler */
	uint64_t left_out;	/* bytes that are not listed, because no sample is near */
	size_t overlapping;	/* sampled addresses inside of the instruction before */
	/* Causes of missing texts and lines, and of doubt whether this is the recorded file. */
	const char *text_problem, *text_remedy;
	const char *line_problem, *line_remedy;
	const char *file_problem, *file_remedy;
};

/* Returns the facts, which belong to the annotation. */
SP_API const struct sp_annotation_info *sp_annotation_info(const struct sp_annotation *annotation);

/* A function at an instruction. Equal places of neighbours are one object. */
struct sp_code_place {
	const char *function;		    /* demangled; NULL: unknown */
	const char *file;		    /* absolute path; NULL: unknown */
	uint32_t line;			    /* line of the instruction or of the call; 0: unknown */
	const struct sp_code_place *caller; /* function that it is inlined into; NULL: none */
};

struct sp_code_instruction {
	uint64_t address;
	const uint8_t *code;
	size_t size;	  /* bytes of `code` */
	const char *text; /* "addq $1, %rax"; NULL: no instruction, or no disassembler */
	const struct sp_code_place *place; /* innermost function; NULL: unknown */
	const struct sp_row *row;	   /* its samples; NULL: none */
	bool has_target;		   /* it jumps to, or calls, the address `target` */
	bool is_call;
	bool follows_gap; /* instructions before it are left out */
	uint64_t target;
	const char
		*target_name; /* function that contains the target, if it is another one; or NULL */
};

/* Returns the number of listed instructions; they are in the order of their addresses. */
SP_API size_t sp_annotation_count(const struct sp_annotation *annotation);

/* Returns an instruction, by an index below the count. */
SP_API const struct sp_code_instruction *sp_annotation_code(const struct sp_annotation *annotation,
							    size_t index);

#ifdef __cplusplus
}
#endif
#endif
