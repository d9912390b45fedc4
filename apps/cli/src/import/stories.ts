/** Rows of a file become stories of a project, each once, however often the file is brought in. */
import { createHash } from 'node:crypto';
import { type Client, createClient, MusterError } from '@muster/client';
import { registry } from '@muster/registry';
import { transportOf } from '../operations/run.ts';
import { type Connection } from '../session/connection.ts';
import { type Progress } from './progress.ts';
import { type Origin, type Row } from './rows.ts';

export interface Report {
  readonly created: { place: string; key: string }[];
  /** An import before this one made them. */
  readonly present: { place: string; key: string }[];
  readonly refused: { place: string; why: string }[];
}

export const emptyReport = (): Report => ({ created: [], present: [], refused: [] });

/** What the contract has against a row; undefined where nothing. */
export function whyNot(project: string, { story }: Row): string | undefined {
  const parsed = registry.stories.create.params.safeParse({ projectId: project, ...story });
  if (parsed.success) return undefined;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

/**
 * The same for the same row of the same project, wherever in the file it stands; the second of two equal rows is
 * another story.
 */
function keyOf(project: string, { story, origin }: Row, copies: Map<string, number>): string {
  const text = JSON.stringify([project.toUpperCase(), story, origin]);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 40);
  const copy = copies.get(hash) ?? 0;
  copies.set(hash, copy + 1);
  return `import-${hash}-${copy}`;
}

const originText = ({ provider, externalId }: Pick<Origin, 'provider' | 'externalId'>): string =>
  `${provider} ${externalId}`;

/** Stories that name their origin; older imports are found by them, after any key is forgotten. */
async function knownOrigins(client: Client, project: string): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  for await (const { key, upstream } of client.stories.list.all({ projectId: project, limit: 200 })) {
    if (upstream !== null) known.set(`${upstream.provider} ${upstream.externalId}`, key);
  }
  return known;
}

/** Refusals of the one row; whatever else is refused would be for all rows. */
const isOfRow = (error: unknown): error is MusterError =>
  error instanceof MusterError && [400, 409, 413, 422].includes(error.status) && error.reason !== 'archived';

const sentence = ({ body: { message, details } }: MusterError): string => {
  const issues = details?.issues ?? [];
  return issues.length > 0
    ? issues.map(({ path, message: what }) => `${path}: ${what}`).join('; ')
    : `${message} (${details?.reason ?? 'refused'})`;
};

export async function importStories(
  connection: Connection,
  project: string,
  rows: readonly Row[],
  progress: Progress,
  report: Report,
): Promise<void> {
  let replayed = false;
  const noting: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    replayed = response.headers.get('idempotency-replayed') === 'true';
    return response;
  };
  const client = createClient(transportOf(connection, noting));
  const known = rows.some(({ origin }) => origin !== undefined)
    ? await knownOrigins(client, project)
    : new Map<string, string>();
  const copies = new Map<string, number>();

  const importRow = async (row: Row): Promise<void> => {
    const { place, story, origin } = row;
    const idempotencyKey = keyOf(project, row, copies);
    const before = origin && known.get(originText(origin));
    if (before !== undefined) {
      report.present.push({ place, key: before });
      return;
    }
    const why = whyNot(project, row);
    if (why !== undefined) {
      report.refused.push({ place, why });
      return;
    }
    // No story begins as canceled: that is a move.
    const { status, ...others } = story;
    const isCanceled = status === 'canceled';
    const { story: made } = await client.stories.create(
      { projectId: project, ...others, ...(status !== undefined && !isCanceled && { status }) },
      { idempotencyKey },
    );
    const isNew = !replayed;
    if (isCanceled) await client.stories.updateStatus({ storyId: made.id, status }, { idempotencyKey });
    if (origin !== undefined) {
      await client.stories.updateUpstream({ storyId: made.id, upstream: origin }, { idempotencyKey });
      known.set(originText(origin), made.key);
    }
    report[isNew ? 'created' : 'present'].push({ place, key: made.key });
  };

  // One after the other: their order is the order on the board.
  for (const [done, row] of rows.entries()) {
    progress.show(done);
    await importRow(row).catch((error: unknown) => {
      if (!isOfRow(error)) throw error;
      report.refused.push({ place: row.place, why: sentence(error) });
    });
  }
}
