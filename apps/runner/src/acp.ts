/** Drives an agent by the Agent Client Protocol: a session, a turn for whatever is new, and leave for what it asks. */
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
import { productVersion } from '@muster/registry';
import { type Driver, isQuestionOpen, type Over, type Told, wasKilled } from './driver.ts';
import { openEar } from './ear.ts';
import { credentialOf } from './environment.ts';
import { type Group } from './group.ts';
import { askPeople, decide, outcomeOf, readAnswer } from './permissions.ts';
import { promptFor } from './prompt.ts';
import { type ReadyRun } from './session.ts';

/** For a session to begin: an adapter may be fetched first. */
const startMillis = 300_000;
/** For a process to end whose pipes are closed. */
const dyingMillis = 2_000;
/** For a turn to end that is cancelled; with the grace of its processes a stop is obeyed within 15 seconds. */
const cancelMillis = 7_000;
/** So often it is asked to go on that ran out of tokens, or of requests. */
const mostGoingOn = 3;

/** Those with which a turn ends that was not done, and what is said of them. */
const unfinished: Readonly<Record<Exclude<StopReason, 'end_turn'>, string>> = {
  max_tokens: 'The agent ran out of tokens, again and again.',
  max_turn_requests: 'The agent made more requests than it may, again and again.',
  refusal: 'The agent refuses to go on.',
  cancelled: 'The agent left off by itself.',
};
const goesOn = new Set<StopReason>(['max_tokens', 'max_turn_requests']);

const wordsOf = (error: unknown): string => {
  if (!(error instanceof RequestError)) return error instanceof Error ? error.message : String(error);
  const { data } = error;
  const message = error.message.replace(/\.$/, '');
  return data === undefined ? message : `${message}: ${JSON.stringify(data)}`;
};

/** An agent may open a session before it looks whether its user is logged in. */
const wantsLogin = (error: unknown): boolean =>
  error instanceof RequestError && error.code === RequestError.authRequired().code;

/**
 * Muster's tools, by the token of the run, where the agent can call them. Under a name of their own: clients take what they
 * know of a server (that it wants a sign-in, for one) by its name, and people may have one called muster.
 */
function serversOf(run: ReadyRun, capabilities: AgentCapabilities | undefined): McpServer[] {
  const { MUSTER_TOKEN: token } = credentialOf(run);
  const project = run.work.key.slice(0, run.work.key.lastIndexOf('-'));
  if (token === undefined || capabilities?.mcpCapabilities?.http !== true) return [];
  const url = new URL(`${run.session.connection.baseUrl.replace(/\/+$/, '')}/api/mcp`);
  url.searchParams.set('mode', 'core');
  url.searchParams.set('project', project);
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }];
  return [{ type: 'http', name: 'muster-run', url: url.href, headers }];
}

interface Begun {
  readonly sessionId: string;
  /** It goes on with what was talked about before. */
  readonly isLoaded: boolean;
}

async function begin(run: ReadyRun, agent: ClientContext): Promise<Begun> {
  const { own, worktree } = run;
  const { protocolVersion, agentCapabilities } = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'muster', title: 'Muster', version: productVersion },
    clientCapabilities: {},
  });
  if (protocolVersion !== PROTOCOL_VERSION) {
    throw new Error(`it speaks version ${protocolVersion} of the protocol, and not ${PROTOCOL_VERSION}`);
  }
  const params: NewSessionRequest = { cwd: worktree.folder, mcpServers: serversOf(run, agentCapabilities) };
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

/** An agent that hears and asks: what was said to it, and what waits for it. */
class ProtocolDriver implements Driver {
  readonly graceMillis = 3_000;
  readonly over: Promise<Over>;
  readonly #run: ReadyRun;
  readonly #group: Group;
  readonly #told: Told;
  readonly #ear: ReturnType<typeof openEar>;
  readonly #connection: ReturnType<ReturnType<typeof client>['connect']>;
  readonly #leaving = new AbortController();
  readonly #left: Promise<undefined>;
  /** Rejects when the agent ends. */
  #isKilled = false;
  readonly #died: Promise<never>;
  #asking = 0;
  #sessionId: string | undefined;
  #isAtWork = false;

