/**
 * node acp-agent.ts <behaviour> <folder>
 * An agent for specs that speaks the Agent Client Protocol by the protocol's own library. It writes the
 * prompts and answers it receives into the folder, one line of JSON each.
 */
import { spawn } from 'node:child_process';
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  agent,
  type AgentContext,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
  type StopReason,
  type ToolKind,
} from '@agentclientprotocol/sdk';

const [behaviour = '', home = ''] = process.argv.slice(2);

const appendJsonLine = (file: string, value: unknown): Promise<void> =>
  appendFile(path.join(home, file), `${JSON.stringify(value)}\n`);
const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(path.join(home, file), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

const canceled = new AbortController();
/** Waits until the spec creates a file of that name. */
async function told(name: string): Promise<void> {
  while (!canceled.signal.aborted) {
    const isThere = await stat(path.join(home, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await pause(20);
  }
}

interface Turn {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly text: string;
  /** The number of turns so far, including this one, across all of the agent's processes. */
  readonly count: number;
}

const sendUpdate = ({ client, sessionId }: Turn, update: SessionUpdate): Promise<void> =>
  client.notify(methods.client.session.update, { sessionId, update });
const sendMessage = (turn: Turn, text: string, messageId?: string): Promise<void> =>
  sendUpdate(turn, {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
    ...(messageId && { messageId }),
  });

async function askPermission(turn: Turn, kind: ToolKind, title: string, place?: string): Promise<void> {
  const { client, sessionId } = turn;
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: {
      ...{ toolCallId: title, title, kind, rawInput: { command: title } },
      ...(place !== undefined && { locations: [{ path: place }] }),
    },
    options: [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'once', name: 'Once', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
  });
  await appendJsonLine('outcomes', [
    title,
    outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome,
  ]);
}

const behaviours: Readonly<Record<string, (turn: Turn) => Promise<StopReason>>> = {
  'says two messages': async (turn) => {
    await writeFile('answer.txt', 'good\n');
    await sendMessage(turn, 'A notice of the agent.', 'one');
    await sendMessage(turn, 'It says ', 'two');
    await sendMessage(turn, 'good night.', 'two');
    return 'end_turn';
  },
  works: async (turn) => {
    const entry = { priority: 'medium' } as const;
    await sendUpdate(turn, {
      sessionUpdate: 'plan',
      entries: [
        { ...entry, content: 'Read', status: 'completed' },
        { ...entry, content: 'Write', status: 'pending' },
      ],
    });
    await sendMessage(turn, 'I begin.\n');
    await sendUpdate(turn, {
      sessionUpdate: 'tool_call',
      toolCallId: '1',
      title: 'Write answer.txt',
      kind: 'edit',
    });
    await writeFile('answer.txt', 'good\n');
    await sendMessage(turn, 'It says ');
    await sendMessage(turn, 'good night.');
    const cost = { amount: 0.25, currency: 'USD' };
    await sendUpdate(turn, { sessionUpdate: 'usage_update', used: 900, size: 200_000, cost });
    return 'end_turn';
  },
  'mends what does not pass': async ({ count }) => {
    await writeFile('answer.txt', count === 1 ? 'poor\n' : 'good\n');
    return 'end_turn';
  },
  'waits for the spec': async ({ count }) => {
    await writeFile('answer.txt', 'good\n');
    if (count === 1) await told('go');
    return 'end_turn';
  },
  'asks for permission': async (turn) => {
    await askPermission(turn, 'execute', 'npm test');
    await askPermission(turn, 'edit', 'inside', path.resolve('answer.txt'));
    await askPermission(turn, 'edit', 'outside', '/etc/hosts');
    await askPermission(turn, 'fetch', 'a page');
    await askPermission(turn, 'delete', 'answer.txt');
    await writeFile('answer.txt', 'good\n');
    return 'end_turn';
  },
  'leaves off when it is told': async () => {
    await writeFile('answer.txt', 'half\n');
    await told('never');
    await appendJsonLine('outcomes', 'left off');
    return 'cancelled';
  },
  'asks when it is told to stop': async (turn) => {
    await writeFile('answer.txt', 'half\n');
    await told('never');
    await askPermission(turn, 'delete', 'answer.txt');
    return 'cancelled';
  },
  'hears nothing': async () => {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1_000);
    await writeFile('answer.txt', 'half\n');
    const children = [
      spawn('sleep', ['621'], { stdio: 'ignore' }),
      spawn('sleep', ['622'], { stdio: 'ignore', detached: true }),
    ];
    await writeFile(path.join(home, 'pids'), [process.pid, ...children.map(({ pid }) => pid)].join('\n'));
    await sendMessage({ client, sessionId: 'one', text: '', count: 1 }, 'Deaf.\n');
    return new Promise(() => undefined);
  },
  'dies in its turn': async (turn) => {
    await sendMessage(turn, 'Out of ideas.\n');
    process.exit(3);
  },
  refuses: () => Promise.resolve('refusal'),
  'runs out of tokens': () => Promise.resolve('max_tokens'),
  'runs out of requests': async ({ count }) => {
    if (count === 1) return 'max_turn_requests';
    await writeFile('answer.txt', 'good\n');
    return 'end_turn';
  },
};

const connection = agent({ name: 'spec' })
  .onRequest(methods.agent.initialize, ({ params }) => {
    if (behaviour === 'wants a login') throw RequestError.authRequired();
    return {
      protocolVersion: behaviour === 'speaks another version' ? 7 : PROTOCOL_VERSION,
      agentInfo: { name: 'spec', version: '1.0.0' },
      agentCapabilities: {
        loadSession: behaviour !== 'runs out of requests',
        mcpCapabilities: { http: true, sse: false },
        _meta: { client: params.clientInfo?.name },
      },
    };
  })
  .onRequest(methods.agent.session.new, async ({ params }) => {
    await appendJsonLine('sessions', { method: 'new', ...params });
    return { sessionId: 'one' };
  })
  .onRequest(methods.agent.session.load, async (context) => {
    const { sessionId } = context.params;
    await appendJsonLine('sessions', { method: 'load', ...context.params });
    // The agent repeats the earlier conversation before it answers the request, as the protocol requires.
    await sendMessage({ client: context.client, sessionId, text: '', count: 0 }, 'Of long ago.\n');
    return {};
  })
  .onNotification(methods.agent.session.cancel, () => {
    canceled.abort();
  })
  .onRequest(methods.agent.session.prompt, async (context) => {
    const { sessionId, prompt } = context.params;
    const text = prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    await appendJsonLine('prompts', text);
    const turn = { client: context.client, sessionId, text, count: (await linesOf('prompts')).length };
    const behave = behaviours[behaviour];
    if (behaviour === 'wants a login at its first turn') throw RequestError.authRequired();
    if (behave === undefined) throw RequestError.internalError({}, `no behaviour ${behaviour}`);
    const stopReason = await behave(turn);
    const tokens = { inputTokens: 100, cachedInputTokens: 700, cachedWriteTokens: 20, outputTokens: 80 };
    return { stopReason, _meta: { quota: { model_usage: [{ model: 'spec-1', token_count: tokens }] } } };
  })
  .connect(
    ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  );
const { client } = connection;
