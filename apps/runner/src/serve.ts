/**
 * `muster work --serve`: waits for requests in an agent's inbox, and starts a run for each story that a member
 * assigns to the agent or mentions it on. The API decides which items are such requests.
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, MusterError } from '@muster/client';
import { type InboxItem } from '@muster/contract';
import { createRunIdentity, revokeRunTokens, type RunIdentity } from './identity.ts';
import { type InboxCursor, openInboxCursor, type RunResult } from './journal.ts';
import { createRunClient, createWaitingClient, type RunnerSession } from './session.ts';
import { isOutage, retryDuringOutage } from './take.ts';

type RequestItem = Exclude<InboxItem, { readonly kind: 'withheld' }>;

/** A request to an agent to work on a story. */
export interface RunRequest extends Pick<RequestItem, 'seq' | 'kind' | 'at' | 'text'> {
  readonly story: NonNullable<RequestItem['story']>;
}

export interface ServeOptions {
  readonly agentName: string;
  /** The number of runs at the same time. */
  readonly parallel: number;
  /** The key of the only project whose requests are served. Undefined stands for all projects. */
  readonly projectKey: string | undefined;
  /** Continues the runs of dead runners. Requests are received at the same time. */
  readonly adoptRuns: () => Promise<RunResult[]>;
  /** Starts a run, and returns its result. `endSignal` ends the search for its story. */
  readonly startRun: (request: RunRequest, endSignal: AbortSignal) => Promise<RunResult | undefined>;
}

const longPollSeconds = 25;
const retryDelayMillis = 1_000;

/** The statuses with which the API refuses to start work on one story. Other stories are not affected. */
const refusedStatuses: ReadonlySet<number> = new Set([403, 404, 409, 422]);

/** Identifies the checkout on this machine, so that a restart revokes the token that a killed runner left. */
const listenerIdOf = (commonDir: string): string =>
  `${hostname().slice(0, 60)}/serve-${createHash('sha256').update(commonDir).digest('hex').slice(0, 12)}`;

/** Serves the agent's requests until the runner is asked to end. Returns the results of the runs. */
export async function serveRequests(session: RunnerSession, options: ServeOptions): Promise<RunResult[]> {
  const { callerClient, connection, repository, worksAsCallingAgent: asMe } = session;
  const listenerId = listenerIdOf(repository.commonDir);
  const createIdentity = (): Promise<RunIdentity> =>
    createRunIdentity(callerClient, {
      token: connection.token,
      runId: listenerId,
      project: undefined,
      agentName: options.agentName,
      asMe,
    });
  await revokeRunTokens(callerClient, listenerId);
  try {
    return await new RequestServer(session, options, await createIdentity()).serve(createIdentity);
  } finally {
    await revokeRunTokens(callerClient, listenerId).catch((error: unknown) => {
      session.say.warn(
        `the token could not be revoked and stays until it expires: ${(error as Error).message}`,
      );
    });
  }
}

class RequestServer {
  readonly #session: RunnerSession;
  readonly #options: ServeOptions;
  readonly #failed = new AbortController();
  readonly #endSignal: AbortSignal;
  readonly #results: RunResult[] = [];
  readonly #runs = new Set<Promise<void>>();
  /** Requests that wait for a free run, oldest first. */
  readonly #waiting: RunRequest[] = [];
  /** The numbers of the requests for which a run was started and which are not handled yet. */
  readonly #startedSeqs = new Set<number>();
  #identity: RunIdentity;
  /** The position up to which the inbox was read. */
  #readCursor: number | undefined;
  #savingCursor: Promise<void> = Promise.resolve();

  constructor(session: RunnerSession, options: ServeOptions, identity: RunIdentity) {
    this.#session = session;
    this.#options = options;
    this.#identity = identity;
    this.#endSignal = AbortSignal.any([session.stopSignal, this.#failed.signal]);
  }

