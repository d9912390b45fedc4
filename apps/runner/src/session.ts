/** The state that all runs of one command share, and the parts of a run. */
import {
  type Client,
  connect,
  createClient,
  type HeldLease,
  type HttpOptions,
  httpTransport,
} from '@muster/client';
import { type RunnerConnection } from './api-access.ts';
import { type WorkConfig } from './config.ts';
import { type OwnedEntry, type StoryWork } from './journal.ts';
import { type Repository } from './repository.ts';
import { type RunIdentity } from './identity.ts';
import { type RunLog } from './run-log.ts';
import { type RunnerReporter } from './say.ts';
import { type ParallelRuns } from './take.ts';
import { type RunUsage } from './usage/run-usage.ts';
import { type Author, type Worktree } from './worktree.ts';

export interface RunnerSession {
  readonly connection: RunnerConnection;
  /** The client that calls as the caller. */
  readonly callerClient: Client;
  readonly repository: Repository;
  readonly say: RunnerReporter;
  /** Aborts when the runner is asked to end. */
  readonly stopSignal: AbortSignal;
  readonly worktreesFolder: string | undefined;
  readonly parallelRuns: ParallelRuns;
  /** True if `--as-me` was given: the run works as the calling agent. */
  readonly worksAsCallingAgent: boolean;
}

/** A run that holds its story. */
export interface StoryRun {
  readonly session: RunnerSession;
  readonly own: OwnedEntry;
  /** The client that calls with the identity of the run. */
  readonly client: Client;
  readonly identity: RunIdentity;
  readonly lease: HeldLease;
  readonly config: WorkConfig;
  readonly author: Author;
  readonly signals: RunSignals;
  /** The log of the run at Muster. */
  readonly log: RunLog;
  /** The tokens and costs of the run. */
  readonly usage: RunUsage;
}

/** A run with a folder to work in. */
export interface ReadyRun extends StoryRun {
  readonly work: StoryWork;
  readonly worktree: Worktree;
}

export interface StoryNews {
  readonly line: string;
  /** True if the news makes the agent's first prompt outdated. */
  readonly changesContext: boolean;
}

/** The changes by others since the agent was last notified. */
export interface RunSignals {
  readonly stopRequested: AbortSignal;
  /** Returns the news since the last call. Each piece of news is returned once. */
  takeNews(): StoryNews[];
  /**
   * Waits for the answer to a question that the runner itself asked. The agent does not receive this answer
   * as news.
   */
  awaitAnswer(questionId: string): Promise<string>;
}

/**
 * The time in seconds that a run retries calls to an unreachable API before it continues without the answer.
 * After an outage of that length the work is still the run's, because others search for expired work only
 * after five minutes.
 */
const apiRetrySeconds = 180;

/**
 * Returns the connection for a token. A run that works as the caller uses the caller's login, which renews
 * its token. A run with its own token needs no renewal, because the token lasts as long as the run.
 */
const connectionFor = (connection: RunnerConnection, token: string): HttpOptions =>
  token === connection.token ? connection : { baseUrl: connection.baseUrl, token };

export const createRunClient = (connection: RunnerConnection, token: string): Client =>
  connect({ ...connectionFor(connection, token), forSeconds: apiRetrySeconds });

/**
 * Creates a client for calls that wait. Such calls stop immediately when the signal aborts, and are not
 * retried.
 */
export function createWaitingClient(
  connection: RunnerConnection,
  token: string,
  signal: AbortSignal,
): Client {
  const way = connectionFor(connection, token);
  const { fetch = globalThis.fetch } = way;
  // The request's own signal is its timeout, without which a lost connection would block the call.
  const either = (own: AbortSignal | null | undefined): AbortSignal =>
    AbortSignal.any([signal, ...(own ? [own] : [])]);
  return createClient(
    httpTransport({ ...way, fetch: (url, init) => fetch(url, { ...init, signal: either(init?.signal) }) }),
  );
}

/**
 * The error of a failed setup of the machine. It says nothing about the story, so the runner takes no other
 * story.
 */
export class MachineSetupError extends Error {}
