/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SAMPLE records with registers and a stack copy: copies their valid parts from a ring, and encodes
 * them as SAMPLE records with a call chain.
 */
#pragma once

#include "capture/ring_bank/record_offsets.h"
#include "record/encode.h"
#include "ring/ring.h"

/* Content of an event's samples. */
struct stack_dump_layout {
	uint32_t head_size;  /* size of the fixed fields, from the record's beginning */
	bool has_read, has_raw, has_branches, has_interrupt, has_aux;
	uint64_t read_format;
	bool branch_index, branch_counters;
	uint32_t words_behind;      /* words after the stack: weight, data_src, transaction */
	uint32_t words_last;        /* after the interrupt's registers */
	uint32_t interrupt_registers;
	uint64_t kept_mask;         /* user registers for the file */
	uint32_t registers;  /* number of registers in a sample, if it has any */
	uint64_t register_mask;
	uint32_t ip_index, sp_index; /* indexes of IP and SP, by perf's numbers of this machine */
};

/*
 * Returns false if samples of this event lack registers or a stack copy. `kept`: registers for the
 * file.
 */
bool stack_dump_layout_make(const struct perf_event_attr *attr, uint64_t kept, const char *machine,
			    struct stack_dump_layout *ret);

/*
 * Converts an attr to that of the encoded records: with a whole call chain, with the registers
 * `kept`, and without stack copies.
 */
void stack_dump_file_attr(struct perf_event_attr *attr, uint64_t kept);

/* The parts of a sample, by their places in the ring. */
struct stack_dump_parts {
	uint64_t position;      /* the header's position */
	uint32_t head_size;     /* bytes before the chain's count */
	uint32_t chain_count;   /* the kernel's part */
	uint32_t caller_count;  /* the user's part, by frame pointers, without its mark */
	uint32_t middle_size;   /* raw data and branches, with their sizes; 0: none */
	uint32_t tail_size;     /* fields after the stack */
	uint64_t middle_at, registers_at, stack_at, tail_at; /* positions */
	uint64_t abi;           /* PERF_SAMPLE_REGS_ABI_*: NONE: the task has no user space */
	uint32_t stack_size;    /* valid bytes */
	uint32_t stack_asked;   /* size of the copy; 0: the kernel did not try */
};

/* Finds the parts. Returns false if the record does not match its event. */
bool stack_dump_find(const struct stack_dump_layout *layout, const struct ring *ring, uint64_t position,
		     const struct perf_event_header *header, struct stack_dump_parts *ret);

/*
 * A copied sample. `words` holds: head, kernel chain, middle, tail, registers, the user's call
 * chain by frame pointers, stack.
 */
struct dump {
	uint32_t size;       /* total, a multiple of 8 */
	uint32_t view;       /* machine/live.h */
	uint32_t head_size, chain_count, middle_size, tail_size, register_count, caller_count;
	uint32_t stack_size, stack_asked;
	uint64_t abi;
	/* The caller sets these: */
	uint64_t helper;     /* not written to the file */
	uint64_t space;      /* live_space() of `view` */
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t words[];
};

/* Returns the size of a copy, `with_stack` or without. */
size_t stack_dump_size(const struct stack_dump_layout *layout, const struct stack_dump_parts *parts,
		       bool with_stack);

/* Copies the sample to `ret`, which has that size and is aligned to 8. */
void stack_dump_copy(const struct stack_dump_layout *layout, const struct stack_dump_parts *parts,
		     const struct ring *ring, bool with_stack, struct dump *ret);

static inline const uint64_t *stack_dump_registers(const struct dump *dump)
{
	return dump->words + (dump->head_size + dump->middle_size + dump->tail_size) / 8 +
	       dump->chain_count;
}

/* Returns the kernel's chain of user code, from the sampled address on. */
static inline const uint64_t *stack_dump_callers(const struct dump *dump)
{
	return stack_dump_registers(dump) + dump->register_count;
}

static inline const uint8_t *dump_stack(const struct dump *dump)
{
	return (const uint8_t *)(stack_dump_callers(dump) + dump->caller_count);
}

/* The user's part of a chain, the innermost frame first. */
struct stack_dump_chain {
	const uint64_t *ips;
	size_t count;
	uint16_t misc;  /* SP_MISC_*, but SHORTENED */
};

/*
 * Appends the SAMPLE with the kernel's chain and then the user's. If there are more frames than
 * `limit` or a record holds, leaves out frames in the middle, and sets SP_MISC_SHORTENED. Fails
 * only when out of memory.
 */
struct sp_error *stack_dump_encode(const struct stack_dump_layout *layout, struct record_buffer *buffer,
				   const struct dump *dump,
				   const struct stack_dump_chain *chain,
				   size_t limit) SP_MUST_CHECK;