  async serve(createIdentity: () => Promise<RunIdentity>): Promise<RunResult[]> {
    const { agentName, adoptRuns } = this.#options;
    this.#readCursor = await this.#cursor().read();
    this.#run(async () => {
      this.#results.push(...(await adoptRuns()));
    });
    this.#session.say.reportStep(agentName, 'listening', 'waits for requests');
    try {
      await this.#receiveUntilEnd(createIdentity);
    } catch (error) {
      this.#failed.abort(error);
    }
    while (this.#runs.size > 0) await Promise.all(this.#runs);
    await this.#saveCursor();
    this.#failed.signal.throwIfAborted();
    return this.#results;
  }

  async #receiveUntilEnd(createIdentity: () => Promise<RunIdentity>): Promise<void> {
    let isTokenExpired = false;
    while (!this.#isEnding()) {
      try {
        if (isTokenExpired) this.#identity = await createIdentity();
        isTokenExpired = false;
        await this.#receiveRequests();
        await this.#saveCursor();
      } catch (error) {
        if (this.#isEnding()) return;
        isTokenExpired =
          isTokenExpired ||
          (error instanceof MusterError &&
            error.status === 401 &&
            this.#identity.token !== this.#session.connection.token);
        if (!isTokenExpired && !isOutage(error)) throw error;
        await pause(retryDelayMillis, undefined, { signal: this.#endSignal }).catch(() => undefined);
      }
    }
  }

  async #receiveRequests(): Promise<void> {
    const client = createWaitingClient(this.#session.connection, this.#identity.token, this.#endSignal);
    const { items, cursor } = await client.agents.inbox({
      ...(this.#readCursor !== undefined && { after: this.#readCursor }),
      waitSeconds: longPollSeconds,
    });
    for (const item of items) if (item.kind !== 'withheld') this.#receive(item);
    this.#readCursor = cursor;
    this.#startWaitingRequests();
  }

  #receive({ story, startsRun, seq, kind, at, text }: RequestItem): void {
    const { projectKey } = this.#options;
    if (story === null || (projectKey !== undefined && !story.key.startsWith(`${projectKey}-`))) return;
    // A run that holds the story gets the news as a signal.
    if (this.#session.parallelRuns.heldStoryIds.has(story.id)) return;
    if (startsRun) this.#waiting.push({ seq, kind, at, text, story });
    else if (kind === 'question') this.#session.say.reportStep(story.key, 'question', text);
  }

  #startWaitingRequests(): void {
    while (!this.#isEnding() && this.#runs.size < this.#options.parallel) {
      const request = this.#waiting.shift();
      if (request === undefined) return;
      this.#startedSeqs.add(request.seq);
      this.#run(async () => {
        await this.#handle(request);
        // A request whose run ended because the runner ends is handled again after the restart.
        if (this.#isEnding()) return;
        this.#startedSeqs.delete(request.seq);
        await this.#saveCursor();
      });
    }
  }

  /** Runs work in the background. If it fails, the runner starts nothing else and ends. */
  #run(work: () => Promise<void>): void {
    const run = work()
      .catch((error: unknown) => {
        this.#failed.abort(error);
      })
      .finally(() => {
        this.#runs.delete(run);
        this.#startWaitingRequests();
      });
    this.#runs.add(run);
  }

  async #handle(request: RunRequest): Promise<void> {
    const { say, connection } = this.#session;
    const { key } = request.story;
    try {
      const { token, agentId } = this.#identity;
      const reason = await retryDuringOutage(
        () => findReasonToSkip(createRunClient(connection, token), agentId, request),
        this.#endSignal,
      );
      if (reason !== undefined) {
        say.reportStep(key, 'skipped', `no run was started: ${reason}`);
        return;
      }
      const result = await this.#options.startRun(request, this.#endSignal);
      if (result !== undefined) this.#results.push(result);
    } catch (error) {
      if (!(error instanceof MusterError) || !refusedStatuses.has(error.status)) throw error;
      say.reportStep(key, 'skipped', `no run was started: ${error.body.message}`);
    }
  }

  readonly #isEnding = (): boolean => this.#endSignal.aborted;

  readonly #cursor = (): InboxCursor =>
    openInboxCursor(this.#session.repository.commonDir, this.#identity.agentId);

  /** Stores the position before the first request that is not handled. */
  #saveCursor(): Promise<void> {
    this.#savingCursor = this.#savingCursor.then(async () => {
      if (this.#readCursor === undefined) return;
      const unhandledSeqs = [...this.#startedSeqs, ...this.#waiting.map(({ seq }) => seq)];
      const position = Math.min(this.#readCursor, ...unhandledSeqs.map((seq) => seq - 1));
      if ((await this.#cursor().read()) !== position) await this.#cursor().write(position);
    });
    return this.#savingCursor;
  }
}

/** Returns the reason why a request needs no run any more; undefined if it does. */
async function findReasonToSkip(
  client: Client,
  agentId: string,
  { kind, at, story: { id: storyId } }: RunRequest,
): Promise<string | undefined> {
  const { story, assignment, execution } = await client.storyCollaboration.context({
    storyId,
    include: ['story', 'assignment', 'execution'],
  });
  if (story?.status === 'done' || story?.status === 'canceled') return 'the story is finished';
  if (kind === 'assigned' && assignment?.agent?.id !== agentId) return 'the story is no longer assigned';
  // Released work has to be continued. Other work that began after the request answers it.
  if (execution === null || execution.state === 'available') return undefined;
  let afterSeq = 0;
  for (;;) {
    const { items, lastSeq } = await client.deliveryExecutions.eventsSince({
      ...{ executionId: execution.id, afterSeq, limit: 200 },
    });
    if (items.some((event) => event.kind === 'acquired' && event.actor.agentId === agentId && event.at >= at))
      return 'the agent already works on the story';
    if (items.length === 0) return undefined;
    afterSeq = lastSeq;
  }
}
