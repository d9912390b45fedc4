/**
 * Measures the import of 10,000 issues with 30,000 comments of another tracker by the shipped command line:
 * the import, a repeated import, and its removal.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createClient, httpTransport } from '@muster/client';
import { programEnvironment } from '@muster/testing/environment';
import { foundOrg } from './data.ts';
import { type Effort } from './measure.ts';
import { whole } from './report.ts';
import { type Services } from './services.ts';

const issues = 10_000;
const commentsOfIssue = 3;
const goalSeconds = 180;

export interface ImportsSummary {
  readonly seconds: number;
  readonly againSeconds: number;
  readonly undoSeconds: number;
}

const at = (place: number): string => new Date(Date.UTC(2024, 0, 1) + place * 600_000).toISOString();
const words = 'the board keeps what agents and people said about a story so that none of it is lost '.repeat(
  4,
);

/**
 * Returns issues as Linear's API does. Each has a text of a spec's length, every tenth belongs to an epic,
 * every fifth is blocked by another.
 */
const exported = (): string =>
  JSON.stringify(
    Array.from({ length: issues }, (_, place) => ({
      ...{ identifier: `ENG-${place}`, title: `Issue ${place} of some length`, state: { name: 'Todo' } },
      ...{ description: words, createdAt: at(place), updatedAt: at(place + 1), priority: place % 5 },
      labels: { nodes: [{ name: 'backend' }, { name: `area ${place % 40}` }] },
      project: place % 10 === 0 ? { name: `Epic ${place % 70}` } : null,
      inverseRelations: {
        nodes: place % 5 === 1 ? [{ type: 'blocks', issue: { identifier: `ENG-${place - 1}` } }] : [],
      },
      comments: {
        nodes: Array.from({ length: commentsOfIssue }, (__, number) => ({
          ...{ id: `c-${place}-${number}`, body: words.slice(0, 200), createdAt: at(place + number) },
          user: { name: `Author ${place % 30}` },
        })),
      },
    })),
  );

export async function measureImports(services: Services, { say }: Effort): Promise<ImportsSummary> {
  say('Starting PostgreSQL (fsync on), building coordination-api and the command line');
  const { api, owner } = await services.installation();
  const main = await services.bundle('cli');
  const { token } = await foundOrg(owner, 'bench');
  const client = createClient(httpTransport({ baseUrl: api.url, token }));
  await client.projects.create({ key: 'WEB', name: 'Web shop' });
  const home = await mkdtemp(path.join(tmpdir(), 'muster-bench-import-'));
  services.onStop(() => rm(home, { recursive: true, force: true }));
  const file = path.join(home, 'export.json');
  await writeFile(file, exported());

  const environment = { HOME: home, MUSTER_BASE_URL: api.url, MUSTER_TOKEN: token };
  const run = async (...args: readonly string[]): Promise<{ seconds: number; answer: object }> => {
    const began = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: { ...programEnvironment(), ...environment },
      maxBuffer: 64 * 1024 * 1024,
    });
    return { seconds: (performance.now() - began) / 1_000, answer: JSON.parse(stdout) as object };
  };
  const bring = ['import', 'linear', file, '--project', 'WEB', '--json'];
  const expectCounts = (answer: object, counts: Readonly<Record<string, number>>): void => {
    for (const [name, count] of Object.entries(counts)) {
      const found = (answer as Record<string, unknown>)[name];
      const number = Array.isArray(found) ? found.length : found;
      if (number !== count) throw new Error(`${name}: ${String(number)}, not ${count}`);
    }
  };

  say(`Bringing in ${whole(issues)} issues with ${whole(issues * commentsOfIssue)} comments`);
  const first = await run(...bring);
  expectCounts(first.answer, { created: issues, refused: 0 });
  const { rows } = await owner.query<{ count: number }>('select count(*)::int as count from comments');
  expectCounts(rows[0] ?? {}, { count: issues * commentsOfIssue });
  say('Again');
  const again = await run(...bring);
  expectCounts(again.answer, { created: 0, updated: 0, unchanged: issues });
  say('Taking it back');
  const [, imported] = (await client.imports.list({ projectId: 'WEB' })).items;
  const undone = await run('imports', 'undo', '--import-id', imported?.id ?? '', '--json');
  expectCounts(undone.answer, { removed: issues });
  return { seconds: first.seconds, againSeconds: again.seconds, undoSeconds: undone.seconds };
}

export function renderImports({ seconds, againSeconds, undoSeconds }: ImportsSummary): string {
  return [
    `  ${whole(issues)} issues with ${whole(issues * commentsOfIssue)} comments: ${whole(seconds)} s (goal ${goalSeconds})`,
    `  again, where nothing changed: ${whole(againSeconds)} s; taken back: ${whole(undoSeconds)} s`,
  ].join('\n');
}
