// SPDX-License-Identifier: GPL-2.0-or-later
// The page's data, without the browser's document: decoding. html.c describes the format.
"use strict";

// Reads columns of varints.
class Columns {
	constructor(bytes, at) {
		this.bytes = bytes;
		this.at = at;
	}

	// Returns `count` numbers. Numbers above 2^53 lose their lowest bits.
	column(count, type = Float64Array) {
		const bytes = this.bytes, values = new type(count);
		let at = this.at;
		for (let i = 0; i < count; i++) {
			let byte = bytes[at++];
			if (byte < 128) {
				values[i] = byte;
				continue;
			}
			let value = byte & 127, unit = 128;
			do {
				byte = bytes[at++];
				value += (byte & 127) * unit;
				unit *= 128;
			} while (byte >= 128);
			values[i] = value;
		}
		this.at = at;
		return values;
	}
}

function decodeTree(bytes) {
	const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
	const profile = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
	const columns = new Columns(bytes, 4 + size), count = profile.functionCount;
	profile.functions = {
		name: columns.column(count, Uint32Array),
		dso: columns.column(count, Uint32Array),
		path: columns.column(count, Uint32Array),
		kind: columns.column(count, Uint8Array),
	};
	for (const event of profile.events) {
		const nodes = event.nodes, rows = event.rows;
		event.node = {
			parent: columns.column(nodes, Uint32Array).map((distance, i) => i - distance),
			fn: columns.column(nodes, Uint32Array),
			inlined: columns.column(nodes, Uint8Array),
			samples: columns.column(nodes),
			weight: columns.column(nodes),
		};
		if (event.period)
			event.node.weight = event.node.samples.map((samples) => samples * event.period);
		event.row = {
			fn: columns.column(rows, Uint32Array),
			inlined: columns.column(rows, Uint8Array),
			selfSamples: columns.column(rows),
			selfWeight: columns.column(rows),
			totalSamples: columns.column(rows),
			totalWeight: columns.column(rows),
		};
		for (const name of ["self", "selfLow", "selfHigh", "total", "totalLow", "totalHigh"])
			event.row[name] = columns.column(rows).map((share) => share / 1e9);
	}
	return profile;
}

// Adds the cells to the events of decodeTree().
function decodeCells(profile, bytes) {
	const columns = new Columns(bytes, 0);
	for (const event of profile.events) {
		const groups = event.groups, count = event.cells;
		const bin = columns.column(groups, Uint32Array);
		const thread = columns.column(groups, Uint32Array);
		const sizes = columns.column(groups, Uint32Array);
		const node = columns.column(count, Uint32Array);
		const samples = columns.column(count, Uint32Array);
		const cell = {node, samples, bin: new Uint16Array(count), thread: new Uint32Array(count)};
		cell.weight = event.period ? Float64Array.from(samples, (n) => n * event.period)
			: columns.column(count);
		for (let group = 0, at = 0, now = 0; group < groups; group++) {
			now += bin[group];
			for (let i = 0, last = 0; i < sizes[group]; i++, at++) {
				last = i ? last + node[at] : node[at];
				node[at] = last;
				cell.bin[at] = now;
				cell.thread[at] = thread[group];
			}
		}
		event.cell = cell;
	}
	return profile;
}
