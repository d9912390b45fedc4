/**
 * Recovery of missed deliveries. The forge is polled for open pull requests without recent deliveries, and
 * for the checks of their heads. The answers are stored, processed and shown like deliveries.
 */
import { createHash } from 'node:crypto';
import { type PlainDb, type Pool } from '@muster/driver';
import { parseUntrustedJson } from '@muster/contract';
import { acrossOrganizations, inOrganizationAsSystem, outboxRow } from '@muster/tenancy';
import { z } from 'zod';
import { type RepositoryAtForge, pullApiUrl, repositoryApiUrl } from './calls/api.ts';
import { requireSuccess, type ForgeAnswer, ForgeRefusal, findRetryTime } from './calls/call.ts';
import { requestPages } from './calls/pages.ts';
import { requestChanges } from './data/changes.ts';
import { pollAnswerIdPrefix, insertDelivery } from './data/deliveries.ts';
import { listKnownChecks } from './data/pulls.ts';
import { requestPolls, findPullToPoll, storeEtag, pullsToPollQuery } from './data/quiet-pulls.ts';
import { storeSuccess } from './data/statuses.ts';
import { type CheckDelivery, createChecksRequests } from './rules/asked-checks.ts';
import { type PullDelivery, toPullDelivery } from './rules/asked-pulls.ts';
import {
  omitsReviewerAccess,
  type ReviewDelivery,
  toReviewDeliveries,
  reviewsPath,
} from './rules/asked-reviews.ts';
import { isSuiteOf } from './rules/check-names.ts';
import { type CommitCheck, type NamedRepository } from './rules/fact.ts';
import { readDelivery } from './rules/translations.ts';
import {
  type ForgeCalls,
  withFailureStored,
  decryptCredentials,
  type AfterJobTransaction,
} from './statuses.ts';

/** Requests a poll of each pull request without recent deliveries, in its own organization. */
export async function requestPullPolls(pool: Pool, signal: AbortSignal): Promise<void> {
  const quiet = await acrossOrganizations(pool, (db) => db.all(pullsToPollQuery()));
  for (const [orgId, pulls] of Map.groupBy(quiet, (pull) => pull.orgId)) {
    signal.throwIfAborted();
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.deferToCommit(requestPolls(pulls.map(({ executionId }) => executionId)));
    });
  }
}

const pollDeliveryId = (url: string, identifyingValues: readonly unknown[]): string =>
  `${pollAnswerIdPrefix}${createHash('sha256')
    .update(JSON.stringify([url, ...identifyingValues]))
    .digest('hex')
    .slice(0, 32)}`;

/**
 * Applies a reader to an answer. Throws ForgeRefusal if the answer does not match the forge's documentation.
 */
export function parseAnswer<Parsed>({ text }: ForgeAnswer, reader: (answer: unknown) => Parsed): Parsed {
  try {
    return reader(parseUntrustedJson(text));
  } catch (error) {
    const problem = error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : 'not valid JSON';
    const message = `the forge answered in an unexpected format: ${problem}`;
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
}

/** A check report, and the delivery that contains it. */
interface DeliveredChecks extends CheckDelivery {
  readonly url: string;
  readonly checks: readonly CommitCheck[];
}

/**
 * Returns true if the answer contains no news about checks. Credentials without the permission to read checks
 * may still read pull requests.
 */
const hasNoCheckData = (answer: ForgeAnswer): boolean =>
  answer.status === 304 ||
  ((answer.status === 403 || answer.status === 404) && findRetryTime(answer, Date.now()) === null);

/** The maximum number of pages that are read of each list. */
const maxPages = 10;

const hasCheckInState = ({ checks }: DeliveredChecks, state: CommitCheck['state']): boolean =>
  checks.some((check) => check.state === state);

/**
 * Sorts check reports for processing one by one. Reports of passed checks come last, and are left out while a
 * check is pending. A passed report that is processed early would be taken for the result of all checks.
 */
function sortForProcessing(checkDeliveries: readonly DeliveredChecks[]): readonly DeliveredChecks[] {
  const others = checkDeliveries.filter((one) => !hasCheckInState(one, 'passed'));
  const isOver = !checkDeliveries.some((one) => hasCheckInState(one, 'pending'));
  return isOver ? [...others, ...checkDeliveries.filter((one) => hasCheckInState(one, 'passed'))] : others;
}

type RequestHeaders = Readonly<Record<string, string>>;

/** Reads all pages of an answer. */
async function fetchAllPages<Item>(
  { ask }: ForgeCalls,
  request: { readonly url: string; readonly headers: RequestHeaders },
  reader: (json: unknown) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const answer of requestPages(ask, request, maxPages)) {
    if (hasNoCheckData(answer)) break;
    items.push(...parseAnswer(requireSuccess(request.url, answer), reader));
  }
  return items;
}

