// SPDX-License-Identifier: GPL-2.0-or-later
// page.js SOURCES PAGE NAMES: prints as JSON what the page shows, by the page's own model and selection.
// SOURCES is src/html; NAMES is a JSON list of functions for each event, which are searched.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm"), zlib = require("zlib");
const [sources, page, names] = process.argv.slice(2);
const CODE = ["model.js", "state.js", "selection.js"];
const html = fs.readFileSync(page, "utf8");

function block(name) {
	const begin = html.indexOf(`id="${name}">`) + name.length + 5;
	return new Uint8Array(zlib.gunzipSync(Buffer.from(html.slice(begin, html.indexOf("<", begin)), "base64")));
}

// Runs in the scope of the page's scripts. Returns what users find there.
function look(blocks, searches) {
	profile = decodeCells(decodeTree(blocks.tree), blocks.cells);
	groups = groupFunctions(profile);
	const choose = (parts) => {
		state = {...initial, ...parts};
		derive();
	};
	const label = (fn) => [functionDso(fn), functionName(fn)];
	const kindOf = (fn) => profile.functions.kind[fn] & (MISSING | LIGHT);
	const rowOf = (row) => ({function: label(row.fn), selfSamples: row.selfSamples,
		selfWeight: row.selfWeight, totalSamples: row.totalSamples, totalWeight: row.totalWeight});
	// The sums of the shown tree, without those that stand for missing code.
	const rows = () => functionRows(derived.tree, profile.functionCount, derived.whole)
		.map((row) => ({...rowOf(row), missing: kindOf(row.fn)}));

	const lookFor = (event, name) => {
		const plain = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
		choose({event, search: `^${plain}$`});
		const search = derived.found;
		choose({event, search: `^${plain}$`, only: true});
		const only = {samples: derived.samples, weight: derived.weight};
		choose({event});
		const {callees, callers} = butterfly(derived.tree, functionOfName(name), profile.functionCount);
		const wings = [callees, callers].map((tree) => ({samples: tree.samples[0], weight: tree.weight[0]}));
		const calls = callers.list.length ? Array.from(callers.childrenOf(callers.list[0]), (node) => ({
			function: label(callers.fn[node]), samples: callers.samples[node],
			weight: callers.weight[node]})) : [];
		return {name, search, only, wings, calls};
	};

	const lookAt = (one, event) => {
		choose({event});
		const whole = {samples: derived.samples, weight: derived.weight};
		const sums = rows();
		choose({event, callers: true});
		const turned = shownTree(), callers = Array.from(turned.childrenOf(0), (node) => ({
			function: label(turned.fn[node]), missing: kindOf(turned.fn[node]),
			samples: turned.samples[node], weight: turned.weight[node]}));
		// A quarter, one step that has samples, and the first steps.
		const step = one.cell?.bin[one.cell.bin.length >> 1] || 0;
		const parts = [[one.bins >> 2, one.bins >> 1], [step, step], [0, Math.floor(one.bins / 5)]];
		const ranges = parts.filter(([, to]) => to < one.bins).map(([from, to]) => {
			choose({event, from, to});
			return {from, to, samples: derived.samples, weight: derived.weight, rows: rows()};
		});
		const threads = profile.threads.map((thread, index) => {
			choose({event, thread: index});
			return {tid: thread.tid, merged: thread.merged, samples: derived.samples, weight: derived.weight};
		});
		const {name, samples, weight, lost, lostOwn, begin, binNs, bins, partialWeight, totalsDiffer, shownWeight,
			shownSamples} = one;
		return {name, samples, weight, shownSamples, shownWeight, lost, lostOwn, begin, binNs, bins, partialWeight,
			totalsDiffer, whole, table: analysedRows(one, one.weight).map(rowOf), sums, callers,
			threads: one.cell ? threads : [], ranges: one.cell ? ranges : [],
			found: (searches[event] || []).map((wanted) => lookFor(event, wanted))};
	};

	const {mode, findings, partial, merged} = profile;
	return {mode, findings, partial, merged, events: profile.events.map(lookAt)};
}

const code = CODE.map((name) => fs.readFileSync(path.join(sources, name), "utf8").replace("\"use strict\";", ""));
const context = vm.createContext({TextDecoder, console});
const run = vm.runInContext(`"use strict";\n${code.join("\n")}\n(${look})`, context);
const found = run({tree: block("tree"), cells: block("cells")}, JSON.parse(fs.readFileSync(names, "utf8")));
process.stdout.write(JSON.stringify(found));
