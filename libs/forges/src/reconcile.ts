/**
 * What a forge did not send: it is asked about open pull requests of which nothing was heard for a while. What it answers
 * is put among its deliveries and read like them, so it counts, and is shown, as they are.
 */
import { createHash } from 'node:crypto';
import {
  acrossOrganizations,
  inOrganizationAsSystem,
  outboxRow,
  type PlainDb,
  type Pool,
} from '@muster/database';
import { type ForgeKind } from '@muster/registry';
import { z } from 'zod';
import { pullUrl } from './calls/api.ts';
import { expectGood, type ForgeAnswer, ForgeRefusal } from './calls/call.ts';
import { insertDelivery } from './data/deliveries.ts';
import { askAbout, findAskedPull, noteEtag, quietPulls } from './data/quiet-pulls.ts';
import { noteWorking } from './data/statuses.ts';
import { asDelivered, type AsDelivered } from './rules/asked-pulls.ts';
import { type NamedRepository } from './rules/fact.ts';
import { type ForgeCalls, notingFailure, openCredentials, type Sending } from './statuses.ts';

/** Asks for a look at each pull request that is quiet, in the organization that it is of. */
export async function reconcile(pool: Pool, signal: AbortSignal): Promise<void> {
  const quiet = await acrossOrganizations(pool, (db) => db.all(quietPulls()));
  for (const [orgId, pulls] of Map.groupBy(quiet, (pull) => pull.orgId)) {
    signal.throwIfAborted();
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.later(askAbout(pulls.map(({ executionId }) => executionId)));
    });
  }
}

const deliveryIdFor = (url: string, says: AsDelivered['says']): string =>
  `asked ${createHash('sha256')
    .update(JSON.stringify([url, ...says]))
    .digest('hex')
    .slice(0, 32)}`;

function tellingOf(kind: ForgeKind, { text }: ForgeAnswer, repository: NamedRepository): AsDelivered {
  try {
    return asDelivered(kind, JSON.parse(text), repository);
  } catch (error) {
    const said = error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : 'no JSON';
    const message = `the forge answered what it does not document: ${said}`;
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
}

/** Asks a forge about the pull request of an execution, and takes the answer for what it would have delivered. */
export async function askAboutPull(
  calls: ForgeCalls,
  { db, orgId }: { readonly db: PlainDb; readonly orgId: string },
  executionId: string,
): Promise<Sending | undefined> {
  const pull = await findAskedPull(db, executionId);
  if (pull === undefined) return undefined;
  const { quietUntil, connectionId, kind, number, externalId, fullName, defaultBranch } = pull;
  // The next turn asks.
  if (quietUntil !== null && Date.parse(quietUntil) > Date.now()) return undefined;
  const url = pullUrl(pull, number);
  const ask = async () => {
    const credentials = openCredentials(calls, connectionId, pull);
    const headers = await calls.authorize({ ...pull, credentials });
    const known = pull.etag === null ? {} : { 'if-none-match': pull.etag };
    const answer = expectGood(
      url,
      await calls.ask({ method: 'GET', url, headers: { ...headers, ...known } }),
    );
    if (answer.status === 304) return { etag: pull.etag, told: undefined };
    const repository = { externalId, url: pull.url, fullName, defaultBranch };
    const etag = answer.headers['etag'];
    return { etag: typeof etag === 'string' ? etag : null, told: tellingOf(kind, answer, repository) };
  };
  return async () => {
    const answered = await notingFailure(calls, { orgId, connectionId }, 'reconcile', ask);
    if (answered instanceof Error) return undefined;
    const { etag, told } = answered;
    return async (after) => {
      after.later(noteEtag(executionId, etag));
      after.later(noteWorking(connectionId, false));
      // Of one that is open, only another head or a conflict is news.
      if (told === undefined || (told.isOpen && !told.hasConflict && told.headSha === pull.headSha)) return;
      const id = await insertDelivery(after, {
        ...{ connectionId, event: told.event, trust: 'verified', payload: JSON.stringify(told.payload) },
        deliveryId: deliveryIdFor(url, told.says),
      });
      if (id === undefined) return;
      after.later(outboxRow('forge.translate', { deliveryId: id }));
    };
  };
}
