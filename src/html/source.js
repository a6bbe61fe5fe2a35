// SPDX-License-Identifier: GPL-2.0-or-later
// Source lines of a function with their shares: of all samples that the report has.
"use strict";

let listing = null; // block "source", see listing.h; null: the page has none

// Returns the sampled lines of each function of an event, the heaviest function first.
function sourceFunctions(event) {
	const lines = new Map();
	for (const [fn, file, line, samples, weight] of listing.events[event] || []) {
		if (!lines.has(fn))
			lines.set(fn, {fn, weight: 0, samples: 0, lines: []});
		const one = lines.get(fn);
		one.weight += weight;
		one.samples += samples;
		one.lines.push({file, line, samples, weight});
	}
	return [...lines.values()].sort((a, b) => b.weight - a.weight || a.fn - b.fn);
}

// Returns the texts of a file by line.
function fileLines(file) {
	const texts = new Map();
	for (const [first, lines] of listing.files[file].parts)
		lines.forEach((text, i) => texts.set(first + i, text));
	return texts;
}

function sourceRow(event, one, number, text, whole, heaviest) {
	const row = element("tr"), share = element("td", "number");
	const at = one.lines.find((line) => line.line === number);
	if (at) {
		const [low, high] = interval(at.weight / (whole || 1), event.shownSamples);
		const cell = element("span", "share");
		const bar = element("i");
		bar.style.width = `${100 * at.weight / heaviest}%`;
		cell.append(bar, percentText(at.weight / (whole || 1)));
		share.append(cell);
		share.title = `${rangeText(low, high)} (95% interval), ${at.samples.toLocaleString("en")} samples`;
		row.className = at.weight === heaviest ? "hot hottest" : "hot";
	}
	row.append(share, element("td", "line", String(number)), element("td", "code", text));
	return row;
}

// Shows a function's files, each from its first sampled line to its last one and the text around.
function sourceTables(event, one, whole) {
	const heaviest = one.lines.reduce((most, line) => Math.max(most, line.weight), 0), tables = [];
	for (const file of new Set(one.lines.map((line) => line.file))) {
		const texts = fileLines(file), inFile = one.lines.filter((line) => line.file === file);
		const numbers = new Set();
		for (const {line} of inFile)
			for (let number = Math.max(1, line - 25); number <= line + 25; number++)
				if (number === line || texts.has(number))
					numbers.add(number);
		const part = {...one, lines: inFile}, table = element("table", "source");
		let last = 0;
		for (const number of [...numbers].sort((a, b) => a - b)) {
			if (last && number > last + 1)
				table.append(element("tr", "gap"));
			table.append(sourceRow(event, part, number, texts.get(number) ?? "", whole, heaviest));
			last = number;
		}
		tables.push(element("h3", "", listing.files[file].path +
			(texts.size ? "" : " (not readable, or not below a directory of --source)")), table);
	}
	return tables;
}

function showSource(panel) {
	const event = currentEvent(), functions = sourceFunctions(state.event);
	const whole = profile.relative ? event.shownWeight : event.weight;
	const scroll = element("div", "scroll"), text = element("div", "listing");
	scroll.tabIndex = 0;
	scroll.append(text);
	panel.replaceChildren(scroll);
	if (!functions.length) {
		text.append(element("p", "empty", "No sample has a source line: the programs have no debug information."));
		return;
	}
	const chosen = functions.find((one) => functionName(one.fn) === state.source) || functions[0];
	const select = element("select"), label = element("label", "", "Function ");
	functions.slice(0, 500).forEach((one) => {
		const option = element("option", "", `${percentText(one.weight / (whole || 1))}  ${functionName(one.fn)}`);
		option.value = functionName(one.fn);
		select.append(option);
	});
	select.value = functionName(chosen.fn);
	select.addEventListener("change", () => change({source: select.value}));
	label.append(select);
	const note = element("p", "", "Shares are of all times and threads. A sampled line may be a little after the " +
		"one that took the time.");
	text.append(label, note, ...sourceTables(event, chosen, whole));
	const hottest = text.querySelector(".hottest");
	if (hottest)
		hottest.scrollIntoView({block: "center"});
	scroll.scrollLeft = 0;
}
