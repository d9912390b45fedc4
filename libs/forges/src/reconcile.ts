/**
 * Recovery of missed deliveries. The forge is polled for open pull requests without recent deliveries, and
 * for the checks of their heads. The answers are stored, processed and shown like deliveries.
 */
import { createHash } from 'node:crypto';
import { type PlainDb, type Pool } from '@muster/driver';
import { parseUntrustedJson } from '@muster/registry';
import { acrossOrganizations, inOrganizationAsSystem, outboxRow } from '@muster/tenancy';
import { z } from 'zod';
import { type NamedAtForge, pullUrl, repositoryUrlAt } from './calls/api.ts';
import { expectGood, type ForgeAnswer, ForgeRefusal, patienceOf } from './calls/call.ts';
import { askedId, insertDelivery } from './data/deliveries.ts';
import { knownChecks } from './data/pulls.ts';
import { askAbout, findAskedPull, noteEtag, quietPulls } from './data/quiet-pulls.ts';
import { noteWorking } from './data/statuses.ts';
import { type CheckDelivery, checksQuestions } from './rules/asked-checks.ts';
import { type AsDelivered, asDelivered } from './rules/asked-pulls.ts';
import {
  hidesReviewers,
  type ReviewDelivery,
  reviewsAsDelivered,
  reviewsPath,
} from './rules/asked-reviews.ts';
import { isSuiteOf } from './rules/check-names.ts';
import { type CommitCheck, type NamedRepository } from './rules/fact.ts';
import { header } from './rules/signatures.ts';
import { read } from './rules/translations.ts';
import { type ForgeCalls, notingFailure, openCredentials, type SendStatus } from './statuses.ts';

/** Requests a poll of each pull request without recent deliveries, in its own organization. */
export async function reconcile(pool: Pool, signal: AbortSignal): Promise<void> {
  const quiet = await acrossOrganizations(pool, (db) => db.all(quietPulls()));
  for (const [orgId, pulls] of Map.groupBy(quiet, (pull) => pull.orgId)) {
    signal.throwIfAborted();
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.later(askAbout(pulls.map(({ executionId }) => executionId)));
    });
  }
}

const deliveryIdFor = (url: string, says: readonly unknown[]): string =>
  `${askedId}${createHash('sha256')
    .update(JSON.stringify([url, ...says]))
    .digest('hex')
    .slice(0, 32)}`;

/**
 * Applies a reader to an answer. Throws ForgeRefusal if the answer does not match the forge's documentation.
 */
