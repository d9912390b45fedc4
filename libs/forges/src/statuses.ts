/**
 * Sending of statuses to forges. A status describes the state at the time of sending, whatever requested it.
 * Only one job at a time sends to a head, and it checks the state again afterwards. So the newest status wins
 * in any race.
 */
import { type PlainDb, type Pool } from '@muster/driver';
import { type Seals } from '@muster/outbound';
import { ApiError, type ForgeFailure, inside } from '@muster/registry';
import { asSystem, type HandlerEnvironment, type PerformAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemFacts } from '@muster/tenancy';
import { statusRequest } from './calls/api.ts';
import { type Authorize, createAuthorize } from './calls/authorize.ts';
import { type AskForge, expectGood, failureOf, type ForgeAnswer, ForgeRefusal } from './calls/call.ts';
import { credentialsOwner, noteFailure } from './data/connections.ts';
import {
  askForStatus,
  type Callee,
  freeHead,
  type Head,
  holdHead,
  keepQuiet,
  noteWorking,
  openHeads,
  readHead,
  settleHead,
  type WorkAtHead,
} from './data/statuses.ts';
import { forgeActor } from './translate.ts';
import { type CommitStatus, standingOf, type StoryStanding, type WorkStanding } from './rules/standing.ts';

/** The fields of a story that its link needs. */
export interface LinkedStory {
  readonly id: string;
  readonly key: string;
  readonly projectId: string;
}

/** The dependencies of calls to forges. */
export interface ForgeCalls {
  readonly pool: Pool;
  readonly environment: HandlerEnvironment;
  readonly seals: Seals;
  readonly ask: AskForge;
  readonly authorize: Authorize;
  /** Returns the URL of a story for people; null if the installation configured none. */
  readonly linkTo: (story: LinkedStory) => string | null;
}

export const createForgeCalls = (options: Omit<ForgeCalls, 'authorize'>): ForgeCalls => ({
  ...options,
  ...createAuthorize(options.ask),
});

/**
 * The part of a job that runs after the job's transaction. It returns a function that runs in another
 * transaction.
 */
export type SendStatus = () => Promise<((db: PlainDb) => Promise<void>) | undefined>;

export interface StatusJob {
  readonly db: PlainDb;
  readonly orgId: string;
  readonly rowId: string;
}

const statusWork = (db: PlainDb, orgId: string, kind: Callee['kind'], head: Head) => ({
  ...{ db, orgId, actor: forgeActor(kind) },
  facts: systemFacts('forge.status', head.connectionId),
});

async function storyStanding(
  perform: PerformAsSystem,
  projectId: string,
  storyId: string,
): Promise<StoryStanding | undefined> {
  try {
    const on = { id: storyId, projectId };
    const gate = await perform(inside.mergeGate, on, { storyId });
    const { collisions, moreLocks } = await perform(inside.workAround, on, { storyId });
    const lockedPaths = collisions.filter(({ kind }) => kind === 'lock').map(({ path }) => path);
    return { ...gate, moreLocks, lockedPaths: [...new Set(lockedPaths)] };
  } catch (error) {
    // The story was deleted in the meantime.
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

interface Present {
  readonly callee: Callee;
  readonly standing: CommitStatus;
  readonly story: LinkedStory | undefined;
}

/**
 * Computes the current status of a head. Returns undefined if there is no work at it any more, or its forge
 * cannot be called.
 */
async function presentOf(
  { environment }: ForgeCalls,
  { db, orgId }: Omit<StatusJob, 'rowId'>,
  head: Head,
): Promise<Present | undefined> {
  const found = await readHead(db, head);
  if (found === undefined) return undefined;
  const { callee, works } = found;
  const ofWork = async (perform: PerformAsSystem, { endedAs, projectId, storyIds }: WorkAtHead) => {
    const stories: (StoryStanding & LinkedStory)[] = [];
    for (const id of storyIds) {
      const standing = await storyStanding(perform, projectId, id);
      if (standing !== undefined) stories.push({ ...standing, id, projectId });
    }
    return { endedAs, stories } satisfies WorkStanding;
  };
  const standings = await asSystem(statusWork(db, orgId, callee.kind, head), environment, async (perform) => {
    const all: Awaited<ReturnType<typeof ofWork>>[] = [];
    for (const work of works) all.push(await ofWork(perform, work));
    return all;
  });
  const story = standings.flatMap(({ stories }) => stories)[0];
  return { callee, standing: standingOf(standings, head.sha), story };
}

const isSame = (one: CommitStatus, other: { state: string | null; description: string | null }): boolean =>
  one.state === other.state && one.description === other.description;

/** Returns true if GitLab refused the status because it is unchanged. */
const standsAlready = (answer: ForgeAnswer): boolean =>
  answer.status === 400 && answer.text.includes('Cannot transition status');

/**
 * Runs a call and stores its failure in the connection. Returns a refusal if a retry is useless or must wait,
 * and rethrows all other errors.
 */
export async function notingFailure<Result>(
  { pool }: ForgeCalls,
  { orgId, connectionId }: { readonly orgId: string; readonly connectionId: string },
  doing: ForgeFailure['doing'],
  work: () => Promise<Result>,
): Promise<Result | ForgeRefusal> {
  try {
    return await work();
  } catch (error) {
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.later(noteFailure(connectionId, failureOf(doing, error)));
      if (error instanceof ForgeRefusal && error.quietUntil !== null)
        db.later(keepQuiet(connectionId, error.quietUntil));
    });
    if (error instanceof ForgeRefusal && (error.isFinal || error.quietUntil !== null)) return error;
    throw error;
  }
}

