// Loads two copies of the shared object into one Node process, adds through both from its threads,
// which end and start anew, and runs everything inside. Every total must be exact.
//
// node node.js OBJECT COPY TIMES (both named *.node)

const { Worker, isMainThread, workerData } = require("node:worker_threads");

const [paths, times] = isMainThread
  ? [process.argv.slice(2, 4), Number(process.argv[4])]
  : workerData;
const copies = paths.map((path) => require(path));

const THREADS = 4;
const GENERATIONS = 3;
const CALLS = 40;

function add(lost) {
  for (let call = 0; call < CALLS; call += 1) {
    for (const copy of copies) copy.add(times - (call === 0 ? lost : 0));
  }
}

function exact(what, found, added) {
  if (found === added) return;
  console.log(`NOT EXACT: ${what}: ${found}, and ${added} was added`);
  process.exit(1);
}

async function main() {
  const lost = process.env.WILD_LOSE === "host" ? 1 : 0;
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    const ended = [];
    for (let thread = 0; thread < THREADS; thread += 1) {
      const worker = new Worker(__filename, { workerData: [paths, times] });
      ended.push(
        new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject)),
      );
    }
    add(generation === 0 ? lost : 0);
    for (const status of await Promise.all(ended)) exact("a thread's status", status, 0);
  }
  const total = GENERATIONS * (THREADS + 1) * CALLS * times;
  for (const copy of copies) exact("a copy", copy.sum(), total);
  for (const copy of copies) exact("everything inside", copy.run(times), 0);
  const strategies = copies.map((copy) => copy.strategy());
  console.log(`Node ${process.version}: two copies, strategies ${strategies}, ${THREADS} threads`);
}

if (isMainThread) main();
else add(0);
