/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence that a file without a build-id is the recorded one (lib/binary/identity.h). */
#include <unistd.h>
#include "binary/identity.h"
#include "record/content.h"
#include "resolving.h"

#define RECORDED_UNTIL UINT64_C(1700000000000000000)
#define BEFORE "@1600000000"

static uint64_t offset;
static char hostname[256];

/* A program without a build-id, as it was recorded on this host. */
static void start(struct resolving *r, uint64_t until_ns)
{
	ck_assert_int_eq(gethostname(hostname, sizeof(hostname)), 0);
	resolving_compile("prog", "-Wl,--build-id=none");
	offset = resolving_function("prog", "work");
	resolving_use(r, "prog");
	ck_assert_int_eq(r->module.build_id_size, 0);
	r->options.hostname = hostname;
	r->options.until_ns = until_ns;
}

static void expect(struct resolving *r, enum resolver_problem problem, const char *text)
{
	bool named = problem == RESOLVER_OK || problem == RESOLVER_UNPROVEN;
	resolving_start(r);
	resolving_expect(r, offset, named ? "work" : NULL);
	resolving_problem(r, problem, text);
	resolving_stop(r);
}

/* By --symfs the user says that the files are right. */
static void expect_insisted(struct resolving *r, enum resolver_problem problem)
{
	r->options.symfs = "/";
	expect(r, problem, NULL);
}

/* Notes the content as the recorder does. */
static void keep_content(struct resolving *r)
{
	struct image *image;
	ok_or_fail(image_open(files_path("prog"), &image));
	r->module.content_size = image->size;
	ck_assert(identity_hash(image, &r->module.content_hash));
	image_free(image);
}

TEST(another_inode_is_another_file)
{
	/* Also after a reboot into another kernel, where devices may have other numbers. */
	for (int reboot = 0; reboot < 2; reboot++) {
		RESOLVING r = {.options.osrelease = reboot ? "1.2.3-elsewhere" : NULL};
		start(&r, 0);
		r.module.min += reboot;
		expect(&r, RESOLVER_OK, NULL);
		files_run("cp prog new && mv new prog");
		expect(&r, RESOLVER_WRONG_FILE, "is not the recorded file: inode");
		expect_insisted(&r, RESOLVER_OK);
	}
}

TEST(a_file_that_was_modified_after_the_recording_is_another)
{
	for (int reboot = 0; reboot < 2; reboot++) {
		RESOLVING r = {.options.osrelease = reboot ? "1.2.3-elsewhere" : NULL};
		start(&r, RECORDED_UNTIL);
		files_run("touch -d @1700000001 prog");
		expect(&r, RESOLVER_WRONG_FILE, "was modified after it was recorded");
		expect_insisted(&r, RESOLVER_OK);
	}
}

/* `touch -r`, cp -p, tar and rsync do this. */
TEST(a_file_with_its_old_mtime_but_a_new_ctime_is_unproven)
{
	RESOLVING r = {0};
	start(&r, RECORDED_UNTIL);
	files_run("touch -d " BEFORE " prog");
	expect(&r, RESOLVER_UNPROVEN, "was changed (ctime) after it was recorded");
	expect_insisted(&r, RESOLVER_OK);
	/* Its content is proof. */
	r.options.symfs = NULL;
	keep_content(&r);
	expect(&r, RESOLVER_OK, NULL);
}

TEST(other_content_is_another_file)
{
	RESOLVING r = {0};
	start(&r, RECORDED_UNTIL);
	keep_content(&r);
	files_run("printf x | dd of=prog conv=notrunc bs=1 seek=$(($(stat -c %%s prog) - 1)) "
		  "2>/dev/null && touch -d " BEFORE " prog");
	expect(&r, RESOLVER_WRONG_FILE, "its content differs");
	files_run("printf x >>prog && touch -d " BEFORE " prog");
	expect(&r, RESOLVER_WRONG_FILE, "size");
	expect_insisted(&r, RESOLVER_OK);
}

TEST(the_same_content_is_the_same_file_anywhere)
{
	RESOLVING r = {.options.osrelease = "1.2.3-elsewhere"};
	start(&r, RECORDED_UNTIL);
	keep_content(&r);
	r.options.hostname = "elsewhere";
	files_run("cp prog new && mv new prog");
	expect(&r, RESOLVER_OK, NULL);
}

