/**
 * node acp-agent.ts <ledger> ends|hangs
 * An agent that uses the Agent Client Protocol. It asks for permission before each file that it writes, and
 * never ends its turn if the argument is `hangs`. It adds a line to the ledger for each written file.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, rename, writeFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { agent, type AgentContext, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const run = promisify(execFile);
const [ledger = '', end = 'ends'] = process.argv.slice(2);

async function write(client: AgentContext, sessionId: string, name: string): Promise<void> {
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId: name, title: `Write ${name}`, kind: 'edit', locations: [{ path: name }] },
    options: [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
  });
  if (outcome.outcome !== 'selected' || outcome.optionId !== 'yes') return;
  const text = `${randomBytes(24).toString('hex')}\n`;
  await writeFile(`${name}.part`, text);
  await rename(`${name}.part`, name);
  const blob = createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');
  await appendFile(ledger, `${blob}\n`);
}

const canceled = new AbortController();
/** A timer keeps the process alive. */
const hang = (): Promise<never> =>
  new Promise(() => {
    setInterval(() => undefined, 1_000);
  });

agent({ name: 'prove' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { loadSession: true },
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: 'one' }))
  .onRequest(methods.agent.session.load, () => ({}))
  .onNotification(methods.agent.session.cancel, () => {
    canceled.abort();
  })
  .onRequest(methods.agent.session.prompt, async ({ client, params: { sessionId } }) => {
    const name = (count: number): string => `work-${process.pid}-${count}.txt`;
    for (const count of [1, 2, 3, 4]) await write(client, sessionId, name(count));
    await run('git', ['add', '--all']);
    await run('git', ['commit', '--quiet', '--message', 'Half of it']);
    for (const count of [5, 6, 7]) await write(client, sessionId, name(count));
    if (end === 'hangs') await hang();
    return { stopReason: canceled.signal.aborted ? 'cancelled' : 'end_turn' };
  })
  .connect(
    ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  );
