import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { useConcurrentScenarios } from './beside.ts';
import { openForwarder } from './forwarder.ts';
import { useMuster } from './muster.ts';
import { itOnTerminal, openTerminal } from './terminal.ts';

const muster = useMuster();

let people: People;
let leaseToken: string;
beforeAll(async () => {
  people = await muster.world.org();
  const [chloe, robo] = [muster.apiClient(people.chloe), muster.apiClient(people.robo)];
  await chloe.projects.create({ key: 'WEB', name: 'Web' });
  await chloe.projects.create({ key: 'APP', name: 'App' });
  await chloe.stories.create({ projectId: 'WEB', title: 'Sign in', status: 'ready' });
  const held = await robo.deliveryExecutions.acquire({
    targetType: 'story',
    targetId: 'WEB-1',
    runId: 'run-1',
  });
  ({ leaseToken } = held);
  await robo.agents.runEvent({
    projectId: 'WEB',
    runId: 'run-1',
    kind: 'progress',
    message: 'Tests \u001b[2J pass',
  });
  await chloe.locks.acquire({ projectId: 'APP', resources: ['src/db/**'], reason: 'A migration' });
});

const watch = (...args: string[]) => muster.runAs(people.dan, 'watch', ...args);

describe('muster watch', () => {
  const besideOnTerminal = useConcurrentScenarios(2, itOnTerminal);

  it('says once who is at work, what they hold and until when, where nobody can look on', async () => {
    const { code, out, err } = await watch();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Acme · APP, WEB · \d\d:\d\d:\d\dZ\n/);
    expect(out).toMatch(/\nAt work \(1\)\nWHO +STATE[^]*\nRobo \(Chloé\) +running +WEB-1 [^]*Tests pass/);
    expect(out).toMatch(/\nLeases \(1\)\nWORK[^]*\nWEB-1 +Robo +leased [^\n]* \d+ (s|min)/);
    expect(out).toMatch(
      /\nLocks \(1\)\nPROJECT[^]*\nAPP +Chloé +exclusive +\d+ (s|min) +src\/db\/\*\* +A migration/,
    );
    expect(out).not.toContain('\u001b');
  });

  it('can be of one project', async () => {
    const [app, none] = await Promise.all([watch('--project', 'APP'), watch('--project', 'NONE')]);
    expect(app.out).toMatch(/\nNo one is at work\.\n[^]*\nNo one holds a lease\.\n[^]*src\/db/);
    expect(none).toMatchObject({ code: 3, err: expect.stringContaining('404') });
  });

  itOnTerminal('redraws it on a terminal, and restores the terminal afterwards', async () => {
    const terminal = openTerminal(['watch', '--interval', '1'], {
      HOME: muster.home(),
      ...muster.environmentOf(people.dan),
    });
    await terminal.waitForText(/Leases \(1\)/);
    expect(terminal.screenText()).toMatch(/^\u001b\[\?1049h\u001b\[\?25l\u001b\[H/);
    const { execution } = await muster
      .apiClient(people.chloe)
      .deliveryExecutions.getForTarget({ targetType: 'story', targetId: 'WEB-1' });
    await muster
      .apiClient(people.robo)
      .deliveryExecutions.release({ executionId: execution?.id ?? '', leaseToken });
    await terminal.waitForText(/No one holds a lease/);
    terminal.typeText('q');
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screenText().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  });

  itOnTerminal('ends with the token', async () => {
    const token = await muster.world.token(people.orgId, people.dan.me.memberId);
    const terminal = openTerminal(['watch'], { HOME: muster.home(), ...muster.environmentOf(token) });
    await terminal.waitForText(/Locks/);
    await muster.world.rows(
      'update tokens set revoked_at = now() where id = (select id from tokens where member_id = $1 order by id desc limit 1)',
      people.dan.me.memberId,
    );
    await muster.apiClient(people.chloe).locks.acquire({ projectId: 'APP', resources: ['src/over/**'] });
    expect(await terminal.exitCode).not.toBe(0);
    expect(terminal.screenText()).toMatch(/401/);
  });

  /**
   * Opens the command on a terminal in a separate organization, through a proxy that may be unavailable for a
   * while.
   */
  const open = async (...args: string[]) => {
    const { chloe, dan } = await muster.world.org();
    const { projects, locks } = muster.apiClient(chloe);
    await projects.create({ key: 'APP', name: 'App' });
    const forwarder = await openForwarder(muster.url());
    const terminal = openTerminal(['watch', ...args], {
      HOME: muster.home(),
      ...muster.environmentOf(dan),
      MUSTER_BASE_URL: forwarder.url,
    });
    await terminal.waitForText(/Locks/);
    const leaving = new AbortController();
    /** Opens as many event streams as the member may have, directly at the API. */
    const takeStreams = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${dan.me.token}` };
      const url = new URL('/api/events/stream', muster.url());
      for (let count = 0; count < 4; count += 1)
        expect((await fetch(url, { headers, signal: leaving.signal })).status).toBe(200);
    };
    const close = async (): Promise<void> => {
      leaving.abort();
      terminal.typeText('q');
      expect(await terminal.exitCode).toBe(0);
      await forwarder.goOffline();
    };
    const lock = (resource: string) => locks.acquire({ projectId: 'APP', resources: [resource] });
    return { forwarder, terminal, lock, takeStreams, close };
  };

  besideOnTerminal('ends where it is told to in the middle of a look', async () => {
    const { forwarder, terminal } = await open('--interval', '1');
    await forwarder.keep({ path: '/api/locks/list', nth: 1, what: 'answer' });
    terminal.typeText('q');
    await terminal.waitForText(/\u001b\[\?1049l$/);
    await forwarder.goOffline();
    expect(await terminal.exitCode).toBe(0);
  });

  besideOnTerminal('looks when something happened, and hardly where nothing does', async () => {
    const { forwarder, terminal, lock, close } = await open('--interval', '1');
    await pause(5_000);
    // The command reads the locks when it starts and again when the stream connects, but not every second.
    expect(forwarder.asked('/api/locks/list')).toBeLessThanOrEqual(4);
    expect(forwarder.asked('/api/events/stream')).toBe(1);
    await lock('src/live/**');
    await terminal.waitForText(/src\/live/);
    await close();
  });

  besideOnTerminal('keeps looking after newer streams of the member took the place of its own', async () => {
    const { forwarder, terminal, lock, takeStreams, close } = await open('--interval', '1');
    await forwarder.answered('/api/events/stream');
    await takeStreams();
    await lock('src/replaced/**');
    await terminal.waitForText(/src\/replaced/);
    await close();
  });

  besideOnTerminal('goes on without a word through a new start of the API, and misses nothing', async () => {
    const { forwarder, terminal, lock, close } = await open('--interval', '1');
    await pause(1_500);
    await forwarder.goOffline();
    await lock('src/meanwhile/**');
    await pause(500);
    await forwarder.goOnline();
    await terminal.waitForText(/src\/meanwhile/);
    await lock('src/after/**');
    await terminal.waitForText(/src\/after/);
    expect(terminal.screenText()).not.toMatch(/trying again|no answer/);
    await close();
  });
});
