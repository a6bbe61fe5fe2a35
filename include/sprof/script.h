/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Script: a recording's records in time order, each with its process, thread and the functions of
 * its addresses. It is divided into batches. Several threads can read it at once, each with its own
 * teller:
 *
 *	sp_script_open(ctx, reader, &options, &script);
 *	sp_teller_new(script, &teller);
 *	for (size_t i = 0; i < sp_script_batch_count(script); i++) {
 *		sp_teller_begin(teller, i);
 *		while (!sp_teller_next(teller, &item) && item)
 *			printf("%s\n", item->comm);
 *	}
 */
#ifndef SPROF_SCRIPT_H
#define SPROF_SCRIPT_H

#include <sprof/ctx.h>
#include <sprof/filter.h>
#include <sprof/options.h>
#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options. Zeroed: only samples, with call chains, by time. Borrowed until sp_script_free(). */
struct sp_script_options {
	size_t size;           /* sizeof of this struct */
	uint64_t kernel_types; /* other record types to return: bits 1 << PERF_RECORD_* … */
	uint64_t user_types;   /* … and 1 << (enum sp_user_record - 64) */
	enum sp_choice samples;
	bool in_file_order;    /* not by time */
	enum sp_choice chains; /* off: samples have no call chain, only their place */
	unsigned int max_stack; /* limit of ips in a chain; 0: none */
	enum sp_choice inlines; /* off: functions are symbols, without debug information */
	bool lines;            /* find source lines */
	const struct sp_filter *filter; /* its cpus apply to other records, too; NULL: all pass */
	/*
	 * Also returns samples that filters other than cpus reject, as `hidden` and without a call
	 * chain. Counters in samples need them.
	 */
	bool tell_all;
	struct sp_string_list events; /* only samples of these events; empty: of all */
	const struct sp_files *files; /* NULL: defaults */
	unsigned int threads; /* threads of sp_script_open(); 0: as many as processors */
};

struct sp_script;

/*
 * Reads the recording's mappings and the order of its records (16 bytes of memory for each). If
 * inlined functions or lines are requested, and there is debug information, reads it a second time.
 * The reader must outlive the script; sp_reader_damage() has the damage. sp_script_free() frees
 * *ret. Fails when out of memory, if the file cannot be read, or if the unwinder does not exist.
 */
SP_API struct sp_error *sp_script_open(struct sp_ctx *ctx, struct sp_reader *reader,
				       const struct sp_script_options *options,
				       struct sp_script **ret) SP_MUST_CHECK;
SP_API void sp_script_free(struct sp_script *script);

/* Number of batches; in order, they have all records. */
SP_API size_t sp_script_batch_count(const struct sp_script *script);

/* Number of records, before filters by comm, dso and symbol. */
SP_API uint64_t sp_script_record_count(const struct sp_script *script);

/*
 * Returns the reason why stack copies are not unwound; NULL: they are, or there are none. It
 * belongs to the script.
 */
SP_API const struct sp_error *sp_script_unwinding_refusal(const struct sp_script *script);

/* Number of lost samples; of the target or of others if the recording does not tell them apart. */
SP_API uint64_t sp_script_lost(const struct sp_script *script);

/*
 * Returns one sentence for each limit of JIT symbols (a jitdump that is missing, refused, or of
 * another clock); NULL after the last. Belongs to the script.
 */
SP_API const char *sp_script_note(const struct sp_script *script, size_t index);

/* Function at a place. */
struct sp_place_frame {
	const char *name;   /* perf's name, or that of from_cfi; NULL: unknown */
	uint64_t offset;    /* from the start of the symbol that contains the place */
	const char *file;   /* absolute path; NULL: unknown, or lines are not requested */
	uint32_t line;      /* 0: not known */
	bool inlined;       /* inlined into the next frame's function */
	bool from_cfi;      /* no symbol: "fn@0x" and the ELF address of a range of .eh_frame or
			     * .debug_frame */
};

/* Place of an address. */
struct sp_place {
	uint64_t ip;      /* address in perf's form */
	uint32_t number;  /* number among its teller's places, from 0: an index for caches */
	uint16_t cpumode;
	bool is_mapped;   /* a known mapping contains it */
	const char *dso;  /* perf script's text: a path, "[kernel.kallsyms]", "[unknown]" */
	const char *dso_name; /* text in reports: "libc.so.6" */
	uint64_t file_offset; /* in the module's file; kernel and generated code: the ip */
	uint64_t elf_address; /* if has_elf_address: as nm, objdump and addr2line have it */
	bool has_elf_address;
	const void *frames; /* sp_place_frame(): innermost first; the last one is not inlined */
	size_t frame_count; /* at least 1 */
};

/* Returns a frame, by an index below frame_count. */
SP_API const struct sp_place_frame *sp_place_frame(const struct sp_place *place, size_t index);

/* One record. */
struct sp_script_item {
	const struct sp_record *record;
	uint64_t time_ns;     /* time in its sample_id or sample; 0: none */
	uint32_t pid, tid;    /* its thread; UINT32_MAX: none */
	const char *comm;     /* the thread's name at that time; ":-1" without a thread */
	/* Samples only: */
	bool hidden;          /* a filter excludes it */
	const struct sp_place *place; /* NULL: the sample has no ip */
	bool has_chain;       /* there is a call chain, which may be empty */
	const struct sp_place *const *chain; /* innermost first */
	size_t chain_count;
};

/*
 * Iterator over batches, one for each thread. Objects that it returns are valid until it is freed,
 * except items.
 */
struct sp_teller;

/* Fails only when out of memory. The script must outlive it. NULL may be freed. */
SP_API struct sp_error *sp_teller_new(struct sp_script *script,
				      struct sp_teller **ret) SP_MUST_CHECK;
SP_API void sp_teller_free(struct sp_teller *teller);

/* Moves to the start of a batch, below sp_script_batch_count(). */
SP_API struct sp_error *sp_teller_begin(struct sp_teller *teller, size_t batch) SP_MUST_CHECK;

/* Reads the next record; *ret is NULL after the batch's last one. Valid until the next call. */
SP_API struct sp_error *sp_teller_next(struct sp_teller *teller,
				       const struct sp_script_item **ret) SP_MUST_CHECK;

/*
 * Returns the place of an address of the last item: its data address or a branch's end. NULL only
 * when out of memory.
 */
SP_API const struct sp_place *sp_teller_place(struct sp_teller *teller, uint64_t ip);

/*
 * Reads `size` bytes of code at `ip`, from the file that the last item's task has mapped there.
 * *machine_ret is its machine (ELF's EM_*). Returns false if the file is missing or too short, and
 * for code of the kernel, of guests, and generated code.
 */
SP_API bool sp_teller_code(struct sp_teller *teller, uint64_t ip, void *code, size_t size,
			   uint16_t *machine_ret);

#ifdef __cplusplus
}
#endif
#endif
