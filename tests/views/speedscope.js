// SPDX-License-Identifier: GPL-2.0-or-later
// speedscope.js MODULES schema FILE          FILE is valid by speedscope's schema
// speedscope.js MODULES table FILE REPORT    speedscope shows the functions of `report --format json`
// Prints why a check fails, and exits with 1.
"use strict";
const fs = require("fs"), os = require("os"), path = require("path");
const [modules, check, file, report] = process.argv.slice(2);
const load = (name) => require(path.join(modules, name));
const release = path.join(modules, "speedscope/dist/release");
const faults = [];

function checkSchema() {
	const Ajv = load("ajv"), schema = JSON.parse(fs.readFileSync(path.join(release, "file-format-schema.json")));
	const validate = new Ajv({strict: false}).compile(schema);
	if (!validate(JSON.parse(fs.readFileSync(file))))
		faults.push(JSON.stringify(validate.errors.slice(0, 5)));
}

// Returns the value that a cell such as "94.55ms (51%)" shows, and half of its last digit.
function readCell(text) {
	const [, digits, unit] = /^([\d,.]+)\s*(ns|\u00b5s|\u03bcs|us|ms|s|)\s*\(/.exec(text) || [];
	if (digits === undefined)
		throw new Error(`cell '${text}'`);
	const scale = {ns: 1, ms: 1e6, s: 1e9, "": 1}[unit] || 1e3;
	const decimals = (digits.split(".")[1] || "").length;
	return {value: Number(digits.replaceAll(",", "")) * scale, margin: 0.5001 * scale / 10 ** decimals};
}

// Opens the file in speedscope, as its documentation says, and reads the table of its view "sandwich".
async function readTable(browser, directory) {
	const script = path.join(directory, "load.js"), tab = await browser.newPage();
	tab.on("pageerror", (error) => faults.push(`script error: ${error.message}`));
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))},
		${JSON.stringify(fs.readFileSync(file).toString("base64"))})`);
	await tab.goto(`file://${release}/index.html#localProfilePath=${script}`);
	for (let i = 0; i < 100; i++) {
		await new Promise((resolve) => setTimeout(resolve, 200));
		await tab.keyboard.press("3");
		const rows = await tab.evaluate(() => [...document.querySelectorAll("tr")].slice(1)
			.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText)));
		if (rows.length)
			return rows;
	}
	throw new Error("speedscope shows no table");
}

// Sums rows of one name: speedscope has one for each source file of a function.
function sumByName(rows) {
	const sums = new Map();
	for (const {name, total, self} of rows) {
		const sum = sums.get(name) ?? {total: {value: 0, margin: 1}, self: {value: 0, margin: 1}, count: 0};
		for (const [to, from] of [[sum.total, total], [sum.self, self]]) {
			to.value += from.value;
			to.margin += from.margin;
		}
		sum.count++;
		sums.set(name, sum);
	}
	return sums;
}

function compare(rows) {
	const exactly = (value) => ({value, margin: 0});
	const wanted = sumByName(JSON.parse(fs.readFileSync(report)).events[0].rows.map((row) => (
		{name: row.function ?? row.symbol, total: exactly(row.total_weight), self: exactly(row.self_weight)})));
	const shown = sumByName(rows.map(([total, self, name]) => (
		{name: name.trim(), total: readCell(total), self: readCell(self)})));
	for (const [name, {total, self, count}] of shown) {
		const row = wanted.get(name);
		if (!row) {
			if (!/^\[(root|truncated.*|on CPU|waiting for CPU|blocked: .*)\]$/.test(name))
				faults.push(`${name} is not in the report`);
			continue;
		}
		wanted.delete(name);
		/* Times of states are parts of a sum, and rounded. Totals of several rows may contain each other. */
		if (Math.abs(self.value - row.self.value) > self.margin)
			faults.push(`${name}: self ${self.value}, not ${row.self.value}`);
		if (count === 1 && row.count === 1 && Math.abs(total.value - row.total.value) > total.margin)
			faults.push(`${name}: total ${total.value}, not ${row.total.value}`);
	}
	for (const name of wanted.keys())
		faults.push(`${name} is missing`);
}

async function checkTable() {
	const directory = fs.mkdtempSync(path.join(os.tmpdir(), "speedscope-"));
	const browser = await load("puppeteer-core").launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true,
		args: ["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
			"--allow-file-access-from-files"]});
	try {
		compare(await readTable(browser, directory));
	} finally {
		await browser.close();
		fs.rmSync(directory, {recursive: true});
	}
}

async function main() {
	await (check === "schema" ? checkSchema() : checkTable());
	console.error(faults.slice(0, 10).join("\n"));
	process.exitCode = faults.length ? 1 : 0;
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});
