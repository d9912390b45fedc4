// npm run prove: tests properties that must hold under faults, races and bad tokens, with the full amount of work. Each
// property has controls, which run without one of its guards and must fail. The command starts all servers that it needs.
// It exits with 1 if a property does not hold or a control does not fail.
//
//   --short       does less, as npm test does, and leaves out the controls that take long
//   --seed 7      repeats the random choices of a run with this seed; by default the seed is random
//   --only a,b    runs only these properties, in this order, such as "lease model"
//   --write       writes the figures of each proven property into docs/proof.md; only for a long run
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type ProofResult, writePage } from './page.ts';
import { properties } from './properties.ts';
import { type Control, figuresInWords, type Property, type Findings, type Scale } from './property.ts';
import { Services } from './services.ts';

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const scale: Scale = options.short ? 'short' : 'long';
const maxShown = 5;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function seedOf(text: string | undefined): number {
  const seed = text === undefined ? randomInt(1_000_000) : Number(text);
  if (Number.isInteger(seed) && seed >= 0) return seed;
  throw new Error(`--seed is no whole number: ${text ?? ''}`);
}

function chosen(): readonly Property[] {
  const only = options.only?.split(',').map((name) => name.trim());
  const unknown = only?.find((name) => !properties.some((property) => property.name === name));
  if (unknown !== undefined)
    throw new Error(`--only ${unknown}: there are ${properties.map(({ name }) => name).join(', ')}`);
  if (only === undefined) return properties;
  return only.flatMap((wanted) => properties.filter(({ name }) => name === wanted));
}

/** Prints a line about one run, and the violations below it if the result is not the required one. */
function show(name: string, isFine: boolean, { violations, figures }: Findings, millis: number): void {
  say(`  ${isFine ? '✓' : '✗'} ${name} (${figuresInWords(figures)}, ${(millis / 1000).toFixed(1)} s)`);
  if (isFine) return;
  for (const violation of violations.slice(0, maxShown))
    say(`      ${violation.replaceAll('\n', '\n      ')}`);
  if (violations.length > maxShown) say(`      … and ${violations.length - maxShown} more`);
  if (violations.length === 0) say('      nothing came of it: what was to find this looks away');
}

async function prove(services: Services, property: Property, seed: number): Promise<ProofResult> {
  const attempt = async (run: Property['run'] | Control['run'], name: string, mustFail: boolean) => {
    const started = performance.now();
    const broken = new AbortController();
    const report = await services
      .during((scope) => run({ seed, scale, services: scope, note: (line) => say(`      ${line}`) }))
      .catch((error: unknown): Findings => {
        broken.abort();
        return {
          violations: [`it broke off: ${error instanceof Error ? (error.stack ?? '') : String(error)}`],
          figures: {},
        };
      });
    const isFine = !broken.signal.aborted && mustFail === report.violations.length > 0;
    const millis = performance.now() - started;
    show(name, isFine, report, millis);
    return { isFine, report, millis };
  };
  say(`${property.name}: ${property.promise}`);
  const { isFine: holds, report, millis } = await attempt((setting) => property.run(setting), 'holds', false);
  const controls = property.controls.filter(({ leftTo }) => scale === 'long' || leftTo !== 'the long form');
  let red = 0;
  for (const control of controls) {
    const { isFine } = await attempt((setting) => control.run(setting), `fails: ${control.name}`, true);
    red += Number(isFine);
  }
  const { figures } = report;
  return { property, seed, on: new Date(), holds, figures, millis, controls: controls.length, red };
}

const isProven = ({ holds, controls, red }: ProofResult): boolean => holds && red === controls;

async function run(): Promise<boolean> {
  const seed = seedOf(options.seed);
  const picked = chosen();
  if (options.write && options.short) throw new Error('--write is for a long run');
  const services = new Services();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void services.stop().finally(() => process.exit(130)));
  try {
    say(`Seed ${seed}`);
    const proofs: ProofResult[] = [];
    for (const property of picked) {
      const proof = await prove(services, property, seed);
      proofs.push(proof);
      if (options.write && isProven(proof)) await writePage(proof);
    }
    const holding = proofs.filter(isProven).length;
    say(`${holding} of ${proofs.length} properties are proven, with seed ${seed}`);
    return holding === proofs.length;
  } finally {
    await services.stop();
  }
}

process.exitCode = await run().then(
  (proven) => (proven ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  },
);
