// The shipped bundle, alone in an empty folder. Another worker continues after one was killed in the middle
// of a job.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { openQueues } from '@muster/redis/queues';
import { findFreePort, type Person, useWorld } from '@muster/testing';
import { redisUrl, waitUntil } from './line.ts';

const world = useWorld({});
const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
let folder: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-bundle-')));
  await promisify(execFile)(
    process.execPath,
    ['tools/build/build-app.ts', 'apps/delivery-worker', path.join(folder, 'app')],
    { cwd: workspaceRoot },
  );
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await deleteQueues();
  await rm(folder, { recursive: true });
});

/** Starts the bundle and returns its URL when it listens. */
async function start(more: Record<string, string>): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn(process.execPath, ['main.js'], {
    cwd: path.join(folder, 'app'),
    env: {
      PORT: '0',
      METRICS_PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: world.database.url,
      REDIS_URL: redisUrl(),
      BASE_URL: 'https://muster.example',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface(child.stdout)) {
    const logged = JSON.parse(line) as { msg: string; address?: string };
    if (logged.msg === 'listening') return { child, address: logged.address ?? '' };
  }
  throw new Error('the worker ended before it listened');
}

/**
 * Clears the queues, as a flush of Redis does. Otherwise the dead worker's job would stay until its lock
 * expires.
 */
async function deleteQueues(): Promise<void> {
  const queues = openQueues({ url: redisUrl(), onError: () => undefined });
  for (const queue of queues.all) await queue.obliterate({ force: true });
  await queues.close();
}

it('sends what a killed worker could not, shows its queues, and stops when it is told to', async () => {
  const { orgId, ana } = await world.org();
  const operator: Person = await world.token(orgId, ana.me.memberId, { scopes: ['platform'] });
  const [invitationId, rowId] = [newId(), newId()];
  await world.rows(
    `insert into invitations (org_id, id, email, role, invited_by, expires_at)
     values ($1, $2, 'eve@example.com', 'member', '{"name": "Ana"}', now() + interval '1 day')`,
    orgId,
    invitationId,
  );
  await world.rows(
    `insert into outbox (org_id, id, topic, payload) values ($1, $2, 'invitation.mail', $3)`,
    orgId,
    rowId,
    { invitationId },
  );

  // A mail server that never responds. The first worker is killed while it waits for the server.
  const mute = createServer();
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const reached = once(mute, 'connection');
  const { port } = mute.address() as AddressInfo;
  const first = await start({ SMTP_URL: `smtp://127.0.0.1:${port}` });
  await reached;
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  mute.close();

  await deleteQueues();
  const replyPort = await findFreePort();
  const second = await start({
    MAIL_FOLDER: path.join(folder, 'mail'),
    ...{ MAIL_REPLY_DOMAIN: 'reply.muster.example', MAIL_REPLY_PORT: String(replyPort) },
  });
  const mails = (): Promise<string[]> => readdir(path.join(folder, 'mail')).catch(() => []);
  // The first worker postponed the row for as long as it might still be sending the message, so the row is
  // made due here.
  await world.rows('update outbox set dispatch_after = now() where id = $1', rowId);
  await waitUntil(async () => (await mails()).length > 0);
  await waitUntil(
    async () =>
      (await world.rows('select from outbox where id = $1 and done_at is not null', rowId)).length === 1,
  );
  expect(await mails()).toEqual([`${rowId}-eve@example.com.eml`]);

  const authorization = `Bearer ${operator.me.token}`;
  for (const page of ['/queues', '/queues/api/queues', '/queues/static/images/logo.svg']) {
    const shown = await fetch(new URL(page, second.address), { headers: { authorization } });
    expect({ page, status: shown.status }).toEqual({ page, status: 200 });
  }
  const replies = connect(replyPort, '127.0.0.1');
  const [greeting] = (await once(replies, 'data')) as [Buffer];
  expect(greeting.toString()).toMatch(/^220 reply\.muster\.example/);
  replies.end();
  const exited = once(second.child, 'exit');
  second.child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
