/**
 * Drives an agent by the Agent Client Protocol. It opens a session, prompts for one turn after another, and
 * answers permission requests.
 */
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AgentCapabilities,
  client,
  type ClientContext,
  type McpServer,
  methods,
  ndJsonStream,
  type NewSessionRequest,
  type PromptRequest,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { productVersion } from '@muster/contract';
import {
  type Driver,
  isQuestionOpen,
  type AgentOutcome,
  type AgentInstructions,
  wasKilled,
} from './driver.ts';
import { createUpdateListener } from './ear.ts';
import { credentialOf } from './environment.ts';
import { type ProcessGroup } from './group.ts';
import { askForPermission, decidePermission, selectOption, parsePermissionAnswer } from './permissions.ts';
import { buildPrompt } from './prompt.ts';
import { type ReadyRun } from './session.ts';
import { type AcpUsageReader, createAcpUsageReader } from './usage/acp.ts';

/** The time limit for a session to begin. It is long because npx may have to download the adapter first. */
const sessionStartTimeoutMillis = 300_000;
/** The time limit for a process to exit after its pipes have closed. */
const exitTimeoutMillis = 2_000;
/**
 * The time limit for a cancelled turn to end. Together with the grace period of the processes, a stop takes
 * at most 15 seconds.
 */
const cancelTimeoutMillis = 7_000;
/** The number of times that the agent is asked to continue after it ran out of tokens or requests. */
const maxContinuations = 3;

/** The stop reasons of unfinished turns, with the message that the runner reports for each. */
const unfinishedTurnMessages: Readonly<Record<Exclude<StopReason, 'end_turn'>, string>> = {
  max_tokens: 'The agent repeatedly reached the token limit of its model.',
  max_turn_requests: 'The agent repeatedly exceeded its limit of requests in a turn.',
  refusal: 'The agent refused to continue.',
  cancelled: 'The agent stopped by itself.',
};
const continuableStopReasons = new Set<StopReason>(['max_tokens', 'max_turn_requests']);

const describeAgentError = (error: unknown): string => {
  if (!(error instanceof RequestError)) return error instanceof Error ? error.message : String(error);
  const { data } = error;
  const message = error.message.replace(/\.$/, '');
  return data === undefined ? message : `${message}: ${JSON.stringify(data)}`;
};

/**
 * Returns true if the agent asks for a login. An agent may open a session before it checks its user's login.
 */
const isLoginRequired = (error: unknown): boolean =>
  error instanceof RequestError && error.code === RequestError.authRequired().code;

/**
 * Lists Muster's MCP server with the token of the run, if the agent supports MCP over HTTP. The server is not
 * named `muster`, because the user may already have a server of that name. Clients store what they know of a
 * server by its name, such as a required sign-in.
 */
function mcpServersFor(run: ReadyRun, capabilities: AgentCapabilities | undefined): McpServer[] {
  const { MUSTER_TOKEN: token } = credentialOf(run);
  const project = run.work.key.slice(0, run.work.key.lastIndexOf('-'));
  if (token === undefined || capabilities?.mcpCapabilities?.http !== true) return [];
  const url = new URL(`${run.session.connection.baseUrl.replace(/\/+$/, '')}/api/mcp`);
  url.searchParams.set('mode', 'core');
  url.searchParams.set('project', project);
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }];
  return [{ type: 'http', name: 'muster-run', url: url.href, headers }];
}

interface OpenedSession {
  readonly sessionId: string;
  /** True if the session continues the agent's earlier conversation. */
  readonly isLoaded: boolean;
}

async function openSession(run: ReadyRun, agent: ClientContext): Promise<OpenedSession> {
  const { own, worktree } = run;
  const { protocolVersion, agentCapabilities } = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'muster', title: 'Muster', version: productVersion },
    clientCapabilities: {},
  });
  if (protocolVersion !== PROTOCOL_VERSION)
    throw new Error(`it uses protocol version ${protocolVersion} instead of ${PROTOCOL_VERSION}`);
  const params: NewSessionRequest = {
    cwd: worktree.folder,
    mcpServers: mcpServersFor(run, agentCapabilities),
  };
  const { sessionId: before } = own.get();
  if (before !== undefined && agentCapabilities?.loadSession === true) {
    const loaded = await agent.request(methods.agent.session.load, { sessionId: before, ...params }).then(
      () => true,
      () => false,
    );
    if (loaded) return { sessionId: before, isLoaded: true };
  }
  const { sessionId } = await agent.request(methods.agent.session.new, params);
  await own.write({ sessionId });
  return { sessionId, isLoaded: false };
}

/** A driver for an agent that receives prompts and asks questions while it works. */
class ProtocolDriver implements Driver {
  readonly graceMillis = 3_000;
  readonly outcome: Promise<AgentOutcome>;
  readonly #run: ReadyRun;
  readonly #group: ProcessGroup;
  readonly #told: AgentInstructions;
  readonly #usageReader: AcpUsageReader;
  readonly #ear: ReturnType<typeof createUpdateListener>;
  readonly #connection: ReturnType<ReturnType<typeof client>['connect']>;
  readonly #leaving = new AbortController();
  readonly #left: Promise<undefined>;
  /** Rejects when the agent's process ends. */
  #isKilled = false;
  readonly #died: Promise<never>;
  #asking = 0;
  #sessionId: string | undefined;
  #isAtWork = false;

