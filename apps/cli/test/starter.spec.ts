import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People, programEnvironment } from '@muster/testing';
import { mainFile, type CommandResult, useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
beforeAll(async () => {
  people = await muster.world.org();
});

/** Starts the command as `npm run muster` does and answers its questions. Returns the questions. */
async function runStarter(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult & { asked: string[] }> {
  const child = fork(mainFile, [...args], {
    silent: true,
    env: { ...programEnvironment(), HOME: muster.home(), XDG_CONFIG_HOME: muster.home(), ...env },
  });
  const asked: string[] = [];
  child.on('message', ({ ask }: { ask: string }) => {
    asked.push(ask);
    child.send(
      ask === 'database'
        ? { url: muster.world.database.url }
        : { instance: { baseUrl: muster.url(), token: people.ana.me.token } },
    );
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('both are pipes');
  const [out, err, exit] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  const [code] = exit as [number];
  return { code, out, err, asked };
}

describe('started by somebody who knows of an instance', () => {
  it('asks for its database where a command needs one and none is named', async () => {
    const listed = await runStarter(['outbox', 'list']);
    expect(listed).toEqual({ code: 0, out: 'None.\n', err: '', asked: ['database'] });
    const named = await runStarter(['outbox', 'list'], { DATABASE_URL: muster.world.database.url });
    expect(named).toEqual({ ...listed, asked: [] });
  });

  it('asks where it answers where nothing else says where to call', async () => {
    const whoami = await runStarter(['whoami']);
    expect(whoami).toMatchObject({ code: 0, asked: ['connection'] });
    expect(whoami.out).toMatch(/^from +the instance that runs here$/m);
    expect(await runStarter(['whoami', '--json'], muster.environmentOf(people.ben))).toMatchObject({
      code: 0,
      out: expect.stringContaining('"Ben"'),
      asked: [],
    });
  });

  it('asks for nothing where nothing is needed', async () => {
    expect(await runStarter(['stories', 'list'])).toMatchObject({ code: 2, asked: [] });
  });
});
