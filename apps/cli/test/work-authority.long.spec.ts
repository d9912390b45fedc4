/**
 * Tests that `muster work` gives an agent no additional rights: no token of a person, and no program that the
 * runner would run.
 */
import { access, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { maxAgentsPerMember } from '@muster/contract';
import { type People } from '@muster/testing';
import { openForwarder } from './forwarder.ts';
import { useMuster } from './muster.ts';
import { type Clone, useRunner } from './runner.ts';

const muster = useMuster();
const runner = useRunner('checkpoint: 1s\n');

let people: People;
let chloe: Client;
beforeAll(async () => {
  people = await muster.world.org();
  chloe = muster.apiClient(people.chloe);
});

async function createProject(key: string): Promise<void> {
  await chloe.projects.create({ key, name: key });
  await chloe.stories.create({ projectId: key, title: 'Say good night', status: 'ready' });
}

const sh = (script: string): string[] => ['--', 'sh', '-c', script];
const start = (clone: Clone, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runner.start(clone, args, { ...muster.environmentOf(people.chloe), ...env });
const stateIn = async (projectId: string) => {
  const [execution] = (await chloe.deliveryExecutions.list({ projectId })).items;
  return execution && { state: execution.state, failure: execution.failure };
};
const fileExists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

describe('the token of a person', () => {
  it('goes to no agent where no token can be made for the run: nothing is taken, and the command exits with 1', async () => {
    await createProject('TOK');
    await muster.world.rows(
      `insert into agents (org_id, id, member_id, name, slug)
       select $1, gen_random_uuid(), $2, 'Agent ' || n, 'agent-' || n from generate_series(1, $3::int) n`,
      people.orgId,
      people.chloe.me.memberId,
      maxAgentsPerMember,
    );
    const [clone, place] = [await runner.clone(), await runner.folder()];
    const working = start(clone, ['TOK-1', ...sh(`env > ${place}/env`)]);
    expect((await working.waitForEvent('warning', /no token could be created/)).message).toContain(
      'agents retire',
    );
    expect(await working.ended).toBe(1);
    expect(await fileExists(path.join(place, 'env'))).toBe(false);
    expect(await stateIn('TOK')).toBeUndefined();
    await muster.world.rows(
      `delete from agents where org_id = $1 and member_id = $2`,
      people.orgId,
      people.chloe.me.memberId,
    );
  });

  it('is not used by --as-me, which is for agents', async () => {
    await createProject('ASM');
    const clone = await runner.clone();
    const refused = start(clone, ['ASM-1', '--as-me', ...sh('true')]);
    expect(await refused.ended).toBe(2);
    expect(await stateIn('ASM')).toBeUndefined();
  });

  it('is in no environment of git, and neither is any variable that is not listed', async () => {
    await createProject('ENV');
    const [clone, place] = [await runner.clone(), await runner.folder()];
    // A filter that the person has set up. The agent only enables it.
    await clone.git('config', 'filter.spy.clean', `sh -c 'env >> ${place}/env; cat'`);
    const script = `echo '* filter=spy' > .gitattributes; echo good > answer.txt`;
    const secrets = { SHELL_SECRET_XYZ: 'a secret', GITHUB_TOKEN: 'another' };
    expect(await start(clone, ['ENV-1', ...sh(script)], secrets).ended).toBe(0);
    expect(await fileExists(path.join(place, 'env'))).toBe(true);
    const seen = await readFile(path.join(place, 'env'), 'utf8');
    expect(seen).toContain('PATH=');
    for (const name of ['SHELL_SECRET_XYZ', 'GITHUB_TOKEN', 'MUSTER_TOKEN'])
      expect(seen).not.toContain(`${name}=`);
  });
});

describe('what an agent puts into .git', () => {
  const marker = (place: string): string => path.join(place, 'ran');
  const script = (place: string): string => `#!/bin/sh\ntouch ${marker(place)}\ncat\n`;

  it.each([
    ['HKA', 'a hook', 'cp $0/run "$(git rev-parse --git-common-dir)/hooks/reference-transaction"'],
    ['HKB', 'a hook of a push', 'cp $0/run "$(git rev-parse --git-common-dir)/hooks/pre-push"'],
  ])('is not run by the runner, which goes on: %s %s', async (key, _what, attack) => {
    await createProject(key);
    const [clone, place] = [await runner.clone(), await runner.folder()];
    await writeFile(path.join(place, 'run'), script(place), { mode: 0o755 });
    const agent = `${attack.replaceAll('$0', place)}; echo good > answer.txt`;
    expect(await start(clone, [`${key}-1`, ...sh(agent)]).ended).toBe(0);
    expect(await fileExists(marker(place))).toBe(false);
    expect(await stateIn(key)).toMatchObject({ state: 'submitted' });
  });

  it.each([
    ['CFA', 'a file watcher', 'git config core.fsmonitor $0/run'],
    ['CFB', 'a filter', `git config filter.x.clean $0/run; echo '* filter=x' > .gitattributes`],
    ['CFC', 'an include', 'git config include.path $0/run'],
    ['CFD', 'a credential helper', 'git config credential.helper $0/run'],
    ['CFE', 'another remote', 'git config remote.origin.pushurl $0/elsewhere'],
    ['CFF', 'a folder with another configuration', 'echo $0 > "$(git rev-parse --git-dir)/commondir"'],
    ['CFG', 'a configuration of the worktree', 'git config extensions.worktreeConfig true'],
    [
      ...['CFH', 'a filter for all repositories'],
      `git config --global filter.x.clean $0/run; echo '* filter=x' > .gitattributes`,
    ],
    ['CFI', 'a credential helper for all repositories', 'git config --global credential.helper $0/run'],
    ['CFJ', 'a file that is included and was not there', `printf '[credential]\nhelper = x\n' > ~/mine`],
  ])('is not run by the runner, which calls git no more: %s %s', async (key, _what, attack) => {
    await createProject(key);
    const [clone, place] = [await runner.clone(), await runner.folder()];
    await writeFile(path.join(place, 'run'), script(place), { mode: 0o755 });
    const agent = `echo good > answer.txt; ${attack.replaceAll('$0', place)}`;
    await writeFile(path.join(place, '.gitconfig'), '[include]\npath = mine\n');
    const working = start(clone, [`${key}-1`, ...sh(agent)], { HOME: place });
    expect(await working.ended).toBe(1);
    expect(await fileExists(marker(place))).toBe(false);
    expect(await stateIn(key)).toEqual({ state: 'completed', failure: 'agent_error' });
  });

  it('is not run in a repository that the agent makes inside, whose head still is part of the work', async () => {
    await createProject('SUB');
    const [clone, place] = [await runner.clone(), await runner.folder()];
    await writeFile(path.join(place, 'run'), script(place), { mode: 0o755 });
    const attack = `git init -q sub; cd sub; echo a > a; git add a; git commit -qm a; cd ..; git add sub 2> /dev/null;
      cd sub; git config filter.x.clean ${place}/run; echo '* filter=x' > .gitattributes; echo b > a; git commit -qm b --allow-empty;
      git rev-parse HEAD > ${place}/head; rm -f ${place}/ran; cd ..; echo good > answer.txt`;
    expect(await start(clone, ['SUB-1', ...sh(attack)]).ended).toBe(0);
    expect(await fileExists(marker(place))).toBe(false);
    const branch = (
      await runner.git('for-each-ref', '--format=%(refname)', 'refs/heads/muster/SUB-1-*')
    ).trim();
    const head = (await readFile(path.join(place, 'head'), 'utf8')).trim();
    expect(await runner.git('ls-tree', branch, 'sub')).toBe(`160000 commit ${head}\tsub`);
  });

  it('may be the name of the author and the settings of its branch', async () => {
    await createProject('NAM');
    const clone = await runner.clone();
    const agent = `git config user.name Robo; git config branch.main.description x; echo good > answer.txt`;
    expect(await start(clone, ['NAM-1', ...sh(agent)]).ended).toBe(0);
    expect(await stateIn('NAM')).toMatchObject({ state: 'submitted' });
  });
});

describe('an agent', () => {
  it('that a signal from outside killed is started once more, and then the story is given back', async () => {
    await createProject('KIL');
    const clone = await runner.clone();
    const once =
      'if [ -e first ]; then echo good > answer.txt; else touch first; sh -c "kill -KILL \\$\\$"; exit $?; fi';
    expect(await start(clone, ['KIL-1', ...sh(once)]).ended).toBe(0);
    expect(await stateIn('KIL')).toMatchObject({ state: 'submitted' });
    await createProject('KIM');
    const working = start(clone, ['KIM-1', ...sh('kill -KILL $$')]);
    expect(await working.ended).toBe(1);
    expect(working.receivedEvents.filter(({ event }) => event === 'started')).toHaveLength(2);
    expect(await stateIn('KIM')).toMatchObject({ state: 'available' });
  });

  it('has muster on its PATH', async () => {
    await createProject('PTH');
    const clone = await runner.clone();
    expect(await start(clone, ['PTH-1', ...sh('muster whoami --json > answer.txt')]).ended).toBe(0);
    expect(await stateIn('PTH')).toMatchObject({ state: 'submitted' });
  });
});

it('says when Muster cannot be reached, and when it is back', async () => {
  await createProject('AWY');
  const [clone, place] = [await runner.clone(), await runner.folder()];
  const forwarder = await openForwarder(muster.url());
  const agent = `echo good > answer.txt; until [ -e ${place}/go ]; do sleep 0.1; done`;
  const working = start(clone, ['AWY-1', ...sh(agent)], { MUSTER_BASE_URL: forwarder.url });
  await working.waitForEvent('started');
  await forwarder.goOffline();
  await working.waitForEvent('warning', /cannot be reached/);
  await forwarder.goOnline();
  await working.waitForEvent('warning', /can be reached again after/);
  await writeFile(path.join(place, 'go'), '');
  expect(await working.ended).toBe(0);
  await forwarder.goOffline();
});

it('says so too while it waits for a story, and takes the one that is created after the outage', async () => {
  await chloe.projects.create({ key: 'IDL', name: 'Idle' });
  const clone = await runner.clone();
  const forwarder = await openForwarder(muster.url());
  const agent = sh('echo good > answer.txt');
  const working = start(clone, ['--next', '--project', 'IDL', ...agent], { MUSTER_BASE_URL: forwarder.url });
  await working.waitForEvent('none');
  await forwarder.goOffline();
  await working.waitForEvent('warning', /cannot be reached/);
  await forwarder.goOnline();
  await working.waitForEvent('warning', /can be reached again after/);
  await chloe.stories.create({ projectId: 'IDL', title: 'Say good night', status: 'ready' });
  await working.waitForEvent('over', /submitted: IDL-1 /);
  working.kill('SIGTERM');
  expect(await working.ended).toBe(0);
  await forwarder.goOffline();
});
