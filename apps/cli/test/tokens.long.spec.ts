/** Tests commands for the caller's own tokens and agents. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
beforeAll(async () => {
  people = await muster.world.org();
});

const run = (...args: string[]) =>
  muster.run(args, {
    env: { MUSTER_BASE_URL: muster.url(), MUSTER_TOKEN: people.chloe.me.token },
  });
const createToken = async (...args: string[]) => {
  const { code, out, err } = await run('tokens', 'create', ...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as { secret: string; token: { id: string; agentId: string | null; name: string } };
};

describe('muster tokens create --agent', () => {
  it('makes the agent with its first token, and then finds it by slug or name', async () => {
    const first = await createToken('--agent', 'Claude Code');
    expect(first).toMatchObject({
      secret: expect.stringMatching(/^must_live_/),
      token: {
        name: expect.stringMatching(/^claude-code on ./),
        scopes: ['write'],
        agentId: expect.any(String),
      },
    });
    for (const word of ['claude-code', 'CLAUDE CODE']) {
      const { token } = await createToken(
        '--agent',
        word,
        '--name',
        'again',
        '--scopes',
        'read',
        '--expires-in-days',
        '2',
      );
      expect(token).toMatchObject({ name: 'again', scopes: ['read'], agentId: first.token.agentId });
    }
    const { items } = await muster.apiClient(people.chloe).agents.list();
    expect(items.map(({ slug }) => slug)).toEqual(['claude-code', 'robo']);
  });

  it('shows the secret once to a person, and a list without it', async () => {
    const shown = await run('tokens', 'create', '--name', 'Laptop', '--scopes', 'write');
    const [secret = ''] = /must_live_[0-9A-Za-z]{38}/.exec(shown.out) ?? [];
    expect(shown.code).toBe(0);
    expect(
      await muster.run(['whoami'], { env: { MUSTER_BASE_URL: muster.url(), MUSTER_TOKEN: secret } }),
    ).toMatchObject({ code: 0, out: expect.stringMatching(/^token +Laptop$/m) });
    const listed = await run('tokens', 'list');
    expect(listed.out).toContain('Laptop');
    expect(listed.out).not.toContain(secret);
  });

  it("still needs a name and scopes for a token of one's own, and says no to an agent", async () => {
    expect(await run('tokens', 'create')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--name, --scopes'),
    });
    const byRobo = await muster.run(['tokens', 'create', '--agent', 'robo'], {
      env: { MUSTER_BASE_URL: muster.url(), MUSTER_TOKEN: people.robo.me.token },
    });
    expect(byRobo).toMatchObject({ code: 3, out: '', err: expect.stringContaining('agents_may_not') });
  });

  it('ends them: a token by its id, an agent with all of its tokens', async () => {
    const { token, secret } = await createToken('--agent', 'brief');
    const works = async () =>
      (await muster.run(['whoami'], { env: { MUSTER_BASE_URL: muster.url(), MUSTER_TOKEN: secret } })).code;
    expect(await works()).toBe(0);
    expect((await run('agents', 'retire', '--agent-id', token.agentId ?? '')).code).toBe(0);
    expect(await works()).toBe(3);
    const other = await createToken('--name', 'x', '--scopes', 'read');
    expect((await run('tokens', 'revoke', '--token-id', other.token.id)).code).toBe(0);
    const refused = await run('tokens', 'create', '--agent', 'brief');
    // A retired agent is not in the list, and its name stays taken.
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('already_exists') });
  });
});
