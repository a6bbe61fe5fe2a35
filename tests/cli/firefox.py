#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of profiles for the Firefox Profiler. Problems are printed, and the exit status is 1.

firefox.py structure PROFILE        tables are complete and indexes are in range
firefox.py report PROFILE REPORT    sums by function equal those of 'report --format json -s dso,function'
firefox.py viewer PROFILE COMMAND...
                                    the same sums by the viewer's own command (profiler-cli)
"""
import collections
import gzip
import json
import os
import subprocess
import sys

problems = 0


def problem(text):
    global problems
    problems += 1
    if problems <= 20:
        print(text)


def load(path):
    with open(path, 'rb') as file:
        data = file.read()
    return json.loads(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)


def in_range(name, column, count, none=()):
    if any(i not in none and not (isinstance(i, int) and 0 <= i < count) for i in column):
        problem('%s: an index is not below %d' % (name, count))


# Columns that version 66 requires, besides "length".
COLUMNS = {
    'stackTable': 'frame prefixOffset',
    'frameTable': 'address inlineDepth category subcategory func nativeSymbol innerWindowID line '
                  'column originalLocation',
    'funcTable': 'name isJS relevantForJS resource source lineNumber columnNumber originalLocation',
    'resourceTable': 'lib name host type',
    'nativeSymbols': 'libIndex address name functionSize',
    'sources': 'id filename startLine startColumn sourceMapURL content',
    'sourceLocationTable': 'source line column',
    'samples': 'stack time threadCPUDelta',
    'markers': 'data name startTime endTime phase category',
}


def check_table(name, table):
    for column in COLUMNS[name].split():
        if len(table[column]) != table['length']:
            problem('%s.%s has %d values, not %d' % (name, column, len(table[column]), table['length']))


def check_shared(profile):
    shared = profile['shared']
    for name in COLUMNS:
        if name in shared:
            check_table(name, shared[name])
    strings = len(shared['stringArray'])
    frames, functions, stacks = shared['frameTable'], shared['funcTable'], shared['stackTable']
    in_range('stackTable.frame', stacks['frame'], frames['length'])
    if any(not 0 <= offset <= i for i, offset in enumerate(stacks['prefixOffset'])):
        problem('stackTable: a parent does not precede its child')
    in_range('frameTable.func', frames['func'], functions['length'])
    in_range('frameTable.category', frames['category'], len(profile['meta']['categories']))
    in_range('frameTable.nativeSymbol', frames['nativeSymbol'], shared['nativeSymbols']['length'], [None])
    in_range('frameTable.address', frames['address'], 1 << 32, [-1])
    in_range('funcTable.name', functions['name'], strings)
    in_range('funcTable.resource', functions['resource'], shared['resourceTable']['length'], [-1])
    in_range('funcTable.source', functions['source'], shared['sources']['length'], [None])
    in_range('resourceTable.name', shared['resourceTable']['name'], strings)
    in_range('resourceTable.lib', shared['resourceTable']['lib'], len(profile['libs']))
    in_range('nativeSymbols.libIndex', shared['nativeSymbols']['libIndex'], len(profile['libs']))
    in_range('nativeSymbols.name', shared['nativeSymbols']['name'], strings)
    in_range('nativeSymbols.address', shared['nativeSymbols']['address'], 1 << 32)
    in_range('sources.filename', shared['sources']['filename'], strings)
    if len(set(shared['stringArray'])) < strings and '\ufffd' not in ''.join(shared['stringArray']):
        problem('stringArray has duplicates')
    for i, frame in enumerate(stacks['frame']):
        depth, offset = frames['inlineDepth'][frame], stacks['prefixOffset'][i]
        if not depth:
            continue
        parent = stacks['frame'][i - offset]
        if not offset or frames['inlineDepth'][parent] != depth - 1 or \
           frames['nativeSymbol'][parent] != frames['nativeSymbol'][frame]:
            problem('stack %d: an inlined frame does not follow its caller' % i)


def check_thread(profile, thread):
    samples = thread['samples']
    check_table('samples', samples)
    check_table('markers', thread['markers'])
    if samples['weight'] is not None and len(samples['weight']) != samples['length']:
        problem('samples.weight has a wrong length')
    in_range('samples.stack', samples['stack'], profile['shared']['stackTable']['length'], [None])
    times = samples['time']
    end = profile['meta']['profilingEndTime']
    if times != sorted(times):
        problem('times of %s are not in order' % thread['name'])
    if times and not 0 <= times[0] <= times[-1] < end:
        problem('times of %s are not within the profile' % thread['name'])


def structure(profile):
    meta = profile['meta']
    if meta['preprocessedProfileVersion'] != 66:
        problem('the version is not 66')
    check_shared(profile)
    if not profile['threads']:
        problem('there is no thread')
    for thread in profile['threads']:
        check_thread(profile, thread)
    in_range('initialVisibleThreads', meta['initialVisibleThreads'], len(profile['threads']))
    if len(meta['initialVisibleThreads']) > 10:
        problem('more than 10 threads are shown')
    if len(set((t['pid'], t['tid']) for t in profile['threads'])) < len(profile['threads']):
        problem('two threads have one identity')
    for library in profile['libs']:
        if len(library['breakpadId']) != 33:
            problem('a breakpadId has no 33 digits')


def function_key(profile, function):
    shared = profile['shared']
    functions, resources = shared['funcTable'], shared['resourceTable']
    resource = functions['resource'][function]
    library = None if resource < 0 else shared['stringArray'][resources['name'][resource]]
    return library, shared['stringArray'][functions['name'][function]]


def sums(profile):
    """Returns self and total weights by function: once for each stack with the function."""
    shared = profile['shared']
    stacks, function_of = shared['stackTable'], shared['frameTable']['func']
    weight_of = collections.Counter()
    for thread in profile['threads']:
        samples = thread['samples']
        weights = samples['weight'] or [1] * samples['length']
        for stack, weight in zip(samples['stack'], weights):
            weight_of[stack] += weight
    own, total = collections.Counter(), collections.Counter()
    for stack, weight in weight_of.items():
        if stack is None:
            continue
        own[function_key(profile, function_of[stacks['frame'][stack]])] += weight
        seen = set()
        while True:
            seen.add(function_of[stacks['frame'][stack]])
            offset = stacks['prefixOffset'][stack]
            if not offset:
                break
            stack -= offset
        for function in seen:
            total[function_key(profile, function)] += weight
    return own, total


def unit(profile, event):
    """Returns the row's member with the profile's weights, and its factor."""
    samples = profile['threads'][0]['samples']
    if samples['weightType'] == 'tracing-ms':
        return 'weight', 1e-6
    facts = profile['meta']['extra'][0]['entries']
    shown = next(fact['value'] for fact in facts if fact['label'] == 'Samples')
    count = sum(sum(t['samples']['weight'] or [1] * t['samples']['length']) for t in profile['threads'])
    return ('samples' if count == shown else 'weight'), 1


def compare(name, wanted, got):
    for key in sorted(set(wanted) | set(got), key=str):
        if abs(wanted[key] - got[key]) > 1e-8 * abs(wanted[key]):
            problem('%s of %s: %s, not %s' % (name, key, got[key], wanted[key]))


def compare_report(profile, report):
    event = report['events'][0]
    member, factor = unit(profile, event)
    wanted = collections.Counter(), collections.Counter()
    for row in event['rows']:
        key = row.get('dso'), row['function'].encode('utf-8', 'replace').decode()
        wanted[0][key] += row['self_' + member] * factor
        wanted[1][key] += row.get('total_' + member, row['self_' + member]) * factor
    own, total = sums(profile)
    # Stacks without callers begin with a note, which is no function.
    for got in own, total:
        for key in [key for key in got if key[0] is None and key not in wanted[0]]:
            del got[key]
    compare('self', wanted[0], own)
    compare('total', wanted[1], total)
    if not wanted[0]:
        problem('the report has no rows')


def compare_viewer(profile, command):
    def viewer(*arguments):
        return subprocess.run(command + list(arguments), check=True, stdout=subprocess.PIPE).stdout

    own, total = collections.Counter(), collections.Counter()
    shared = profile['shared']
    for i, thread in enumerate(profile['threads']):
        answer = json.loads(viewer('thread', 'functions', '--thread', 't-%d' % i, '--json', '--limit', '0'))
        if answer['weightType'] != thread['samples']['weightType']:
            problem('the viewer has another type of weight')
        for row in answer['functions']:
            key = function_key(profile, row['functionIndex'])
            if row['name'] != key[1] or row.get('library') not in (None, (key[0] or '').split('/')[-1]):
                problem('the viewer names %s %s' % (key, row['name']))
            own[key] += row['selfSamples']
            total[key] += row['totalSamples']
    wanted = sums(profile)
    compare('viewer: self', wanted[0], own)
    compare('viewer: total', wanted[1], total)
    if not shared['funcTable']['length']:
        problem('there is no function')


if __name__ == '__main__':
    document = load(sys.argv[2])
    if sys.argv[1] == 'structure':
        structure(document)
    elif sys.argv[1] == 'report':
        compare_report(document, load(sys.argv[3]))
    else:
        compare_viewer(document, sys.argv[3:])
    sys.exit(1 if problems else 0)
