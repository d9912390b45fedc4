/**
 * Reads the changed files of work from its forge, once for each head. A viewer's request never reaches the forge: it
 * shows what this job stored.
 */
import { type PlainDb } from '@muster/driver';
import {
  type ChangesFailure,
  type InputOf,
  internalOperations,
  isSameCommit,
  maxChangedFiles,
  maxChangesBytes,
  maxPatchBytes,
  type ReportedFileChange,
} from '@muster/contract';
import { runAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemAuditFacts } from '@muster/tenancy';
import { pullApiUrl, repositoryApiUrl } from './calls/api.ts';
import { ForgeRefusal, requireSuccess, toForgeFailure } from './calls/call.ts';
import { hasNextPage, requestPages } from './calls/pages.ts';
import { findHeadToRead, type HeadToRead, requestChanges } from './data/changes.ts';
import { pauseCallsUntil } from './data/statuses.ts';
import { parseAnswer } from './reconcile.ts';
import {
  branchChangesRequest,
  type ChangesRequest,
  pullChangesRequests,
  readPullHead,
} from './rules/asked-changes.ts';
import { type AfterJobTransaction, decryptCredentials, type ForgeCalls } from './statuses.ts';
import { forgeActor } from './translate.ts';

interface ChangesJob {
  readonly db: PlainDb;
  readonly orgId: string;
}

type RequestHeaders = Readonly<Record<string, string>>;

type StoredChanges = InputOf<typeof internalOperations.storeChanges>;

interface FetchedChanges {
  readonly reported: string | ReportedFileChange[];
  readonly baseSha: string | null;
  readonly truncated: boolean;
}

/** The maximum size of one answer: a page of files, or the diff of a pull request. */
const maxAnswerBytes = 2 * maxChangesBytes;
const maxPages = 60;

/** Collects files within the limits, so that a huge pull request needs little memory. */
class ChangedFileCollector {
  readonly files: ReportedFileChange[] = [];
  #patchChars = 0;
  truncated = false;

  add(files: readonly ReportedFileChange[]): void {
    for (const file of files) {
      if (this.files.length === maxChangedFiles) {
        this.truncated = true;
        return;
      }
      const patch = file.patch?.slice(0, maxPatchBytes + 1) ?? null;
      this.#patchChars += patch?.length ?? 0;
      const isOver = this.#patchChars > maxChangesBytes;
      this.files.push({ ...file, patch: isOver ? null : patch, truncated: file.truncated || isOver });
    }
  }
}

/** Reads all pages of a request. */
async function readPages(
  { ask }: ForgeCalls,
  { url, headers }: { readonly url: string; readonly headers: RequestHeaders },
  { isPaged, cutAt, read }: ChangesRequest,
): Promise<FetchedChanges> {
  const collected = new ChangedFileCollector();
  let baseSha: string | null = null;
  let isEnd = true;
  for await (const answer of requestPages(ask, { url, headers, maxAnswerBytes }, isPaged ? maxPages : 1)) {
    const found = parseAnswer(requireSuccess(url, answer), read);
    baseSha = found.baseSha;
    collected.add(found.files);
    if (cutAt !== null && found.files.length >= cutAt) collected.truncated = true;
    if (collected.truncated) break;
    isEnd = !isPaged || !hasNextPage(answer);
  }
  return { reported: collected.files, baseSha, truncated: collected.truncated || !isEnd };
}

/** Reads the changes of a pull request. Returns undefined if its head is another one by now. */
async function readPullChanges(
  calls: ForgeCalls,
  head: HeadToRead,
  number: number,
  headers: RequestHeaders,
): Promise<FetchedChanges | undefined> {
  const { kind, headSha } = head;
  const url = pullApiUrl(head, number);
  let read: FetchedChanges;
  if (kind === 'github' || kind === 'gitlab') {
    const request = pullChangesRequests[kind];
    read = await readPages(calls, { url: url + request.path, headers }, request);
  } else {
    const diffUrl = `${url}.diff`;
    const asText = { ...headers, accept: 'text/plain' };
    const asked = { method: 'GET', url: diffUrl, headers: asText, maxAnswerBytes: maxChangesBytes } as const;
    const { text } = requireSuccess(diffUrl, await calls.ask(asked));
    read = { reported: text, baseSha: null, truncated: false };
  }
  // The list of files has no head. If the head is still the same after the last page, all pages are about it.
  const answer = requireSuccess(url, await calls.ask({ method: 'GET', url, headers }));
  const pull = parseAnswer(answer, (json) => readPullHead(kind, json));
  return isSameCommit(pull.headSha, headSha) ? { ...read, baseSha: pull.baseSha } : undefined;
}

async function readChanges(calls: ForgeCalls, head: HeadToRead): Promise<FetchedChanges | undefined> {
  const { connectionId, number, kind, baseBranch, headSha } = head;
  const credentials = decryptCredentials(calls, connectionId, head);
  const headers = await calls.authorize({ ...head, credentials });
  if (number !== null) return readPullChanges(calls, head, number, headers);
  const request = baseBranch === null ? undefined : branchChangesRequest(kind, baseBranch, headSha);
  if (request === undefined) {
    const message = 'this forge only has the changes of a pull request, and the work has none';
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
  return readPages(calls, { url: repositoryApiUrl(head) + request.path, headers }, request);
}

/**
 * Reads the changes of the execution's head and stores them. A failure is stored too, so that viewers see it; it does
 * not count as a failure of the connection, because its other calls may succeed.
 */
export async function fetchChanges(
  calls: ForgeCalls,
  { db, orgId }: ChangesJob,
  executionId: string,
): Promise<AfterJobTransaction | undefined> {
  const head = await findHeadToRead(db, executionId);
  if (head === undefined) return undefined;
  const { kind, headSha, projectId, quietUntil } = head;
  if (quietUntil !== null && Date.parse(quietUntil) > Date.now()) {
    db.deferToCommit(requestChanges(executionId, quietUntil));
    return undefined;
  }
  const facts = systemAuditFacts('forge.changes', executionId);
  const store = (after: PlainDb, stored: Partial<StoredChanges> & Pick<StoredChanges, 'reported'>) =>
    runAsSystem({ db: after, orgId, actor: forgeActor(kind), facts }, calls.environment, (perform) =>
      perform(
        internalOperations.storeChanges,
        { id: executionId, projectId },
        { executionId, headSha, baseSha: null, source: 'forge', attachmentId: null, ...stored },
      ),
    );
  return async () => {
    let read: FetchedChanges | undefined;
    try {
      read = await readChanges(calls, head);
    } catch (error) {
      const refusal = error instanceof ForgeRefusal ? error : undefined;
      const code = refusal?.isFinal === true ? 'forge_refused' : 'forge_away';
      // A refusal of this call, such as a missing permission, does not pause the others.
      const pausedUntil = refusal?.isFinal === false ? refusal.quietUntil : null;
      const failure: ChangesFailure = { code, message: toForgeFailure('reconcile', error).message };
      await inOrganizationAsSystem(calls.pool, orgId, async (after) => {
        await store(after, { reported: { failure } });
        if (pausedUntil === null) return;
        after.deferToCommit(pauseCallsUntil(head.connectionId, pausedUntil));
        after.deferToCommit(requestChanges(executionId, pausedUntil));
      });
      if (refusal?.isFinal === true || pausedUntil !== null) return undefined;
      throw error;
    }
    if (read === undefined) return undefined;
    const changes = read;
    return async (after) => {
      await store(after, changes);
    };
  };
}
