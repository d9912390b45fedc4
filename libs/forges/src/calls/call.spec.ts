import { describe, expect, it } from '@jest/globals';
import { forgeApiRoot } from '@muster/contract';
import { requireSuccess, type ForgeAnswer, ForgeRefusal, findRetryTime } from './call.ts';

const now = Date.parse('2026-11-21T09:00:00.000Z');
const answer = (status: number, headers: Record<string, string> = {}, json: unknown = {}): ForgeAnswer => ({
  ...{ status, headers },
  text: JSON.stringify(json),
});
const timeAfterSeconds = (seconds: number): string => new Date(now + seconds * 1_000).toISOString();

describe('how long a forge wants to be left alone', () => {
  const reset = String(now / 1_000 + 90);
  const cases: [what: string, answer: ForgeAnswer, until: string | null][] = [
    ['is what it says', answer(429, { 'retry-after': '30' }), timeAfterSeconds(30)],
    [
      'is until its limit is new',
      answer(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }),
      timeAfterSeconds(90),
    ],
    [
      'is so for GitLab, too',
      answer(429, { 'ratelimit-remaining': '0', 'ratelimit-reset': reset }),
      timeAfterSeconds(90),
    ],
    ['is a minute where it does not say', answer(429), timeAfterSeconds(60)],
    [
      'is a minute where only its words say that there is a limit',
      answer(
        403,
        { 'x-ratelimit-remaining': '4000' },
        { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' },
      ),
      timeAfterSeconds(60),
    ],
    ['is an hour at most', answer(429, { 'retry-after': '999999' }), timeAfterSeconds(3_600)],
    ['is a second at least', answer(429, { 'retry-after': '0' }), timeAfterSeconds(1)],
    ['is not said by who may not', answer(403, { 'x-ratelimit-remaining': '4000' }), null],
    ['is not said by other errors', answer(500, { 'retry-after': '30' }), null],
  ];
  it.each(cases)('%s', (_what, given, until) => {
    expect(findRetryTime(given, now)).toBe(until);
  });
});

describe('an answer', () => {
  const refusal = (given: ForgeAnswer): ForgeRefusal => {
    try {
      requireSuccess('https://api.github.com/repos/acme/api', given, now);
    } catch (error) {
      if (error instanceof ForgeRefusal) return error;
    }
    throw new Error('it was good');
  };

  it('is good, or that nothing changed', () => {
    for (const status of [200, 201, 204, 304])
      expect(requireSuccess('https://api.github.com/', answer(status), now).status).toBe(status);
  });

  it.each([400, 404, 410, 422])('%i is final', (status) => {
    expect(refusal(answer(status))).toMatchObject({ isFinal: true, quietUntil: null });
  });

  it.each([301, 302, 307])('%i is final: where it leads was not looked at', (status) => {
    expect(refusal(answer(status))).toMatchObject({ isFinal: true });
  });

  it.each([401, 403])('%i is final, and nothing more is tried for a while', (status) => {
    expect(refusal(answer(status))).toMatchObject({ isFinal: true, quietUntil: timeAfterSeconds(900) });
  });

  it.each([500, 502, 503])('%i is tried again', (status) => {
    expect(refusal(answer(status))).toMatchObject({ isFinal: false, quietUntil: null });
  });

  it('says in its error what the forge says', () => {
    expect(refusal(answer(404, {}, { message: 'Not Found' })).message).toBe(
      'api.github.com answered 404: Not Found',
    );
    expect(refusal(answer(400, {}, { error: 'x'.repeat(900) })).message).toHaveLength(300);
    expect(refusal({ ...answer(404), text: '<html>' }).message).toBe('api.github.com answered 404');
  });
});

it("asks GitHub at its API's own host, and others where they are", () => {
  expect(forgeApiRoot('github', 'https://github.com')).toBe('https://api.github.com');
  expect(forgeApiRoot('github', 'https://github.acme.example')).toBe('https://github.acme.example/api/v3');
  expect(forgeApiRoot('github', 'https://acme.ghe.com')).toBe('https://api.acme.ghe.com');
  expect(forgeApiRoot('gitlab', 'https://gitlab.com')).toBe('https://gitlab.com/api/v4');
  expect(forgeApiRoot('forgejo', 'https://code.acme.example/git')).toBe(
    'https://code.acme.example/git/api/v1',
  );
});