TEST(files_of_another_host_must_have_the_inode)
{
	RESOLVING r = {0};
	start(&r, 0);
	r.options.hostname = "elsewhere";
	expect(&r, RESOLVER_UNPROVEN, "has the recorded inode, but was recorded on another host");
	uint64_t inode = r.module.ino;
	r.module.ino = 0;
	expect(&r, RESOLVER_WRONG_FILE, "recorded on another host, without inode or build-id");
	r.module.ino = inode + 1;
	expect(&r, RESOLVER_WRONG_FILE, "inode");
	expect_insisted(&r, RESOLVER_OK);
}

TEST(a_recording_without_its_host_and_inodes_proves_nothing)
{
	RESOLVING r = {0};
	start(&r, 0);
	r.options.hostname = NULL;
	expect(&r, RESOLVER_OK, NULL);
	r.module.ino = 0;
	expect(&r, RESOLVER_UNPROVEN, "the recording has neither inode nor build-id of ");
	/* On this host, not changed since: as MMAP records of perf before 3.16 have it. */
	r.options.hostname = hostname;
	expect(&r, RESOLVER_OK, NULL);
}

TEST(files_for_another_machine_are_others)
{
#ifdef __x86_64__
	const char *arch = "aarch64";
#else
	const char *arch = "x86_64";
#endif
	RESOLVING r = {.options.arch = arch};
	start(&r, 0);
	expect(&r, RESOLVER_WRONG_FILE, "is not the recorded file: ELF machine");
	/* They say so, but what they say is doubtful. */
	expect_insisted(&r, RESOLVER_UNPROVEN);
}

TEST(machines_that_architectures_run)
{
	static const struct {
		const char *arch;
		uint16_t machine;
		bool runs;
	} cases[] = {
		{"x86_64", EM_X86_64, true}, {"x86_64", EM_386, true}, {"x86_64", EM_AARCH64, false},
		{"i686", EM_386, true}, {"i686", EM_X86_64, false}, {"aarch64", EM_ARM, true},
		{"armv7l", EM_ARM, true}, {"armv7l", EM_AARCH64, false}, {"ppc64le", EM_PPC64, true},
		{"s390x", EM_S390, true}, {"riscv64", EM_RISCV, true}, {"riscv64", EM_X86_64, false},
		{"unheard-of", EM_X86_64, true}, {NULL, EM_X86_64, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_msg(identity_runs_on(cases[i].machine, cases[i].arch) == cases[i].runs,
			      "%s %u", cases[i].arch, cases[i].machine);
}

/* A recorder's own name of what it put into the recording, and a file of that name here. */
TEST(no_file_below_the_current_directory)
{
	RESOLVING r = {0};
	start(&r, 0);
	ck_assert_int_eq(chdir(files_folder()), 0);
	r.module.path = "prog";
	expect(&r, RESOLVER_MISSING_FILE, "prog");
}

TEST(content_of_files_in_a_recording)
{
	const struct file_content content = {.path = "/usr/bin/prog", .size = 123456,
					     .hash = UINT64_C(0x123456789abcdef0), .ino = 42,
					     .maj = 8, .min = 1};
	struct record_buffer buffer = {0};
	ok_or_fail(record_encode_content(&buffer, &content));
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = CONTENT_KIND, .data = {buffer.items + 24,
								buffer.count - 24}},
	};
	struct file_content read;
	ck_assert(record_content(&record, &read));
	ck_assert_str_eq(read.path, content.path);
	ck_assert_uint_eq(read.size, content.size);
	ck_assert_uint_eq(read.hash, content.hash);
	ck_assert_uint_eq(read.ino, content.ino);
	ck_assert_uint_eq(read.maj, content.maj);
	ck_assert_uint_eq(read.min, content.min);
	for (size_t size = 0; size < CONTENT_FIXED_SIZE + strlen(content.path); size++) {
		record.event_update.data.size = size;
		ck_assert(!record_content(&record, &read));
	}
	vec_deinit(&buffer);
	/* One after the other, the parts of a file hash as the whole. */
	const char text[] = "0123456789abcdefXYZ";
	ck_assert_uint_eq(content_hash_add(content_hash_add(0, text, 16), text + 16, 3),
			  content_hash_add(0, text, 19));
}