/** Decrypts the credentials of a connection. */
export const openCredentials = (
  { seals }: ForgeCalls,
  connectionId: string,
  { credentials, organizationKey }: Pick<Callee, 'credentials' | 'organizationKey'>,
): string | undefined => seals.open(credentialsOwner(organizationKey, connectionId), credentials);

/**
 * Sends the current status of a head. It sends nothing if the status is unchanged, or if another job holds
 * the head, because that job checks the state again.
 */
export async function sendStatus(
  calls: ForgeCalls,
  job: StatusJob,
  head: Head,
): Promise<SendStatus | undefined> {
  const { db, orgId, rowId } = job;
  const before = await holdHead(db, head, rowId);
  if (before === undefined) return undefined;
  const present = await presentOf(calls, job, head);
  if (present === undefined || isSame(present.standing, before)) {
    db.later(freeHead(head, rowId));
    return undefined;
  }
  const { callee, standing, story } = present;
  const { quietUntil } = callee;
  if (quietUntil !== null && Date.parse(quietUntil) > Date.now()) {
    db.later(freeHead(head, rowId));
    db.later(askForStatus(head, quietUntil));
    return undefined;
  }
  const credentials = openCredentials(calls, head.connectionId, callee);
  const at = { ...callee, externalId: head.externalId };
  const link = story === undefined ? null : calls.linkTo(story);
  const send = async (): Promise<undefined> => {
    const headers = await calls.authorize({ ...callee, connectionId: head.connectionId, credentials });
    const isApp = credentials?.includes('"appId"') === true;
    const { url, body } = statusRequest(at, { ...standing, sha: head.sha, link }, isApp);
    const request = {
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    };
    const answer = await calls.ask(request as Parameters<AskForge>[0]);
    if (!standsAlready(answer)) expectGood(url, answer);
  };
  return async () => {
    const where = { orgId, connectionId: head.connectionId };
    const refusal = await notingFailure(calls, where, 'sendStatus', send);
    return async (after) => {
      if (refusal?.isFinal === false) {
        after.later(freeHead(head, rowId));
        after.later(askForStatus(head, refusal.quietUntil));
        return;
      }
      // While this job held the head, other jobs skipped it. This job therefore checks the state again.
      await settleHead(after, head, standing, rowId);
      const now = await presentOf(calls, { db: after, orgId }, head);
      if (now !== undefined && !isSame(standing, now.standing)) after.later(askForStatus(head));
      if (refusal === undefined) after.later(noteWorking(head.connectionId, true));
    };
  };
}

/** Requests a status for each head of the organization whose status differs from the last sent one. */
export async function lookAtHeads(calls: ForgeCalls, work: Omit<StatusJob, 'rowId'>): Promise<void> {
  for (const { state, description, ...head } of await openHeads(work.db)) {
    const present = await presentOf(calls, work, head);
    if (present !== undefined && !isSame(present.standing, { state, description }))
      work.db.later(askForStatus(head));
  }
}
