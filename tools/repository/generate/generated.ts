/** What is generated from the sources and checked in: each file's place and its text as it should be now. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate } from '@muster/migrations';
import { updatePageDates, knownDates, referencePages } from '@muster/reference';
import { surfaceText } from '@muster/registry/surface';
import { Client } from 'pg';
import { formatted, startPostgres } from '@muster/tools';
import { configurationPage } from './configuration.ts';
import { errorsGuide, guideFile } from './errors-guide.ts';
import { kindsText } from './kinds.ts';
import { writeRowTypes } from './row-types.ts';
import { schemaSql } from './schema-sql.ts';
import { rightsPage } from './rights.ts';
import { statesPage } from './states.ts';
import { versionFiles } from './version.ts';

/** Text by path, relative to the repository. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** What people read, a column a line, is schema.sql. */
const tableALine = (text: string): string =>
  text.replaceAll(/^export interface \w+ \{\n(?: .*\n)+\}$/gm, (table) => table.replaceAll(/\n\s*/g, ' '));

export async function generatedFiles(): Promise<GeneratedFiles> {
  const postgres = await startPostgres({ durable: false });
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-generate-'));
  const client = new Client({ connectionString: postgres.url });
  try {
    await migrate(postgres.url);
    await client.connect();
    const types = path.join(folder, 'schema.ts');
    await writeRowTypes(postgres.url, types);
    return new Map([
      ...(await versionFiles()),
      [
        'libs/driver/src/schema.generated.ts',
        tableALine(await formatted(types, await readFile(types, 'utf8'))),
      ],
      ['libs/migrations/schema.sql', await schemaSql(client)],
      ['libs/registry/surface.generated.json', surfaceText()],
      ['libs/client/src/kinds.generated.ts', await kindsText()],
      ['docs/states.md', await statesPage()],
      ['docs/rights.md', await rightsPage()],
      [guideFile, await errorsGuide()],
      ['docs/configuration.md', await configurationPage()],
      ['libs/reference/src/dates.generated.ts', await datesText()],
    ]);
  } finally {
    await client.end();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A day on which a page of the reference changed stands for good, so that its last change is true. */
function datesText(): Promise<string> {
  const dates = updatePageDates(referencePages(), knownDates, new Date().toISOString().slice(0, 10));
  return formatted('dates.ts', `export const dates = ${JSON.stringify(dates)};`);
}