  constructor(run: ReadyRun, group: Group, told: Told) {
    this.#run = run;
    this.#group = group;
    this.#told = told;
    this.#ear = openEar(run, group);
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
    this.over = this.#drive().finally(() => {
      group.pipes.input.end();
    });
  }

  isWaiting(): boolean {
    return this.#asking > 0 || isQuestionOpen(this.#run.lease);
  }

  async leaveOff(): Promise<void> {
    this.#leaving.abort();
    if (this.#sessionId !== undefined) {
      const { agent } = this.#connection;
      await agent.notify(methods.agent.session.cancel, { sessionId: this.#sessionId }).catch(() => undefined);
      const enough = new AbortController();
      const patience = pause(cancelMillis, undefined, { signal: enough.signal }).catch(() => undefined);
      await Promise.race([this.over, patience]);
      enough.abort();
    }
    this.#connection.close();
  }

  #connect() {
    const { input, output } = this.#group.pipes;
    return client({ name: 'muster' })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.#ear.hear(params.update);
      })
      .onRequest(methods.client.session.requestPermission, async ({ params }) => ({
        outcome: await this.#leaveFor(params),
      }))
      .connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>));
  }

  async #leaveFor({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionOutcome> {
    const decision = decide(this.#run, toolCall);
    if (decision !== 'ask') return outcomeOf(options, decision);
    if (this.#leaving.signal.aborted) return { outcome: 'cancelled' };
    this.#asking += 1;
    try {
      const answer = await Promise.race([askPeople(this.#run, toolCall), this.#left]);
      return answer === undefined ? { outcome: 'cancelled' } : outcomeOf(options, readAnswer(answer));
    } finally {
      this.#asking -= 1;
    }
  }

  async #drive(): Promise<Over> {
    const late = pause(startMillis, undefined, { ref: false }).then(() => {
      throw new Error(`it did not answer within ${startMillis / 1_000} s`);
    });
    late.catch(() => undefined);
    let begun: Begun;
    try {
      begun = await Promise.race([begin(this.#run, this.#connection.agent), this.#died, late]);
    } catch (error) {
      return this.#unstarted(error);
    }
    try {
      return await Promise.race([this.#talk(begun), this.#died]);
    } catch (error) {
      if (wantsLogin(error) && !this.#isAtWork) return this.#unstarted(error);
      const trouble = `The agent did not end its turn: ${await this.#whyFailed(error)}.`;
      return { trouble, isKilled: this.#isKilled };
    }
  }

  async #unstarted(error: unknown): Promise<Over> {
    const trouble = `The agent could not begin: ${await this.#whyFailed(error)}.`;
    return { trouble, failure: 'infra', isUnstarted: true };
  }

  /** The pipes of one that dies close before its end is known. */
  async #whyFailed(error: unknown): Promise<string> {
    const end = this.#died.catch((reason: unknown) => reason);
    return wordsOf(await Promise.race([end, pause(dyingMillis, error, { ref: false })]));
  }

  async #talk({ sessionId, isLoaded }: Begun): Promise<Over> {
    this.#sessionId = sessionId;
    const { prompt, note, isNoteEnough } = this.#told;
    let text = isLoaded && isNoteEnough ? note || 'Go on.' : prompt;
    for (let times = 0; ;) {
      this.#ear.listen();
      const turn: PromptRequest = { sessionId, prompt: [{ type: 'text', text }] };
      const { stopReason } = await this.#connection.agent.request(methods.agent.session.prompt, turn);
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
      if (!goesOn.has(stopReason) || times > mostGoingOn) {
        const isExhausted = stopReason === 'max_tokens';
        return { trouble: unfinished[stopReason], ...(isExhausted && { failure: 'context_exhausted' }) };
      }
      text = 'Go on where you left off.';
    }
  }

  /** Undefined where nothing is new that the agent should hear before its work is looked at. */
  async #nextPrompt(): Promise<string | undefined> {
    const { lease, signals, client: muster, work } = this.#run;
    // What came in the meantime comes with the answer.
    await lease.renew().catch(() => undefined);
    if (lease.isOver() || isQuestionOpen(lease)) return undefined;
    const news = signals.take();
    if (news.length === 0) return undefined;
    const note = news.map(({ line }) => line).join('\n');
    if (!news.some(({ changesContext }) => changesContext)) return note;
    return promptFor(muster, work, { protocol: 'acp', note });
  }
}

export const driveByProtocol = (run: ReadyRun, group: Group, told: Told): Driver =>
  new ProtocolDriver(run, group, told);
