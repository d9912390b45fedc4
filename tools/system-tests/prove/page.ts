/** Writes docs/proof.md: the properties, and the results of the last long run of each. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { formatted, repositoryRoot } from '@muster/tools';
import { properties } from './properties.ts';
import { figuresInWords, type Property, type Findings } from './property.ts';

/** The result of one property's run. */
export interface ProofResult {
  readonly property: Property;
  readonly seed: number;
  readonly on: Date;
  readonly holds: boolean;
  readonly figures: Findings['figures'];
  readonly millis: number;
  readonly controls: number;
  /** The number of controls that failed, as they must. */
  readonly red: number;
}

const file = path.join(repositoryRoot, 'docs/proof.md');

const row = ({ property, figures, red, controls, millis, on, seed }: ProofResult): string => {
  const cells = [
    ...[property.name, figuresInWords(figures), `${red} of ${controls}`, `${Math.round(millis / 1000)} s`],
    ...[on.toISOString().slice(0, 10), seed.toString()],
  ];
  return `| ${cells.join(' | ')} |`;
};

/** Returns the table rows of a documentation page, keyed by the name of their property. */
const rowsOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/^\| *([a-z ]+?) *(?:\|[^|\n]*){3}\| *\d{4}-\d\d-\d\d *\| *\d+ *\|$/gm)].map(
      ({ 0: text, 1: name = '' }) => [name, text],
    ),
  );

const guards = ({ name, promise, controls }: Property): string =>
  `## ${name}\n\n${promise}\n\nEach of these was seen to fail:\n\n${controls
    .map((control) => `- ${control.name}`)
    .join('\n')}`;

/** Returns the page with this result. The rows of other properties stay as they are. */
export function pageWith(proof: ProofResult, page: string): string {
  const rows = new Map([...rowsOf(page), [proof.property.name, row(proof)]]);
  const tried = properties.filter(({ name }) => rows.has(name));
  return `# The proof set

Written by \`npm run prove -- --write\`. Each property must hold under faults, races and bad tokens, and is tried on real
servers. Each has controls: the same with a guard removed, by other SQL in place of ours on its way to Postgres, or by other
code in what ships. A control that does not fail is an error as well, and so is one that found nothing to replace: a harness
that cannot fail proves nothing.

\`npm test\` runs a short form (\`tools/system-tests/prove/prove.spec.ts\`). \`npm run prove\` runs the long one, and
\`-- --only "lease model"\` a part of it. Each run prints its seed; \`-- --seed N\` does the same again. A property is a
file in \`tools/system-tests/prove/properties\` and a line in \`tools/system-tests/prove/properties.ts\`.

The last long run in which each property held and all of its controls failed:

| property | tried | controls that failed | time | on | seed |
|---|---|---|---|---|---|
${tried.map(({ name }) => rows.get(name)).join('\n')}

${tried.map(guards).join('\n\n')}
`;
}

export async function writePage(proof: ProofResult): Promise<void> {
  const page = await readFile(file, 'utf8');
  await writeFile(file, await formatted(file, pageWith(proof, page)));
}