export function understood<Told>({ text }: ForgeAnswer, reader: (answer: unknown) => Told): Told {
  try {
    return reader(parseUntrustedJson(text));
  } catch (error) {
    const said = error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : 'not valid JSON';
    const message = `the forge answered in an unexpected format: ${said}`;
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
}

/** A check report, and the delivery that contains it. */
interface ToldChecks extends CheckDelivery {
  readonly url: string;
  readonly checks: readonly CommitCheck[];
}

/**
 * Returns true if the answer contains no news about checks. Credentials without the permission to read checks
 * may still read pull requests.
 */
const saysNothing = (answer: ForgeAnswer): boolean =>
  answer.status === 304 ||
  ((answer.status === 403 || answer.status === 404) && patienceOf(answer, Date.now()) === null);

/** The maximum number of pages that are read of each list. */
const mostPages = 10;
/** Returns true if there is another page. Gitea has 30 items on a page, whatever the request asks for. */
const hasMore = ({ headers }: ForgeAnswer): boolean =>
  /;\s*rel="?next"?/i.test(header(headers, 'link') ?? '');

const has = ({ checks }: ToldChecks, state: CommitCheck['state']): boolean =>
  checks.some((check) => check.state === state);

/**
 * Sorts check reports for processing one by one. Reports of passed checks come last, and are left out while a
 * check is pending. A passed report that is processed early would be taken for the result of all checks.
 */
function inOrder(told: readonly ToldChecks[]): readonly ToldChecks[] {
  const others = told.filter((one) => !has(one, 'passed'));
  const isOver = !told.some((one) => has(one, 'pending'));
  return isOver ? [...others, ...told.filter((one) => has(one, 'passed'))] : others;
}

type Headers = Readonly<Record<string, string>>;

/** Reads all pages of an answer. */
async function askForPages<Told>(
  { ask }: ForgeCalls,
  { url, headers }: { readonly url: string; readonly headers: Headers },
  reader: (json: unknown) => Told[],
): Promise<Told[]> {
  const told: Told[] = [];
  for (let page = 1; page <= mostPages; page += 1) {
    const answer = await ask({ method: 'GET', url: page === 1 ? url : `${url}&page=${page}`, headers });
    if (saysNothing(answer)) break;
    expectGood(url, answer);
    told.push(...understood(answer, reader));
    if (!hasMore(answer)) break;
  }
  return told;
}

/** Requests the checks of a commit from a forge. */
async function askAboutChecks(
  calls: ForgeCalls,
  at: NamedAtForge,
  {
    appId,
    headers,
    repository,
    sha,
    number,
  }: {
    readonly appId: string | null;
    readonly headers: Headers;
    readonly repository: NamedRepository;
    readonly sha: string;
    readonly number: number;
  },
): Promise<ToldChecks[]> {
  const told: ToldChecks[] = [];
  for (const question of checksQuestions(at.kind, sha, number)) {
    const url = repositoryUrlAt(at) + question.path;
    const said = await askForPages(calls, { url, headers }, (json) =>
      question.read(json, repository).flatMap((delivery) => {
        const reading = read(at.kind, delivery.event, delivery.payload);
        if ('ignored' in reading) return [];
        const checks = reading.checks.filter(({ name }) => !isSuiteOf(appId, name));
        return checks.length === 0 ? [] : [{ ...delivery, url, checks }];
      }),
    );
    told.push(...said);
  }
  return told;
}

/** Requests the reviews that count, from a forge whose deliveries do not contain this information. */
const askAboutReviews = async (
  calls: ForgeCalls,
  at: NamedAtForge & { readonly number: number },
  headers: Headers,
  told: AsDelivered | undefined,
): Promise<ReviewDelivery[]> => {
  if (told === undefined || !told.isOpen || !hidesReviewers(at.kind)) return [];
  const url = repositoryUrlAt(at) + reviewsPath(at.number);
  return askForPages(calls, { url, headers }, (json) => reviewsAsDelivered(json, told.payload));
};

/**
 * Polls a forge for the pull request of an execution and the checks of its head. The answers are stored as
 * deliveries.
 */
export async function askAboutPull(
  calls: ForgeCalls,
  { db, orgId }: { readonly db: PlainDb; readonly orgId: string },
  executionId: string,
): Promise<SendStatus | undefined> {
  const pull = await findAskedPull(db, executionId);
  if (pull === undefined) return undefined;
  const { quietUntil, connectionId, appId, kind, number, externalId, fullName, defaultBranch } = pull;
  // While the forge asks clients to wait, do not poll. The next round polls this pull request again.
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
    const repository = { externalId, url: pull.url, fullName, defaultBranch };
    const told =
      answer.status === 304 ? undefined : understood(answer, (json) => asDelivered(kind, json, repository));
    const sha = told === undefined ? pull.headSha : told.isOpen ? told.headSha : null;
    const asked = { appId, headers, repository, number };
    const checks = sha === null ? [] : await askAboutChecks(calls, pull, { ...asked, sha });
    const reviews = await askAboutReviews(calls, pull, headers, told);
    const etag = told === undefined ? pull.etag : answer.headers['etag'];
    return { etag: typeof etag === 'string' ? etag : null, told, sha, checks, reviews };
  };
  return async () => {
    const answered = await notingFailure(calls, { orgId, connectionId }, 'reconcile', ask);
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
        if (id !== undefined) after.later(outboxRow('forge.translate', { deliveryId: id }));
      };
      after.later(noteEtag(executionId, etag));
      after.later(noteWorking(connectionId, false));
      // Only a new head or a conflict is news about an open pull request.
      if (told !== undefined && (!told.isOpen || told.hasConflict || told.headSha !== pull.headSha))
        await take(told, deliveryIdFor(url, told.says));
      for (const review of reviews) await take(review, deliveryIdFor(url, review.says));
      if (sha === null || checks.length === 0) return;
      const known = await knownChecks(after, { connectionId, externalId, sha });
      for (const word of inOrder(checks))
        if (word.checks.some(({ name, state }) => !known.has(`${name} ${state}`)))
          await take(word, deliveryIdFor(word.url, [word.event, word.checks]));
    };
  };
}
