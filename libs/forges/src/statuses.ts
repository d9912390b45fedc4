/**
 * Sending of statuses to forges. A status describes the state at the time of sending, whatever requested it.
 * Only one job at a time sends to a head, and it checks the state again afterwards. So the newest status wins
 * in any race.
 */
import { type PlainDb, type Pool } from '@muster/driver';
import { type SecretCipher } from '@muster/outbound';
import { ApiError, type ForgeFailure, internalOperations } from '@muster/contract';
import { runAsSystem, type HandlerEnvironment, type PerformAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemAuditFacts } from '@muster/tenancy';
import { createStatusRequest } from './calls/api.ts';
import { type Authorize, createAuthorizedCalls } from './calls/authorize.ts';
import {
  type SendForgeRequest,
  requireSuccess,
  toForgeFailure,
  type ForgeAnswer,
  ForgeRefusal,
} from './calls/call.ts';
import { credentialsSecretOwner, storeFailure } from './data/connections.ts';
import {
  requestStatus,
  type ForgeToCall,
  releaseHead,
  type PullHead,
  acquireHead,
  pauseCallsUntil,
  storeSuccess,
  listOpenHeads,
  readForgeAndWork,
  storeSentStatus,
  type WorkAtHead,
} from './data/statuses.ts';
import { forgeActor } from './translate.ts';
import {
  type CommitStatus,
  combineWorkStatus,
  type StoryMergeState,
  type WorkMergeState,
} from './rules/standing.ts';

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
  readonly seals: SecretCipher;
  readonly ask: SendForgeRequest;
  readonly authorize: Authorize;
  /** Returns the URL of a story for people; null if the installation configured none. */
  readonly linkToStory: (story: LinkedStory) => string | null;
}

export const createForgeCalls = (options: Omit<ForgeCalls, 'authorize'>): ForgeCalls => ({
  ...options,
  ...createAuthorizedCalls(options.ask),
});

/**
 * The part of a job that runs after the job's transaction. It returns a function that runs in another
 * transaction.
 */
export type AfterJobTransaction = () => Promise<((db: PlainDb) => Promise<void>) | undefined>;

export interface StatusJob {
  readonly db: PlainDb;
  readonly orgId: string;
  readonly rowId: string;
}

const createStatusWork = (db: PlainDb, orgId: string, kind: ForgeToCall['kind'], head: PullHead) => ({
  ...{ db, orgId, actor: forgeActor(kind) },
  facts: systemAuditFacts('forge.status', head.connectionId),
});

async function readStoryMergeState(
  perform: PerformAsSystem,
  projectId: string,
  storyId: string,
): Promise<StoryMergeState | undefined> {
  try {
    const on = { id: storyId, projectId };
    const gate = await perform(internalOperations.mergeGate, on, { storyId });
    const { collisions, moreLocks } = await perform(internalOperations.workAround, on, { storyId });
    const lockedPaths = collisions.filter(({ kind }) => kind === 'lock').map(({ path }) => path);
    return { ...gate, hasMoreLocks: moreLocks, lockedPaths: [...new Set(lockedPaths)] };
  } catch (error) {
    // The story was deleted in the meantime.
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

interface CurrentHeadStatus {
  readonly callee: ForgeToCall;
  readonly commitStatus: CommitStatus;
  readonly story: LinkedStory | undefined;
}

/**
 * Computes the current status of a head. Returns undefined if there is no work at it any more, or its forge
 * cannot be called.
 */
async function computeHeadStatus(
  { environment }: ForgeCalls,
  { db, orgId }: Omit<StatusJob, 'rowId'>,
  head: PullHead,
): Promise<CurrentHeadStatus | undefined> {
  const found = await readForgeAndWork(db, head);
  if (found === undefined) return undefined;
  const { callee, works } = found;
  const ofWork = async (perform: PerformAsSystem, { endedAs, projectId, storyIds }: WorkAtHead) => {
    const stories: (StoryMergeState & LinkedStory)[] = [];
    for (const id of storyIds) {
      const standing = await readStoryMergeState(perform, projectId, id);
      if (standing !== undefined) stories.push({ ...standing, id, projectId });
    }
    return { endedAs, stories } satisfies WorkMergeState;
  };
  const standings = await runAsSystem(
    createStatusWork(db, orgId, callee.kind, head),
    environment,
    async (perform) => {
      const all: Awaited<ReturnType<typeof ofWork>>[] = [];
      for (const work of works) all.push(await ofWork(perform, work));
      return all;
    },
  );
  const story = standings.flatMap(({ stories }) => stories)[0];
  return { callee, commitStatus: combineWorkStatus(standings, head.sha), story };
}

const isSameStatus = (
  left: CommitStatus,
  right: { state: string | null; description: string | null },
): boolean => left.state === right.state && left.description === right.description;

/** Returns true if GitLab refused the status because it is unchanged. */
const isUnchangedAtGitlab = (answer: ForgeAnswer): boolean =>
  answer.status === 400 && answer.text.includes('Cannot transition status');

/**
 * Runs a call and stores its failure in the connection. Returns a refusal if a retry is useless or must wait,
 * and rethrows all other errors.
 */
export async function withFailureStored<Result>(
  { pool }: ForgeCalls,
  { orgId, connectionId }: { readonly orgId: string; readonly connectionId: string },
  callKind: ForgeFailure['doing'],
  work: () => Promise<Result>,
): Promise<Result | ForgeRefusal> {
  try {
    return await work();
  } catch (error) {
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.deferToCommit(storeFailure(connectionId, toForgeFailure(callKind, error)));
      if (error instanceof ForgeRefusal && error.quietUntil !== null)
        db.deferToCommit(pauseCallsUntil(connectionId, error.quietUntil));
    });
    if (error instanceof ForgeRefusal && (error.isFinal || error.quietUntil !== null)) return error;
    throw error;
  }
}

