import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';
import { onTerminal, openTerminal } from './terminal.ts';

const muster = useMuster();

let people: People;
let leaseToken: string;
beforeAll(async () => {
  people = await muster.world.org();
  const [chloe, robo] = [muster.direct(people.chloe), muster.direct(people.robo)];
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

const watch = (...args: string[]) => muster.as(people.dan, 'watch', ...args);

describe('muster watch', () => {
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
    expect(app.out).toMatch(/\nNobody is at work\.\n[^]*\nNobody holds a lease\.\n[^]*src\/db/);
    expect(none).toMatchObject({ code: 3, err: expect.stringContaining('404') });
  });

  onTerminal('shows it anew on a terminal, and gives the terminal back as it was', async () => {
    const terminal = openTerminal(['watch', '--interval', '1'], {
      HOME: muster.home(),
      ...muster.environmentOf(people.dan),
    });
    await terminal.until(/Leases \(1\)/);
    expect(terminal.shown()).toMatch(/^\u001b\[\?1049h\u001b\[\?25l\u001b\[H/);
    const { execution } = await muster
      .direct(people.chloe)
      .deliveryExecutions.getForTarget({ targetType: 'story', targetId: 'WEB-1' });
    await muster
      .direct(people.robo)
      .deliveryExecutions.release({ executionId: execution?.id ?? '', leaseToken });
    await terminal.until(/Nobody holds a lease/);
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  });
});
