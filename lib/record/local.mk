# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/record/command_line.c lib/record/command_line.h \
	lib/record/content.c lib/record/content.h \
	lib/record/encode.c lib/record/encode.h \
	lib/record/fixed_fields.c lib/record/fixed_fields.h \
	lib/record/put.h \
	lib/record/kept.c lib/record/kept.h \
	lib/record/record_length.c lib/record/record_length.h \
	lib/record/note.c lib/record/note.h \
	lib/record/note_texts.c lib/record/private_record.c lib/record/private_record.h \
	lib/record/secrets.c lib/record/secrets.h \
	lib/record/task_change.c lib/record/task_change.h
lib_libsprof_core_la_SOURCES += lib/record/python_record.c lib/record/python_record.h
lib_libsprof_core_la_SOURCES += lib/record/raw.h
lib_libsprof_core_la_SOURCES += lib/record/attr_words.c
lib_libsprof_core_la_SOURCES += lib/record/lock_in.c lib/record/name_tables.c lib/record/words.c
lib_libsprof_core_la_SOURCES += lib/record/types.c lib/record/types.h
lib_libsprof_core_la_SOURCES += lib/record/attr.c lib/record/attr.h
lib_libsprof_core_la_SOURCES += lib/record/decode.c lib/record/decode.h
lib_libsprof_core_la_SOURCES += lib/record/decode_sample.c lib/record/decode_internal.h
lib_libsprof_core_la_SOURCES += lib/record/decode_user.c
UNIT_TESTS += \
	tests/unit/test_decode.c \
	tests/unit/test_secrets.c \
	tests/unit/test_decode_user.c
UNIT_TESTS += tests/unit/test_encode.c
UNIT_TESTS += tests/unit/test_roundtrip.c
UNIT_TESTS += tests/unit/test_words.c