  constructor(run: ReadyRun, group: ProcessGroup, instructions: AgentInstructions) {
    this.#run = run;
    this.#group = group;
    this.#told = instructions;
    this.#usageReader = createAcpUsageReader(instructions.model);
    this.#ear = createUpdateListener(run, group, this.#usageReader);
    this.#connection = this.#connect();
    this.#left = new Promise((resolve) => {
      this.#leaving.signal.addEventListener('abort', () => {
        resolve(undefined);
      });
    });
    this.#died = group.exited.then(({ code }) => {
      this.#isKilled = wasKilled(code);
      throw new Error(`it ended with ${code ?? 'a signal'}`);
    });
    this.#died.catch(() => undefined);
    this.outcome = this.#drive().finally(() => {
      group.pipes.input.end();
    });
  }

  isWaiting(): boolean {
    return this.#asking > 0 || isQuestionOpen(this.#run.lease);
  }

  async requestStop(): Promise<void> {
    this.#leaving.abort();
    if (this.#sessionId !== undefined) {
      const { agent } = this.#connection;
      await agent.notify(methods.agent.session.cancel, { sessionId: this.#sessionId }).catch(() => undefined);
      const enough = new AbortController();
      const patience = pause(cancelTimeoutMillis, undefined, { signal: enough.signal }).catch(
        () => undefined,
      );
      await Promise.race([this.outcome, patience]);
      enough.abort();
    }
    this.#connection.close();
  }

  #connect() {
    const { input, output } = this.#group.pipes;
    return client({ name: 'muster' })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.#ear.handleUpdate(params.update);
      })
      .onRequest(methods.client.session.requestPermission, async ({ params }) => ({
        outcome: await this.#leaveFor(params),
      }))
      .connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>));
  }

  async #leaveFor({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionOutcome> {
    const decision = decidePermission(this.#run, toolCall);
    if (decision !== 'ask') return selectOption(options, decision);
    if (this.#leaving.signal.aborted) return { outcome: 'cancelled' };
    this.#asking += 1;
    try {
      const answer = await Promise.race([askForPermission(this.#run, toolCall), this.#left]);
      return answer === undefined
        ? { outcome: 'cancelled' }
        : selectOption(options, parsePermissionAnswer(answer));
    } finally {
      this.#asking -= 1;
    }
  }

  async #drive(): Promise<AgentOutcome> {
    const late = pause(sessionStartTimeoutMillis, undefined, { ref: false }).then(() => {
      throw new Error(`it did not answer within ${sessionStartTimeoutMillis / 1_000} s`);
    });
    late.catch(() => undefined);
    let begun: OpenedSession;
    try {
      begun = await Promise.race([openSession(this.#run, this.#connection.agent), this.#died, late]);
    } catch (error) {
      return this.#unstarted(error);
    }
    try {
      return await Promise.race([this.#talk(begun), this.#died]);
    } catch (error) {
      if (isLoginRequired(error) && !this.#isAtWork) return this.#unstarted(error);
      const trouble = `The agent did not end its turn: ${await this.#whyFailed(error)}.`;
      return { trouble, isKilled: this.#isKilled };
    }
  }

  async #unstarted(error: unknown): Promise<AgentOutcome> {
    const trouble = `The agent could not start: ${await this.#whyFailed(error)}.`;
    return { trouble, failure: 'infra', isUnstarted: true };
  }

  /**
   * Returns the reason for a failure. Waits briefly for the exit of the agent's process, because the pipes of
   * a dying process close before its exit status is known.
   */
  async #whyFailed(error: unknown): Promise<string> {
    const end = this.#died.catch((reason: unknown) => reason);
    return describeAgentError(await Promise.race([end, pause(exitTimeoutMillis, error, { ref: false })]));
  }

  async #talk({ sessionId, isLoaded }: OpenedSession): Promise<AgentOutcome> {
    this.#sessionId = sessionId;
    if (isLoaded) this.#usageReader.continueSession(this.#run.usage.totals());
    const { prompt, note, isNoteEnough } = this.#told;
    let text = isLoaded && isNoteEnough ? note || 'Continue.' : prompt;
    for (let times = 0; ;) {
      this.#ear.startListening();
      const turn: PromptRequest = { sessionId, prompt: [{ type: 'text', text }] };
      const { stopReason, _meta: meta } = await this.#connection.agent.request(
        methods.agent.session.prompt,
        turn,
      );
      this.#run.usage.add(this.#usageReader.readTurn(meta));
      this.#isAtWork = true;
      const summary = this.#ear.endTurn();
      if (this.#leaving.signal.aborted) return { summary };
      if (stopReason === 'end_turn') {
        const next = await this.#nextPrompt();
        if (next === undefined) return { summary };
        text = next;
        continue;
      }
      times += 1;
      if (!continuableStopReasons.has(stopReason) || times > maxContinuations) {
        const isExhausted = stopReason === 'max_tokens';
        return {
          trouble: unfinishedTurnMessages[stopReason],
          ...(isExhausted && { failure: 'context_exhausted' }),
        };
      }
      text = 'Continue where you left off.';
    }
  }

  /**
   * Returns the prompt for the agent's next turn. Returns undefined if the agent has to receive no news
   * before its work is checked.
   */
  async #nextPrompt(): Promise<string | undefined> {
    const { lease, signals, client: muster, work } = this.#run;
    // The response to a renewal also contains the signals that arrived since the last call.
    await lease.renew().catch(() => undefined);
    if (lease.isOver() || isQuestionOpen(lease)) return undefined;
    const news = signals.takeNews();
    if (news.length === 0) return undefined;
    const note = news.map(({ line }) => line).join('\n');
    if (!news.some(({ changesContext }) => changesContext)) return note;
    return buildPrompt(muster, work, { protocol: 'acp', note });
  }
}

export const createProtocolDriver = (
  run: ReadyRun,
  group: ProcessGroup,
  instructions: AgentInstructions,
): Driver => new ProtocolDriver(run, group, instructions);