/** Requests the checks of a commit from a forge. */
async function fetchChecks(
  calls: ForgeCalls,
  target: RepositoryAtForge,
  {
    appId,
    headers,
    repository,
    sha,
    number,
  }: {
    readonly appId: string | null;
    readonly headers: RequestHeaders;
    readonly repository: NamedRepository;
    readonly sha: string;
    readonly number: number;
  },
): Promise<DeliveredChecks[]> {
  const deliveredChecks: DeliveredChecks[] = [];
  for (const question of createChecksRequests(target.kind, sha, number)) {
    const url = repositoryApiUrl(target) + question.path;
    const checksOfRequest = await fetchAllPages(calls, { url, headers }, (json) =>
      question.read(json, repository).flatMap((delivery) => {
        const reading = readDelivery(target.kind, delivery.event, delivery.payload);
        if ('ignored' in reading) return [];
        const checks = reading.checks.filter(({ name }) => !isSuiteOf(appId, name));
        return checks.length === 0 ? [] : [{ ...delivery, url, checks }];
      }),
    );
    deliveredChecks.push(...checksOfRequest);
  }
  return deliveredChecks;
}

/** Requests the reviews that count, from a forge whose deliveries do not contain this information. */
const fetchReviews = async (
  calls: ForgeCalls,
  target: RepositoryAtForge & { readonly number: number },
  headers: RequestHeaders,
  pullDelivery: PullDelivery | undefined,
): Promise<ReviewDelivery[]> => {
  if (pullDelivery === undefined || !pullDelivery.isOpen || !omitsReviewerAccess(target.kind)) return [];
  const url = repositoryApiUrl(target) + reviewsPath(target.number);
  return fetchAllPages(calls, { url, headers }, (json) => toReviewDeliveries(json, pullDelivery.payload));
};

/**
 * Polls a forge for the pull request of an execution and the checks of its head. The answers are stored as
 * deliveries.
 */
export async function pollPull(
  calls: ForgeCalls,
  { db, orgId }: { readonly db: PlainDb; readonly orgId: string },
  executionId: string,
): Promise<AfterJobTransaction | undefined> {
  const pull = await findPullToPoll(db, executionId);
  if (pull === undefined) return undefined;
  const { quietUntil, connectionId, appId, kind, number, externalId, fullName, defaultBranch } = pull;
  // While the forge asks clients to wait, do not poll. The next round polls this pull request again.
  if (quietUntil !== null && Date.parse(quietUntil) > Date.now()) return undefined;
  const url = pullApiUrl(pull, number);
  const fetchPull = async () => {
    const credentials = decryptCredentials(calls, connectionId, pull);
    const headers = await calls.authorize({ ...pull, credentials });
    const known = pull.etag === null ? {} : { 'if-none-match': pull.etag };
    const answer = requireSuccess(
      url,
      await calls.ask({ method: 'GET', url, headers: { ...headers, ...known } }),
    );
    const repository = { externalId, url: pull.url, fullName, defaultBranch };
    const pullDelivery =
      answer.status === 304
        ? undefined
        : parseAnswer(answer, (json) => toPullDelivery(kind, json, repository));
    const sha = pullDelivery === undefined ? pull.headSha : pullDelivery.isOpen ? pullDelivery.headSha : null;
    const checksRequest = { appId, headers, repository, number };
    const checks = sha === null ? [] : await fetchChecks(calls, pull, { ...checksRequest, sha });
    const reviews = await fetchReviews(calls, pull, headers, pullDelivery);
    const etag = pullDelivery === undefined ? pull.etag : answer.headers['etag'];
    return { etag: typeof etag === 'string' ? etag : null, told: pullDelivery, sha, checks, reviews };
  };
  return async () => {
    const answered = await withFailureStored(calls, { orgId, connectionId }, 'reconcile', fetchPull);
    if (answered instanceof Error) return undefined;
    const { etag, told, sha, checks, reviews } = answered;
    return async (after) => {
      const take = async ({ event, payload }: CheckDelivery, deliveryId: string): Promise<void> => {
        const delivery = {
          connectionId,
          event,
          trust: 'verified',
          payload: JSON.stringify(payload),
        } as const;
        const id = await insertDelivery(after, { ...delivery, deliveryId });
        if (id !== undefined) after.deferToCommit(outboxRow('forge.translate', { deliveryId: id }));
      };
      after.deferToCommit(storeEtag(executionId, etag));
      after.deferToCommit(requestChanges(executionId));
      after.deferToCommit(storeSuccess(connectionId, false));
      // Only a new head or a conflict is news about an open pull request.
      if (told !== undefined && (!told.isOpen || told.hasConflict || told.headSha !== pull.headSha))
        await take(told, pollDeliveryId(url, told.identifyingValues));
      for (const review of reviews) await take(review, pollDeliveryId(url, review.identifyingValues));
      if (sha === null || checks.length === 0) return;
      const known = await listKnownChecks(after, { connectionId, externalId, sha });
      for (const word of sortForProcessing(checks))
        if (word.checks.some(({ name, state }) => !known.has(`${name} ${state}`)))
          await take(word, pollDeliveryId(word.url, [word.event, word.checks]));
    };
  };
}
