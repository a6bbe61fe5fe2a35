// SPDX-License-Identifier: GPL-2.0-or-later
// html.js MODULES [CHECK PAGE [ARGUMENT]...]: opens a page of `sprof report -o PAGE` in Chromium and checks it.
// Prints why a check fails, and exits with 1. Requests, dialogs and script errors fail every check.
// Without CHECK it reads lines from standard input, "NAME: CHECK PAGE [ARGUMENT]...", all for one browser. For each
// it prints "passed NAME", or "failed NAME" after the reasons.
"use strict";
const fs = require("fs"), path = require("path");
const [modules, ...single] = process.argv.slice(2);
let page, rest;
const load = (name) => require(path.join(modules, name));
const puppeteer = load("puppeteer-core");
const VIEWS = ["flame", "functions", "tree", "source", "limits", "about"];
let faults = [];
const fail = (text) => faults.push(text);

function equal(what, got, wanted, tolerance = 0) {
	if (!(Math.abs(got - wanted) <= tolerance))
		fail(`${what}: ${got}, not ${wanted}`);
}

async function set(tab, parts) {
	await tab.evaluate((given) => window.sprof.set(given), parts);
	await new Promise((resolve) => setTimeout(resolve, 60));
}

// Opens the page; everything that it must not do is a fault.
async function open(browser, file, look = {}) {
	const tab = await browser.newPage();
	await tab.setViewport({width: look.width || 1280, height: look.height || 720});
	await tab.emulateMediaFeatures([{name: "prefers-color-scheme", value: look.dark ? "dark" : "light"}]);
	tab.on("dialog", (dialog) => {
		fail(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	tab.on("pageerror", (error) => fail(`script error: ${error.message}`));
	tab.on("console", (message) => ["error", "warn"].includes(message.type()) && fail(`console: ${message.text()}`));
	const address = `file://${path.resolve(file)}`;
	tab.on("request", (request) => request.url().split("#")[0] === address ||
		fail(`request: ${request.url().slice(0, 200)}`));
	await tab.goto(address + (look.hash || ""));
	await tab.evaluate(() => window.sprof.ready);
	return tab;
}

// Presses Tab until the focus is on an element of the selector. The focus must be visible.
async function tabTo(tab, selector) {
	for (let i = 0; i < 60; i++) {
		await tab.keyboard.press("Tab");
		const found = await tab.evaluate((given) => {
			const now = document.activeElement, style = getComputedStyle(now);
			return now.matches(given) && {visible: style.outlineStyle !== "none" || style.boxShadow !== "none" ||
				now.className.includes("scroll")};
		}, selector);
		if (found && !found.visible)
			fail(`the focus on ${selector} is not visible`);
		if (found)
			return;
	}
	fail(`Tab does not reach ${selector}`);
}

// Rows are compared by name, dso and order of their values: two functions may have one name.
function sorted(rows) {
	const key = (row) => [row.name, row.dso, row.selfWeight, row.totalWeight];
	return rows.sort((a, b) => {
		const x = key(a), y = key(b), at = x.findIndex((value, i) => value !== y[i]);
		return at < 0 ? 0 : x[at] < y[at] ? -1 : 1;
	});
}

// Returns a name without control characters and marks that reorder text.
const shown = (text) => text.replace(/[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
	"\ufffd");

// Returns the row of the JSON report that the page shows; bounds are between-run where it has the mark "~".
function withBounds(row, shown) {
	for (const kind of ["self", "total"])
		if (shown[`${kind}Mark`] === "~")
			for (const end of ["Low", "High"])
				row[kind + end] = row[`${kind}Between${end}`];
	return row;
}

const rowOf = (row) => ({name: shown(row.function ?? row.symbol), dso: shown(row.dso || ""), self: row.self, selfLow: row.self_low,
	selfHigh: row.self_high, selfSamples: row.self_samples, selfWeight: row.self_weight,
	total: row.total ?? row.self, totalLow: row.total_low ?? row.self_low, totalHigh: row.total_high ?? row.self_high,
	selfBetweenLow: row.self_between_low, selfBetweenHigh: row.self_between_high,
	totalBetweenLow: row.total_between_low ?? row.self_between_low,
	totalBetweenHigh: row.total_between_high ?? row.self_between_high,
	totalSamples: row.total_samples ?? row.self_samples, totalWeight: row.total_weight ?? row.self_weight});

// Reads stacks of `report --format folded`: COMM;FRAME;... SAMPLES.
function readFolded(file) {
	return fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => {
		const [, stack, count] = /^(.*) (\d+)$/.exec(line);
		return {names: stack.split(";").slice(1).map((name) => name.replace(/_\[[ik]\]$/, "")), count: Number(count)};
	});
}

async function compareRows(tab, event, shares) {
	const got = sorted(await tab.evaluate(() => window.sprof.functions())), wanted = sorted(event.rows.map(rowOf));
	const counts = ["selfSamples", "selfWeight", "totalSamples", "totalWeight"];
	equal(`${event.name}: rows`, got.length, wanted.length);
	for (let i = 0; i < Math.min(got.length, wanted.length) && faults.length < 10; i++) {
		if (got[i].name !== wanted[i].name || got[i].dso !== wanted[i].dso)
			fail(`${got[i].name} of ${got[i].dso}, not ${wanted[i].name} of ${wanted[i].dso}`);
		withBounds(wanted[i], got[i]);
		for (const name of counts)
			equal(`${got[i].name} ${name}`, got[i][name], wanted[i][name]);
		for (const name of shares ? ["self", "selfLow", "selfHigh", "total", "totalLow", "totalHigh"] : [])
			equal(`${got[i].name} ${name}`, got[i][name], wanted[i][name], 1e-9);
	}
	return got.length;
}

// Each view is opened; none may cause a fault.
async function visit(tab) {
	for (const view of await tab.evaluate(() => VIEWS)) {
		await set(tab, {view});
		const shown = await tab.evaluate(() => document.body.innerText);
		if (/\bNaN\b|\bundefined\b|\[object /.test(shown))
			fail(`view ${view} shows ${/.{0,20}(NaN|undefined|\[object ).{0,20}/.exec(shown)[0]}`);
	}
	for (const parts of [{view: "flame", callers: true},
		{callers: false, ordered: true, thread: 0}, {ordered: false, thread: -1},
		{mine: true}, {mine: false, heat: true},
		{heat: false, search: "a"}, {only: true}, {only: false, hide: true}, {search: "", hide: false}])
		await set(tab, parts);
}

const checks = {
	// functions PAGE REPORT: the table of each event is that of `report --format json`.
	async functions(browser) {
		const tab = await open(browser, page), report = JSON.parse(fs.readFileSync(rest[0]));
		for (let i = 0; i < report.events.length; i++) {
			await set(tab, {event: i, view: "functions"});
			await compareRows(tab, report.events[i], true);
			const [first] = await tab.$$eval(".row.body .share", (cells) => cells.map((cell) => cell.innerText));
			await set(tab, {view: "tree"});
			const range = await tab.$$eval(".row.body .range", (cells) => cells.map((cell) => cell.innerText));
			const timed = await tab.evaluate(() => window.sprof.profile.mode !== "cpu");
			if (range.length && /\d\u2013\d/.test(range[0]) === timed)
				fail(`${report.events[i].name}: the call tree ${timed ? "has" : "lacks"} intervals`);
			const most = Math.max(0, ...report.events[i].rows.map((row) => row.self));
			if (first !== undefined && first.trim() !== `${(100 * most).toFixed(2)}%`)
				fail(`${report.events[i].name}: the first row shows ${first}, not ${most}`);
		}
	},

	// agree PAGE REPORT: search, "only", callers, and callers and callees of 20 names have the
	// report's numbers.
	async agree(browser) {
		const tab = await open(browser, page);
		const report = JSON.parse(fs.readFileSync(rest[0]));
		const sums = new Map();
		for (const row of report.events[0].rows.map(rowOf)) {
			const sum = sums.get(row.name) || {self: 0, total: 0, rows: 0};
			sums.set(row.name, {self: sum.self + row.selfWeight,
				total: sum.total + row.totalWeight, rows: sum.rows + 1});
		}
		const single = [...sums.keys()].filter((name) => name.length < 90 &&
			!name.includes("\ufffd") && sums.get(name).rows === 1);
		const step = Math.max(1, Math.floor(single.length / 20));
		for (const name of single.filter((_, i) => i % step === 0).slice(0, 20)) {
			const {total} = sums.get(name);
			const plain = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
			await set(tab, {search: `^${plain}$`});
			const found = await tab.evaluate(() => derived.found.weight);
			equal(`search of ${name}`, found, total);
			await set(tab, {only: true});
			equal(`only ${name}`, await tab.evaluate(() => derived.weight), total);
			await set(tab, {only: false, search: "", wings: name});
			const wings = await tab.evaluate(() =>
				flames.map(({tree}) => tree.weight[tree.list[0]]));
			for (const weight of wings)
				equal(`callers or callees of ${name}`, weight, total);
			await set(tab, {wings: ""});
		}
		await set(tab, {callers: true});
		const sampled = await tab.evaluate(() => {
			const tree = shownTree(), {kind} = profile.functions;
			return Array.from(tree.childrenOf(0))
				.filter((node) => !(kind[tree.fn[node]] & (MISSING | LIGHT)))
				.map((node) => [functionName(tree.fn[node]), tree.weight[node]]);
		});
		const selves = new Map();
		for (const [name, weight] of sampled)
			selves.set(name, (selves.get(name) || 0) + weight);
		for (const [name, {self}] of sums)
			equal(`callers: ${name}`, selves.get(name) || 0, self);
		if (!sampled.length)
			fail("no functions");
	},

	// sums PAGE REPORT: so is the table that the page computes from the cells.
	async sums(browser) {
		const tab = await open(browser, page), report = JSON.parse(fs.readFileSync(rest[0]));
		for (let i = 0; i < report.events.length; i++) {
			await set(tab, {event: i, view: "functions"});
			const bins = await tab.evaluate((index) => window.sprof.profile.events[index].bins, i);
			await set(tab, {from: 0, to: bins - 1});
			await compareRows(tab, report.events[i], false);
		}
	},

	// range PAGE [FROM TO REPORT]...: bins FROM to TO have the functions of `report --time`.
	async range(browser) {
		const tab = await open(browser, page);
		for (let i = 0; i < rest.length; i += 3) {
			const report = JSON.parse(fs.readFileSync(rest[i + 2]));
			await set(tab, {view: "functions", from: Number(rest[i]), to: Number(rest[i + 1])});
			await compareRows(tab, report.events[0], false);
			const summary = await tab.evaluate(() => window.sprof.summary());
			equal(`samples of bins ${rest[i]} to ${rest[i + 1]}`, summary.samples, report.events[0].shown_samples);
		}
	},

	// columns PAGE [FROM TO REPORT]...: a column has the time of its threads at most, and bins FROM to TO have that of
	// `report --time`.
	async columns(browser) {
		const tab = await open(browser, page);
		const [highest, bin, threads, peak] = await tab.evaluate(() => {
			const event = profile.events[0], {lanes} = lanesOf[0];
			return [Math.max(...columnsOf(event, lanes[0].weight, 1)), event.binNs, lanes.length - 1, strip.peak];
		});
		if (highest > bin * threads + 1)
			fail(`a column has ${highest} ns of ${threads} times ${bin} ns`);
		if (peak !== `peak ${threads} threads`)
			fail(`the strip's scale is '${peak}', not ${threads} threads`);
		for (let i = 0; i < rest.length; i += 3) {
			const report = JSON.parse(fs.readFileSync(rest[i + 2]));
			await set(tab, {from: Number(rest[i]), to: Number(rest[i + 1])});
			const {weight} = await tab.evaluate(() => window.sprof.summary());
			equal(`time of bins ${rest[i]} to ${rest[i + 1]}`, weight, report.events[0].shown_weight);
		}
	},

	// wakers PAGE REPORT: the page begins with the report's pairs. A range of all bins has
	// their sums, a search finds them by either thread, and Enter shows the waker's code.
	async wakers(browser) {
		const tab = await open(browser, page, {width: 390});
		const {rows} = JSON.parse(fs.readFileSync(rest[0])).events[0];
		const wanted = rows.map((row) => `${row.waker} ${row.wakee} ${row.self_weight} ` +
			row.self_times.waits).sort();
		const shown = () => tab.evaluate(() => derived.shownPairs.map((row) =>
			`${row.waker} ${row.wakee} ${row.weight} ${row.waits}`).sort());
		const same = async (what, pairs) => {
			const got = await shown();
			if (JSON.stringify(got) !== JSON.stringify(pairs))
				fail(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(pairs)}`);
		};
		await same("pairs", wanted);
		const texts = await tab.$$eval(".row.body", (found) =>
			found.map((row) => row.innerText));
		equal("rows", texts.length, rows.length);
		if (!texts[0].includes(rows[0].waker) || !texts[0].includes(rows[0].wakee))
			fail(`the first row is '${texts[0]}'`);
		if (await tab.evaluate(() => document.documentElement.scrollWidth > innerWidth))
			fail("the page is wider than a phone");
		await set(tab, {search: "\\[interrupt"});
		await same("search", wanted.filter((text) => text.startsWith("[interrupt]")));
		await set(tab, {search: ""});
		await set(tab, {from: 0, to: await tab.evaluate(() => profile.events[0].bins - 1)});
		await same("pairs of all times", wanted);
		await set(tab, {from: null, to: null});
		await tab.focus(".grid");
		await tab.keyboard.press("Enter");
		const {view, focus, thread} = await tab.evaluate(() => window.sprof.state());
		const name = await tab.evaluate((index) => threadText(index), thread);
		if (view !== "flame" || focus !== rows[0].waker || name !== rows[0].wakee)
			fail(`Enter shows ${view} of ${focus} and ${name}`);
		const {weight} = await tab.evaluate(() => window.sprof.summary());
		equal("weight of the first pair", weight, rows[0].self_weight);
		await visit(tab);
	},

	// changes PAGE TEXT FOLDED SIDES: a page of `sprof diff`. The table has the rows of the text, to the digit. Boxes
	// have the weight of their stacks, and the colour and sign of their change. New and gone call paths have SIDES
	// ("NEW,GONE") of their side's weight. A place zooms to its path, which the second widths keep.
	async changes(browser) {
		const tab = await open(browser, page, {width: 1600, height: 900});
		const words = (text) => text.trim().split(/\s+/).join(" ");
		await set(tab, {view: "functions"});
		const rows = await tab.$$eval(".row.body", (found) => found.map((row) =>
			Array.from(row.children, (cell) => cell.textContent).join(" ")));
		const wanted = fs.readFileSync(rest[0], "utf8").split("\n").slice(1).filter(Boolean);
		equal("rows", rows.length, wanted.length);
		for (let i = 0; i < Math.min(rows.length, wanted.length); i++)
			if (words(rows[i]) !== words(shown(wanted[i])))
				fail(`row '${words(rows[i])}', not '${words(wanted[i])}'`);
		const sums = new Map(), add = (key, [base, now]) => {
			const [baseSum, nowSum] = sums.get(key) || [0, 0];
			sums.set(key, [baseSum + base, nowSum + now]);
		};
		for (const line of fs.readFileSync(rest[1], "utf8").split("\n").filter(Boolean)) {
			const [, stack, ...both] = /^(.*) (\d+) (\d+)$/.exec(line), names = stack.split(";");
			for (let i = 0; i <= names.length; i++)
				add(names.slice(0, i).join(";"), both.map(Number));
		}
		for (const event of [0, 1]) {
			await set(tab, {view: "flame", event});
			const boxes = await tab.evaluate(() => window.sprof.flame());
			const looks = await tab.evaluate(() => flames[0].made.map(({node}) => [classAt(flames[0].tree, node),
				look.label(flames[0].tree, node), flames[0].colourOf(node, 100), look.changes]));
			equal("boxes", looks.length, boxes.length);
			for (const [i, box] of boxes.entries()) {
				const [base, now] = sums.get(box.path.join(";")) || [0, 0], [kind, label, colour, colours] = looks[i];
				equal(`${box.name} has its side's weight`, box.weight, event ? base : now, 1);
				equal(`${box.name} has the other's`, box.samples, event ? now : base, 1);
				if (!i)
					continue;
				const sign = kind === 4 ? "" : now > base ? "+ " : "\u2212 ";
				if (label !== sign + box.name || colour !== colours[kind])
					fail(`${box.name} has class ${kind}, '${label}' and ${colour}`);
				if (kind !== 4 && (kind % 2 === 0) !== now > base)
					fail(`${box.name} of ${base} and ${now} has class ${kind}`);
			}
		}
		await set(tab, {view: "sides", event: 0});
		const sides = await tab.evaluate(() => flames.map(({tree, title}) => [tree.weight[0], title.textContent]));
		rest[2].split(",").forEach((weight, i) => equal(sides[i][1], sides[i][0], Number(weight), 1));
		const places = await tab.$$("#places button");
		const paths = await tab.evaluate(() => profile.comparison.places.map(({path}) => path));
		equal("places", places.length, paths.length);
		for (const [i, place] of places.entries()) {
			await place.click();
			const {zoom, view} = await tab.evaluate(() => window.sprof.state());
			if (view !== "flame" || zoom.join(";") !== paths[i].join(";"))
				fail(`a place shows ${view} and ${zoom}`);
			const depth = await tab.evaluate(() => flames[0].tree.depthOf(flames[0].zoom));
			equal("depth of the zoomed box", depth, paths[i].length);
		}
		await set(tab, {zoom: []});
	},

	// bins PAGE: prints begin and width of bins in ns.
	async bins(browser) {
		const tab = await open(browser, page);
		const {begin, binNs, bins} = await tab.evaluate(() => window.sprof.profile.events[0]);
		console.log(begin, binNs, bins);
	},

	// flame PAGE FOLDED: the boxes of each call path have its samples, and a width by their weight; with callers too.
	async flame(browser) {
		const tab = await open(browser, page, {width: 5000, height: 1600}), stacks = readFolded(rest[0]);
		for (const callers of [false, true]) {
			await set(tab, {callers});
			const boxes = await tab.evaluate(() => window.sprof.flame()), sums = new Map(), drawn = new Map();
			for (const {names, count} of stacks) {
				const way = callers ? [...names].reverse() : names;
				for (let i = 1; i <= way.length; i++) {
					const key = way.slice(0, i).join(";");
					sums.set(key, (sums.get(key) || 0) + count);
				}
			}
			equal("the root", boxes[0].samples, stacks.reduce((sum, {count}) => sum + count, 0));
			for (const box of boxes.slice(1)) {
				const key = box.path.join(";");
				drawn.set(key, (drawn.get(key) || 0) + box.samples);
				equal(`width of ${key}`, box.width, box.weight / boxes[0].weight, 1e-9);
			}
			equal("call paths", drawn.size, sums.size);
			for (const [key, samples] of drawn)
				equal(`samples of ${key}`, samples, sums.get(key));
			if (boxes.length < 5)
				fail(`only ${boxes.length} boxes`);
		}
	},

	// search PAGE FOLDED REGEX: stacks with a match are counted once; "only" keeps them, "hide" moves their weight.
	async search(browser) {
		const tab = await open(browser, page), stacks = readFolded(rest[0]), regex = new RegExp(rest[1]);
		const samples = async () => (await tab.evaluate(() => window.sprof.summary())).samples;
		const whole = stacks.reduce((sum, {count}) => sum + count, 0);
		const found = stacks.reduce((sum, {names, count}) => sum + (names.some((name) => regex.test(name)) ? count : 0), 0);
		if (!found || found === whole)
			fail(`${found} of ${whole} samples match`);
		await set(tab, {search: rest[1]});
		const shown = parseFloat(await tab.evaluate(() => document.getElementById("found").textContent));
		equal("the share of matches", shown, 100 * found / whole, 0.06);
		await set(tab, {only: true});
		equal("samples of matches", await samples(), found);
		await set(tab, {only: false, hide: true});
		equal("samples without matching functions", await samples(), whole);
		const boxes = await tab.evaluate(() => window.sprof.flame());
		if (boxes.slice(1).some((box) => box.path.some((name) => regex.test(name))))
			fail("a hidden function is drawn");
		await tab.evaluate(() => window.sprof.undo());
		equal("samples after undo", await samples(), found);
	},

	// thread PAGE TID REPORT: a thread has the functions of `report --tid`.
	async thread(browser) {
		const tab = await open(browser, page), report = JSON.parse(fs.readFileSync(rest[1]));
		const thread = await tab.evaluate((tid) => window.sprof.profile.threads.findIndex((one) => one.tid === tid),
			Number(rest[0]));
		await set(tab, {view: "functions", thread});
		if (!await compareRows(tab, report.events[0], false))
			fail("no rows");
	},

	// address PAGE: whatever the address has after #, the page works.
	async address(browser) {
		const hashes = ["#", "#%", "#&&==", "#view=<img src=x onerror=window.pwned=1>", "#view=__proto__&sort=constructor",
			"#from=5&to=2", "#from=-1&to=1e99", "#from=0&to=999999", "#from=0.5&to=1", "#event=99", "#event=-1", "#event=[]",
			"#thread=99999", "#thread=0.5", "#zoom=[\"<b>\",\"x\"]", "#zoom={}", "#drop=[1]", "#objects=[\"\"]&mine=true",
			"#search=(", "#search=%5B", "#search=%00", "#search=.&only=true&hide=true", "#wings=nothing", "#focus=nothing",
			"#sort=nothing&view=functions", "#callers=1", "#__proto__=1&constructor=2&toString=3", `#search=${"a".repeat(20000)}`];
		const copy = `${page}.address.html`;
		fs.writeFileSync(copy, fs.readFileSync(page, "utf8").replace(/<meta http-equiv[^>]*>/, ""));
		for (const hash of hashes) {
			const before = faults.length, tab = await open(browser, copy, {hash});
			const found = await tab.evaluate(() => ({view: window.sprof.state().view, pwned: window.pwned,
				panel: document.getElementById("panel").childElementCount}));
			if (!await tab.evaluate((view) => VIEWS.includes(view), found.view) || found.pwned !== undefined || !found.panel)
				fail(`${hash.slice(0, 60)} gives ${JSON.stringify(found)}`);
			if (faults.length > before)
				fail(`(with ${hash.slice(0, 60)})`);
			await tab.close();
		}
	},

	// noscript PAGE: without JavaScript one sentence is seen.
	async noscript(browser) {
		const tab = await browser.newPage();
		await tab.setJavaScriptEnabled(false);
		await tab.goto(`file://${path.resolve(page)}`);
		await new Promise((resolve) => setTimeout(resolve, 1500));
		const text = (await tab.evaluate(() => document.body.innerText)).trim();
		if (!/^[^.]* JavaScript[^.]*\.$/.test(text))
			fail(`the page shows: ${text}`);
	},

	// cut PAGE: a page whose end is missing, or whose data are damaged, says so.
	async cut(browser) {
		const text = fs.readFileSync(page, "utf8"), tree = text.indexOf("id=\"tree\">"), cells = text.indexOf("id=\"cells\">");
		const copies = {"a cut after half of the cells": text.slice(0, cells + 40),
			"a cut before the cells": text.slice(0, cells - 60),
			"a cut in the script": text.slice(0, cells - 4000),
			"a cut in the tree": text.slice(0, tree + 100),
			"damage of the tree": text.slice(0, tree + 100) + "AAAAAAAA" + text.slice(tree + 108)};
		for (const [name, copy] of Object.entries(copies)) {
			fs.writeFileSync(`${page}.cut.html`, copy);
			const tab = await browser.newPage();
			await tab.goto(`file://${path.resolve(page)}.cut.html`);
			await new Promise((resolve) => setTimeout(resolve, 1500));
			const [line, isVisible] = await tab.evaluate(() => {
				const start = document.getElementById("start");
				return [start.textContent, start.checkVisibility({visibilityProperty: true})];
			});
			if (!isVisible || !/whole file|incomplete or damaged/.test(line))
				fail(`${name}: the page does not say that it is damaged`);
			await tab.close();
		}
	},

	// phone PAGE: nothing is wider than a narrow window, in any view.
	async phone(browser) {
		const tab = await open(browser, page, {width: 360, height: 740});
		for (const view of await tab.evaluate(() => VIEWS)) {
			await set(tab, {view});
			const [width, body] = await tab.evaluate(() => [window.innerWidth, document.documentElement.scrollWidth]);
			if (body > width)
				fail(`${view} is ${body} wide`);
		}
	},

	// opens PAGE [SAMPLES]: every view works, and the page has that many samples.
	async opens(browser) {
		const tab = await open(browser, page);
		if (rest.length)
			equal("samples", (await tab.evaluate(() => window.sprof.summary())).samples || 0, Number(rest[0]));
		await visit(tab);
	},

	// hostile PAGE: no name runs as a script, even without the policy.
	async hostile(browser) {
		const copy = `${page}.unprotected.html`;
		const text = fs.readFileSync(page, "utf8"), bare = text.replace(/<meta http-equiv[^>]*>/, "");
		if (bare.length === text.length)
			fail("the page has no policy");
		fs.writeFileSync(copy, bare);
		for (const file of [page, copy]) {
			const tab = await open(browser, file);
			await visit(tab);
			await tab.evaluate(() => document.getElementById("mine-objects").click());
			await tab.evaluate(() => document.getElementById("objects").close());
			await set(tab, {view: "flame", wings: await tab.evaluate(() => window.sprof.functions()[0].name)});
			await set(tab, {view: "functions", wings: ""});
			const found = await tab.evaluate(() => ({pwned: window.pwned,
				markup: document.querySelectorAll("img, svg, iframe, a, link, body script:not([type])").length,
				text: document.body.innerText}));
			if (found.pwned !== undefined)
				fail(`${file}: a name ran as a script`);
			if (found.markup !== 1)
				fail(`${file}: a name became markup`);
			if (!found.text.includes("<img"))
				fail(`${file}: the names are not shown`);
			if (/[\u202a-\u202e\u2066-\u2069]/.test(found.text))
				fail(`${file}: a mark reorders text`);
		}
	},

	// keys PAGE: everything works by keyboard alone.
	async keys(browser) {
		const tab = await open(browser, page);
		const state = () => tab.evaluate(() => window.sprof.state());
		const press = async (...names) => {
			for (const name of names)
				await tab.keyboard.press(name);
			await new Promise((resolve) => setTimeout(resolve, 60));
		};
		const expect = async (what, test) => {
			for (const end = Date.now() + 10000; !test(await state());)
				if (Date.now() > end)
					return fail(`${what}: ${JSON.stringify(await state())}`);
		};
		for (let i = 0; i < VIEWS.length; i++) {
			await press(String(i + 1));
			await expect(`key ${i + 1}`, (now) => now.view === VIEWS[i]);
		}
		await press("1");
		await tabTo(tab, ".flame .scroll");
		await press("ArrowDown", "Enter");
		await expect("Enter zooms", (now) => now.zoom.length === 1);
		await press("z");
		await expect("z takes it back", (now) => now.zoom.length === 0);
		await tab.focus(".flame .scroll");
		await press("ArrowDown", "f");
		await expect("f keeps stacks", (now) => now.focus !== "");
		await press("Escape");
		await expect("Escape leaves it", (now) => now.focus === "");
		await tab.focus(".flame .scroll");
		await press("ArrowDown", "b");
		await expect("b shows callers and callees", (now) => now.wings !== "");
		await press("Escape", "c");
		await expect("c turns the graph", (now) => now.callers && !now.wings);
		await press("c", "m");
		await expect("m hides libraries", (now) => now.mine && !now.callers);
		await press("m", "/");
		await tab.keyboard.type("main");
		await expect("typing searches", (now) => now.search === "main");
		await press("Enter", "Escape", "Escape");
		await expect("Escape ends the search", (now) => now.search === "");
		await tabTo(tab, "#strip");
		await press("Enter");
		await expect("Enter begins a range", (now) => now.from === 0 && now.to > 0);
		const before = await state();
		await press("ArrowRight");
		await expect("arrows move it", (now) => now.from > before.from);
		await press("Escape");
		await expect("Escape ends it", (now) => now.from === null);
		await press("3");
		await tabTo(tab, ".grid");
		await press("ArrowDown", "ArrowLeft", "ArrowRight", "End", "Home", "?");
		await tab.waitForFunction(() => document.getElementById("help").open, {timeout: 10000});
		await press("Escape");
		// The hash restores the state in another tab.
		await set(tab, {view: "functions", search: "main", from: 1, to: 2});
		const copy = await open(browser, page, {hash: await tab.evaluate(() => location.hash)});
		const [wanted, got] = [await state(), await copy.evaluate(() => window.sprof.state())];
		if (JSON.stringify(wanted) !== JSON.stringify(got))
			fail(`the hash gives ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
	},

	// mouse PAGE: a drag on the strip selects a range, a click on a box zooms.
	async mouse(browser) {
		const tab = await open(browser, page), strip = await (await tab.$("#strip")).boundingBox();
		const y = strip.y + 20;
		await tab.mouse.move(strip.x + strip.width * 0.4, y);
		await tab.mouse.down();
		await tab.mouse.move(strip.x + strip.width * 0.6, y, {steps: 4});
		await tab.mouse.up();
		const range = await tab.evaluate(() => window.sprof.state());
		if (range.from === null || range.from >= range.to)
			fail(`a drag selects ${range.from} to ${range.to}`);
		await set(tab, {from: null, to: null});
		const [peak, mean] = await tab.evaluate(() => [strip.peak, profile.events[0].weight / profile.events[0].durationNs]);
		const cpus = Number(/^peak ([\d.]+) CPUs?$/.exec(peak)?.[1]);
		if (!(cpus >= 0.9 * mean && cpus <= 10 * Math.max(mean, 1)))
			fail(`the strip's scale is '${peak}'; the mean is ${mean} CPUs`);
		const flame = await (await tab.$(".flame canvas")).boundingBox();
		await tab.mouse.click(flame.x + 20, flame.y + 30);
		if ((await tab.evaluate(() => window.sprof.state())).zoom.length !== 1)
			fail("a click does not zoom");
	},

	// source PAGE TEXT: the view of source lines shows the text on the hottest line, and a share.
	async source(browser) {
		const copy = `${page}.unprotected.html`;
		fs.writeFileSync(copy, fs.readFileSync(page, "utf8").replace(/<meta http-equiv[^>]*>/, ""));
		const tab = await open(browser, copy);
		await set(tab, {view: "source"});
		const hot = await tab.evaluate(() => document.querySelector(".hottest")?.innerText || "no line");
		if (!hot.includes(rest[0]) || !/^[\d.]+%/.test(hot))
			fail(`the hottest line is '${hot}'`);
		if (await tab.evaluate(() => window.pwned !== undefined || document.querySelector("img")))
			fail("a line became markup");
		const instructions = () => tab.evaluate(() => [...document.querySelectorAll(".instruction")]
			.map((row) => row.innerText));
		const shown = await instructions();
		if (await tab.evaluate(() => document.querySelector(".opener"))) {
			if (!shown.length || !shown.every((text) => /^[\d.]+%\s+\w+.*\+0x[0-9a-f]+$/s.test(text)))
				fail(`the hottest line's instructions are '${shown.join("', '")}'`);
			await tab.focus(".opener");
			await tab.keyboard.press("Enter");
			const toggled = (await instructions()).length;
			await tab.keyboard.press("Enter");
			if (toggled === shown.length || (await instructions()).length !== shown.length)
				fail(`Enter on a line's number: ${shown.length}, ${toggled} instructions`);
		}
		await tab.keyboard.press("6");
		const about = await tab.evaluate(() => document.getElementById("panel").innerText);
		if (!/Source files in this page\s+\S+prog\.c/.test(about))
			fail("the file is not listed");
	},

	// axe PAGE: axe-core finds nothing serious in any view.
	async axe(browser) {
		const source = fs.readFileSync(path.join(modules, "axe-core/axe.min.js"), "utf8");
		for (const dark of [false, true]) {
			const tab = await open(browser, page, {dark});
			await tab.evaluate(source);
			const looks = [...(await tab.evaluate(() => VIEWS)).map((view) => ({view})), {view: "flame", callers: true}, {callers: false, search: "a"},
				{search: "", from: 0, to: 1}, {heat: true, mine: true}, "help", "objects"];
			for (const look of looks) {
				if (typeof look === "string")
					await tab.evaluate((name) => document.getElementById(`${name === "help" ? "help-button"
						: "mine-objects"}`).click(), look);
				else
					await set(tab, look);
				const result = await tab.evaluate(() => window.axe.run(document));
				for (const one of result.violations)
					if (["serious", "critical"].includes(one.impact))
						fail(`${JSON.stringify(look)}${dark ? ", dark" : ""}: ${one.help}: ` +
							one.nodes[0].html.slice(0, 160));
				await tab.evaluate(() => document.querySelectorAll("dialog").forEach((dialog) => dialog.close()));
			}
			await tab.close();
		}
	},

	// shots PAGE DIRECTORY [PREFIX]: keeps pictures for people.
	async shots(browser) {
		for (const [width, height] of [[1280, 720], [1920, 1080], [360, 740]])
			for (const dark of [false, true]) {
				const tab = await open(browser, page, {width, height, dark});
				for (const view of await tab.evaluate(() => VIEWS)) {
					await set(tab, {view});
					await tab.screenshot({path: path.join(rest[0],
						`${rest[1] || ""}${view}-${width}${dark ? "-dark" : ""}.png`)});
				}
				await tab.close();
			}
	},

	// times PAGE: prints the times of the first picture and of the complete page, and of a range, in ms.
	async times(browser) {
		const tab = await open(browser, page), times = await tab.evaluate(() => window.sprof.times);
		const range = await tab.evaluate(async () => {
			const bins = window.sprof.profile.events[0].bins, begin = performance.now();
			window.sprof.set({from: Math.floor(bins * 0.5), to: Math.floor(bins * 0.55)});
			return performance.now() - begin;
		});
		console.log(times.first.toFixed(0), times.all.toFixed(0), range.toFixed(0));
	},
};

// Runs one check; returns why it failed.
async function run(browser, [check, ...given]) {
	[page, ...rest] = given;
	faults = [];
	try {
		await checks[check](browser);
	} catch (error) {
		fail(error.message);
	}
	for (const tab of (await browser.pages()).slice(1))
		await tab.close();
	return faults.slice(0, 10);
}

async function main() {
	const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true,
		protocolTimeout: 120000, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
	try {
		if (single.length) {
			const reasons = await run(browser, single);
			console.error(reasons.join("\n"));
			process.exitCode = reasons.length ? 1 : 0;
			return;
		}
		for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
			const [, name, words] = /^(.*): (.*)$/.exec(line), reasons = await run(browser, words.split(" "));
			reasons.forEach((reason) => console.log(`# ${reason.replace(/\n/g, " ")}`));
			console.log(`${reasons.length ? "failed" : "passed"} ${name}`);
		}
	} finally {
		await browser.close();
	}
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});
