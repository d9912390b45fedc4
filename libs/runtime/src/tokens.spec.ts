import { beforeEach, describe, expect, it } from '@jest/globals';
import { type People, type Person, useWorld } from '@muster/testing';
import fc from 'fast-check';
import { createAuthenticator, hashToken, isWellFormedToken, newTokenSecret } from './tokens.ts';

const symbols = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixLength = 'must_live_'.length;

describe('a secret', () => {
  it('has its shape, and is never the same twice', () => {
    const secrets = Array.from({ length: 200 }, () => newTokenSecret());
    for (const secret of secrets) {
      expect(secret).toMatch(/^must_live_[0-9A-Za-z]{38}$/);
      expect(isWellFormedToken(secret)).toBe(true);
    }
    expect(new Set(secrets).size).toBe(200);
    expect(newTokenSecret('test')).toMatch(/^must_test_/);
  });

  it('uses all of its symbols alike', () => {
    const seen = Array.from({ length: 500 }, () =>
      newTokenSecret().slice(prefixLength, prefixLength + 32),
    ).join('');
    const counts = Array.from(symbols, (symbol) => seen.split(symbol).length - 1);
    // Among 16,000 symbols, each of the 62 symbols is expected 258 times, with a standard deviation of 16. A
    // difference of eight standard deviations does not occur by chance.
    for (const count of counts) expect(Math.abs(count - 258)).toBeLessThan(130);
  });

  it('with any one character mistyped is found to be wrong, at no cost of SQL', () => {
    const secret = newTokenSecret();
    for (let place = prefixLength; place < secret.length; place += 1) {
      for (const symbol of symbols) {
        if (symbol === secret[place]) continue;
        expect(isWellFormedToken(secret.slice(0, place) + symbol + secret.slice(place + 1))).toBe(false);
      }
    }
  });

  it('with two neighbours swapped, a character lost or one too many is found to be wrong', () => {
    const place = fc.integer({ min: prefixLength, max: prefixLength + 36 });
    fc.assert(
      fc.property(place, fc.constantFrom(...symbols.split('')), (at, symbol) => {
        const secret = newTokenSecret();
        const swapped =
          secret.slice(0, at) + (secret[at + 1] ?? '') + (secret[at] ?? '') + secret.slice(at + 2);
        if (swapped !== secret) expect(isWellFormedToken(swapped)).toBe(false);
        expect(isWellFormedToken(secret.slice(0, at) + secret.slice(at + 1))).toBe(false);
        expect(isWellFormedToken(secret.slice(0, at) + symbol + secret.slice(at))).toBe(false);
      }),
    );
  });

  it.each([
    '',
    'must_live_',
    'Bearer x',
    `${newTokenSecret()}\n`,
    ` ${newTokenSecret()}`,
    newTokenSecret().toUpperCase(),
    newTokenSecret().replace('live', 'prod'),
  ])('is not %j', (text) => {
    expect(isWellFormedToken(text)).toBe(false);
  });
});

describe('the authenticator', () => {
  const world = useWorld({});

  it('answers every token that does not hold with one and the same 401', async () => {
    const { ana, ben, chloe } = await world.org();
    await world.rows('update tokens set revoked_at = now() where member_id = $1', ana.me.memberId);
    await world.rows(
      `update tokens set expires_at = now() - interval '1 s' where member_id = $1`,
      ben.me.memberId,
    );
    await world.rows(`update members set status = 'removed' where id = $1`, chloe.me.memberId);
    const authenticator = createAuthenticator(world.database.app);
    const answers = new Set<string>();
    for (const secret of [ana.me.token, ben.me.token, chloe.me.token, newTokenSecret(), 'nonsense']) {
      const refused = await authenticator.authenticate(secret).catch((error: unknown) => error);
      answers.add(JSON.stringify(refused) + String(refused));
      expect(refused).toMatchObject({ status: 401 });
    }
    expect(answers.size).toBe(1);
    await authenticator.close();
  });

  it('knows a member from an agent of theirs', async () => {
    const { chloe, robo, orgId } = await world.org();
    const authenticator = createAuthenticator(world.database.app);
    const { identity } = await authenticator.authenticate(robo.me.token);
    expect(identity).toMatchObject({
      orgId,
      memberId: chloe.me.memberId,
      agentId: robo.me.agentId,
      agentName: 'Robo',
      memberName: 'Chloé',
    });
    expect((await authenticator.authenticate(chloe.me.token)).identity).toMatchObject({
      agentId: null,
      agentName: null,
    });
    await authenticator.close();
  });

  it('asks once, and again after it was told to forget', async () => {
    const { ana } = await world.org();
    const authenticator = createAuthenticator(world.database.app);
    const first = await authenticator.authenticate(ana.me.token);
    await world.rows('update tokens set revoked_at = now() where hash = $1', hashToken(ana.me.token));
    expect((await authenticator.authenticate(ana.me.token)).identity).toBe(first.identity);
    first.evictFromCache();
    await expect(authenticator.authenticate(ana.me.token)).rejects.toMatchObject({ status: 401 });
    await authenticator.close();
  });

  it('looks again where it is asked to confirm', async () => {
    const { ana } = await world.org();
    const authenticator = createAuthenticator(world.database.app);
    const { verifyStillValid } = await authenticator.authenticate(ana.me.token);
    await verifyStillValid();
    await world.rows('update tokens set revoked_at = now() where hash = $1', hashToken(ana.me.token));
    await expect(verifyStillValid()).rejects.toMatchObject({ status: 401 });
    await expect(authenticator.authenticate(ana.me.token)).rejects.toMatchObject({ status: 401 });
    await authenticator.close();
  });

  describe('the last use of a token', () => {
    let people: People;
    beforeEach(async () => {
      people = await world.org();
    });
    const use = async (meanwhile: () => Promise<unknown> = async () => undefined) => {
      const authenticator = createAuthenticator(world.database.app);
      await authenticator.authenticate(people.ana.me.token);
      await meanwhile();
      await authenticator.close();
    };
    const timesOf = async ({ me }: Person) => {
      const [times] = await world.rows<{ used: string | null; revoked: string | null }>(
        'select last_used_at as used, revoked_at as revoked from tokens where member_id = $1',
        me.memberId,
      );
      return times;
    };
    const lastUse = async (person: Person) => (await timesOf(person))?.used;
    const change = (set: string) =>
      world.rows(`update tokens set ${set} where member_id = $1`, people.ana.me.memberId);

    it('is noted at most once a minute', async () => {
      expect(await lastUse(people.ana)).toBeNull();
      await use();
      const first = await lastUse(people.ana);
      expect(first).not.toBeNull();
      await use();
      expect(await lastUse(people.ana)).toBe(first);
      await change(`last_used_at = last_used_at - interval '61 seconds'`);
      const before = await lastUse(people.ana);
      await use();
      expect(await lastUse(people.ana)).not.toBe(before);
      expect(await lastUse(people.ben)).toBeNull();
    });

    it('is never after its end, whenever it is written', async () => {
      await use(() => change(`revoked_at = now() - interval '10 seconds'`));
      const times = await timesOf(people.ana);
      expect(times?.used).not.toBeNull();
      expect(times?.used).toBe(times?.revoked);
    });
  });
});