/** Decrypts the credentials of a connection. */
export const decryptCredentials = (
  { seals }: ForgeCalls,
  connectionId: string,
  { credentials, organizationKey }: Pick<ForgeToCall, 'credentials' | 'organizationKey'>,
): string | undefined => seals.decrypt(credentialsSecretOwner(organizationKey, connectionId), credentials);

/**
 * Sends the current status of a head. It sends nothing if the status is unchanged, or if another job holds
 * the head, because that job checks the state again.
 */
export async function sendStatus(
  calls: ForgeCalls,
  job: StatusJob,
  head: PullHead,
): Promise<AfterJobTransaction | undefined> {
  const { db, orgId, rowId } = job;
  const before = await acquireHead(db, head, rowId);
  if (before === undefined) return undefined;
  const present = await computeHeadStatus(calls, job, head);
  if (present === undefined || isSameStatus(present.commitStatus, before)) {
    db.deferToCommit(releaseHead(head, rowId));
    return undefined;
  }
  const { callee, commitStatus, story } = present;
  const { quietUntil } = callee;
  if (quietUntil !== null && Date.parse(quietUntil) > Date.now()) {
    db.deferToCommit(releaseHead(head, rowId));
    db.deferToCommit(requestStatus(head, quietUntil));
    return undefined;
  }
  const credentials = decryptCredentials(calls, head.connectionId, callee);
  const at = { ...callee, externalId: head.externalId };
  const link = story === undefined ? null : calls.linkToStory(story);
  const send = async (): Promise<undefined> => {
    const headers = await calls.authorize({ ...callee, connectionId: head.connectionId, credentials });
    const isApp = credentials?.includes('"appId"') === true;
    const { url, body } = createStatusRequest(at, { ...commitStatus, sha: head.sha, link }, isApp);
    const request = {
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    };
    const answer = await calls.ask(request as Parameters<SendForgeRequest>[0]);
    if (!isUnchangedAtGitlab(answer)) requireSuccess(url, answer);
  };
  return async () => {
    const where = { orgId, connectionId: head.connectionId };
    const refusal = await withFailureStored(calls, where, 'sendStatus', send);
    return async (after) => {
      if (refusal?.isFinal === false) {
        after.deferToCommit(releaseHead(head, rowId));
        after.deferToCommit(requestStatus(head, refusal.quietUntil));
        return;
      }
      // While this job held the head, other jobs skipped it. This job therefore checks the state again.
      await storeSentStatus(after, head, commitStatus, rowId);
      const now = await computeHeadStatus(calls, { db: after, orgId }, head);
      if (now !== undefined && !isSameStatus(commitStatus, now.commitStatus))
        after.deferToCommit(requestStatus(head));
      if (refusal === undefined) after.deferToCommit(storeSuccess(head.connectionId, true));
    };
  };
}

/**
 * Queues a job for the head commit of each open pull request in the organization whose status differs from
 * the status that was sent last. The job sends the commit status.
 */
export async function queueChangedStatuses(calls: ForgeCalls, work: Omit<StatusJob, 'rowId'>): Promise<void> {
  for (const { state, description, ...head } of await listOpenHeads(work.db)) {
    const present = await computeHeadStatus(calls, work, head);
    if (present !== undefined && !isSameStatus(present.commitStatus, { state, description }))
      work.db.deferToCommit(requestStatus(head));
  }
}
