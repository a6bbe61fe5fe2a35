// SPDX-License-Identifier: GPL-2.0-or-later
// Source lines of a function with their shares: of all samples that the report has.
"use strict";

let listing = null; // block "source", see html.c; null: the page has none

const openedLines = new Set(); // lines whose instructions are shown: "function file line"
let chosenBefore = null;       // function whose hottest line was opened last

// Returns the sampled lines of each function of an event, the heaviest function first. Lines have their
// sampled instructions in order of their addresses.
function sourceFunctions(event) {
	const functions = new Map();
	for (const [fn, file, line, samples, weight, place, text] of listing.events[event] || []) {
		if (!functions.has(fn))
			functions.set(fn, {fn, weight: 0, samples: 0, byLine: new Map()});
		const one = functions.get(fn), key = `${file} ${line}`;
		if (!one.byLine.has(key))
			one.byLine.set(key, {file, line, samples: 0, weight: 0, instructions: []});
		const at = one.byLine.get(key);
		for (const sum of [one, at]) {
			sum.weight += weight;
			sum.samples += samples;
		}
		if (text !== undefined)
			at.instructions.push({place, text, samples, weight});
	}
	const all = [...functions.values()];
	const distance = (place) => parseInt(place.slice(place.lastIndexOf("+") + 1), 16);
	all.forEach((one) => {
		one.lines = [...one.byLine.values()];
		one.lines.forEach((at) => at.instructions.sort((a, b) => distance(a.place) - distance(b.place)));
	});
	return all.sort((a, b) => b.weight - a.weight || a.fn - b.fn);
}

// Returns the texts of a file by line.
function fileLines(file) {
	const texts = new Map();
	for (const [first, lines] of listing.files[file].parts)
		lines.forEach((text, i) => texts.set(first + i, text));
	return texts;
}

// Makes the cell with the share of a line or an instruction, with a bar beside the heaviest one.
function lineShareCell(event, at, whole, heaviest) {
	const cell = element("td", "number"), share = element("span", "share"), bar = element("i");
	const range = rangeText(...partInterval(at.weight / (whole || 1), event.shownSamples));
	bar.style.width = `${100 * at.weight / heaviest}%`;
	share.append(bar, percentText(at.weight / (whole || 1)));
	cell.append(share);
	cell.title = `${range && `${range} (95% interval), `}${samplesText(at.samples)}`;
	return cell;
}

// Makes the cell with a line's number. A button in it shows the instructions of a sampled line.
function lineCell(number, at, key) {
	const cell = element("td", "line");
	if (!at || !at.instructions.length) {
		cell.append(String(number));
		return cell;
	}
	const button = element("button", "opener", String(number)), opened = openedLines.has(key);
	button.type = "button";
	button.setAttribute("aria-expanded", String(opened));
	button.setAttribute("aria-label", `line ${number}: instructions`);
	button.title = opened ? "hide the sampled instructions" : "show the sampled instructions";
	button.dataset.line = key;
	cell.append(button);
	return cell;
}

// Returns the row of a line, and the rows of its instructions if they are shown.
function sourceRows(event, one, number, text, whole, heaviest) {
	const at = one.lines.find((line) => line.line === number), key = at ? `${one.fn} ${at.file} ${number}` : "";
	const row = element("tr", !at ? "" : at.weight === heaviest ? "hot hottest" : "hot"), rows = [row];
	row.append(at ? lineShareCell(event, at, whole, heaviest) : element("td", "number"),
		lineCell(number, at, key),
		element("td", "code", text));
	if (!at || !openedLines.has(key))
		return rows;
	for (const instruction of at.instructions) {
		const below = element("tr", "instruction"), code = element("td", "code");
		const place = element("small", "", instruction.place.slice(instruction.place.lastIndexOf("+")));
		place.title = instruction.place;
		code.append(element("span", "", instruction.text), place);
		below.append(lineShareCell(event, instruction, whole, heaviest), element("td", "line"), code);
		rows.push(below);
	}
	return rows;
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
			table.append(...sourceRows(event, part, number, texts.get(number) ?? "", whole, heaviest));
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
	const instructions = chosen.lines.some((line) => line.instructions.length);
	const note = element("p", "", "Shares are of all times and threads. A sampled line may be a little after the " +
		`one that took the time.${instructions ? " A click on a line's number shows its sampled instructions." : ""}`);
	const before = chosenBefore;
	if (before !== chosen.fn) {
		chosenBefore = chosen.fn;
		const hot = chosen.lines.reduce((most, line) => line.weight > most.weight ? line : most);
		openedLines.add(`${chosen.fn} ${hot.file} ${hot.line}`);
	}
	const show = () => text.replaceChildren(label, note, ...sourceTables(event, chosen, whole));
	text.addEventListener("click", (given) => {
		const key = given.target.dataset.line;
		if (key === undefined)
			return;
		if (!openedLines.delete(key))
			openedLines.add(key);
		show();
		text.querySelector(`[data-line="${key}"]`).focus({preventScroll: true});
	});
	show();
	const hottest = text.querySelector(".hottest");
	if (hottest && before !== chosen.fn)
		hottest.scrollIntoView({block: "center"});
	scroll.scrollLeft = 0;
}
