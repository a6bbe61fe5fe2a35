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

/* All zero but `size`: samples alone, with call chains, by time. Borrowed until the script is freed. */
struct sp_script_options {
	size_t size;           /* sizeof of this struct */
	uint64_t kernel_types; /* other wanted records: sets of 1 << PERF_RECORD_* … */
	uint64_t user_types;   /* … and of 1 << (enum sp_user_record - 64) */
	enum sp_choice samples;
	bool in_file_order;    /* not by time */
	enum sp_choice chains; /* off: samples have their place alone */
	unsigned int max_stack; /* no more ips of a chain; 0: all */
	enum sp_choice inlines; /* off: functions are symbols, without debug information */
	bool lines;            /* source lines are wanted */
	const struct sp_filter *filter; /* other records must be of its cpus, too; NULL: all pass */
	/*
	 * Also returns samples that filters other than cpus reject, as `hidden` and without a call
	 * chain. Counters in samples need them.
	 */
	bool tell_all;
	struct sp_string_list events; /* samples must be of one of these, if there are any */
	const struct sp_files *files; /* NULL: defaults */
	unsigned int threads; /* to prepare with; 0: as many as processors */
};

struct sp_script;

/*
 * Reads the recording once to know its mappings and its order (16 bytes of memory a record),
 * and, where inlined functions or lines are wanted and there is debug information, once more.
 * The reader is used and must outlive the script; damage is in sp_reader_damage(). Fails when
 * out of memory, when the file cannot be read, or when asked for an engine that is none.
 */
SP_API struct sp_error *sp_script_open(struct sp_ctx *ctx, struct sp_reader *reader,
				       const struct sp_script_options *options,
				       struct sp_script **ret) SP_MUST_CHECK;
SP_API void sp_script_free(struct sp_script *script);

/* Batches tell the story when read one after the other. */
SP_API size_t sp_script_batch_count(const struct sp_script *script);

/* How many records the story has, before filters by comm, dso and symbol. */
SP_API uint64_t sp_script_record_count(const struct sp_script *script);

/* Why copies of stacks are not unwound; NULL: they are, or there are none. */
SP_API const struct sp_error *sp_script_unwinding_refusal(const struct sp_script *script);

/* How many samples were lost while it was recorded, as far as is known. */
SP_API uint64_t sp_script_lost(const struct sp_script *script);

/*
 * Returns one sentence for each limit of JIT symbols (a jitdump that is missing, refused, or of
 * another clock); NULL after the last. Belongs to the script.
 */
SP_API const char *sp_script_note(const struct sp_script *script, size_t index);

/* A function at a place. */
struct sp_place_frame {
	const char *name;   /* perf's name, or that of from_cfi; NULL: unknown */
	uint64_t offset;    /* from the begin of the symbol that holds the place */
	const char *file;   /* whole path; NULL: not known, or lines are not wanted */
	uint32_t line;      /* 0: not known */
	bool inlined;       /* into the next frame's */
	bool from_cfi;      /* no symbol: "fn@0x" and the ELF address of a range of .eh_frame or
			     * .debug_frame */
};

/* Place of an address. */
struct sp_place {
	uint64_t ip;      /* address in perf's form */
	uint32_t number;  /* among those of its teller, from 0: to keep texts by */
	uint16_t cpumode;
	bool is_mapped;   /* something is known to be there */
	const char *dso;  /* perf script's text: a path, "[kernel.kallsyms]", "[unknown]" */
	const char *dso_name; /* text in reports: "libc.so.6" */
	uint64_t address; /* in the module: where in its file; kernel: the ip */
	const struct sp_place_frame *frames; /* innermost first; the last one is not inlined */
	size_t frame_count; /* at least 1 */
};

/* One record of the story. */
struct sp_script_item {
	const struct sp_record *record;
	uint64_t time_ns;     /* time in its sample_id or sample; 0: none */
	uint32_t pid, tid;    /* its thread; UINT32_MAX: none */
	const char *comm;     /* the thread's name at that time; ":-1" without a thread */
	/* Samples only: */
	bool hidden;          /* a filter holds it back */
	const struct sp_place *place; /* NULL: it has no ip */
	bool has_chain;       /* there is a call chain, which may be empty */
	const struct sp_place *const *chain; /* innermost first */
	size_t chain_count;
};

/* Reads batches; one for each thread. All it hands out lives as long as it does, but for items. */
struct sp_teller;

/* Fails only when out of memory. The script must outlive it. NULL may be freed. */
SP_API struct sp_error *sp_teller_new(struct sp_script *script,
				      struct sp_teller **ret) SP_MUST_CHECK;
SP_API void sp_teller_free(struct sp_teller *teller);

/* Goes to the begin of a batch. */
SP_API struct sp_error *sp_teller_begin(struct sp_teller *teller, size_t batch) SP_MUST_CHECK;

/* The next record; *ret is NULL behind the batch's last. Valid until the next call. */
SP_API struct sp_error *sp_teller_next(struct sp_teller *teller,
				       const struct sp_script_item **ret) SP_MUST_CHECK;

/*
 * Returns the place of an address of the last item: its data address or a branch's end. NULL only
 * when out of memory.
 */
SP_API const struct sp_place *sp_teller_place(struct sp_teller *teller, uint64_t ip);

/*
 * Reads `size` bytes of code from ip on, from the file that the task of the item last given has
 * mapped there; *machine_ret is what it is for (ELF's EM_*). False where the file is not at hand or
 * ends before, and of the kernel's code, a guest's, and what is made at run time.
 */
SP_API bool sp_teller_code(struct sp_teller *teller, uint64_t ip, void *code, size_t size,
			   uint16_t *machine_ret);

#ifdef __cplusplus
}
#endif
#endif
