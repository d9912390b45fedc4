/** docs/proof.md: what is proven, and what the last whole run came to. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { repositoryRoot } from '../dev/repository.ts';
import { type Property, type Report } from './property.ts';

/** A property that was tried. */
export interface Proof {
  readonly property: Property;
  readonly holds: boolean;
  readonly figures: Report['figures'];
  readonly millis: number;
  readonly controls: number;
  /** The controls that failed, as they have to. */
  readonly red: number;
}

const file = path.join(repositoryRoot, 'docs/proof.md');

const row = ({ property, figures, millis, controls, red }: Proof): string => {
  const done = Object.entries(figures).map(([what, figure]) => `${figure.toLocaleString('en-US')} ${what}`);
  return `| ${property.name} | ${done.join(', ')} | ${red} of ${controls} | ${Math.round(millis / 1000)} s |`;
};

const guards = ({ property }: Proof): string =>
  `## ${property.name}\n\n${property.promise}\n\nEach of these was seen to fail:\n\n${property.controls
    .map(({ name }) => `- ${name}`)
    .join('\n')}`;

export const pageOf = (proofs: readonly Proof[], seed: number, on: Date): string => `# The proof set

Written by \`npm run prove -- --write\`. What must hold under faults, races and bad tokens is tried on real servers, and
every property has controls: the same with a guard taken out, by other SQL put in place of ours on its way to
Postgres, or other code in what ships. A control that does not fail is an error as well, and so is one that found nothing
to replace: a harness that cannot fail proves nothing.

\`npm test\` runs a short form (\`tools/prove/prove.spec.ts\`). \`npm run prove\` runs the long one, \`-- --only "lease model"\`
a part of it. Each run prints its seed; \`-- --seed N\` does the same again. A property is a file in
\`tools/prove/properties\` and a line in \`tools/prove/properties.ts\`.

The last whole run, on ${on.toISOString().slice(0, 10)} with seed ${seed}:

| property | tried | controls that failed | time |
|---|---|---|---|
${proofs.map(row).join('\n')}

${proofs.map(guards).join('\n\n')}
`;

export async function writePage(proofs: readonly Proof[], seed: number, on: Date): Promise<void> {
  const style = await resolveConfig(file);
  await writeFile(file, await format(pageOf(proofs, seed, on), { ...style, filepath: file }));
}
