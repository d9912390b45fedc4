/** What all runs of one command share, and what a run is made of. */
import {
  type Client,
  connect,
  createClient,
  type HeldLease,
  type HttpOptions,
  httpTransport,
} from '@muster/client';
import { type Connection } from './api-access.ts';
import { type Config } from './config.ts';
import { type OwnEntry, type Work } from './journal.ts';
import { type Repository } from './repository.ts';
import { type RunIdentity } from './identity.ts';
import { type Say } from './say.ts';
import { type Siblings } from './take.ts';
import { type Author, type Worktree } from './worktree.ts';

export interface Session {
  readonly connection: Connection;
  /** As the caller. */
  readonly caller: Client;
  readonly repository: Repository;
  readonly say: Say;
  /** Aborted when the runner is asked to end. */
  readonly leaving: AbortSignal;
  readonly worktrees: string | undefined;
  readonly siblings: Siblings;
  /** The caller says that they are an agent. */
  readonly asMe: boolean;
}

/** A run that holds its story. */
export interface Run {
  readonly session: Session;
  readonly own: OwnEntry;
  /** As the run. */
  readonly client: Client;
  readonly identity: RunIdentity;
  readonly lease: HeldLease;
  readonly config: Config;
  readonly author: Author;
  readonly signals: Signals;
}

/** A run with a folder to work in. */
export interface ReadyRun extends Run {
  readonly work: Work;
  readonly worktree: Worktree;
}

export interface News {
  readonly line: string;
  /** What the agent was told at the start is no longer so. */
  readonly changesContext: boolean;
}

/** What others did, since the agent was last told. */
export interface Signals {
  readonly stopRequested: AbortSignal;
  /** Each is told once. */
  take(): News[];
  /** What is answered to a question that the runner itself asks; it is no news for the agent then. */
  answerTo(questionId: string): Promise<string>;
}

/** How long a run waits for an API that does not answer, before it goes on without. */
const patienceSeconds = 60;

/** A run that works as the caller goes on with the caller's next token; a token of its own lasts as long as it does. */
const wayAs = (connection: Connection, token: string): HttpOptions =>
  token === connection.token ? connection : { baseUrl: connection.baseUrl, token };

export const clientFor = (connection: Connection, token: string): Client =>
  connect({ ...wayAs(connection, token), forSeconds: patienceSeconds });

/** For calls that wait: given up at once when it aborts, and not tried again. */
export function waitingClientFor(connection: Connection, token: string, signal: AbortSignal): Client {
  const way = wayAs(connection, token);
  const { fetch = globalThis.fetch } = way;
  return createClient(httpTransport({ ...way, fetch: (url, init) => fetch(url, { ...init, signal }) }));
}

/** The setting up of the machine failed, which says nothing about the story: the runner takes no other. */
export class SetUpFailed extends Error {}
