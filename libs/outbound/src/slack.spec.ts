import { describe, expect, it } from '@jest/globals';
import { createSlackTokens, isSignedBySlack, isSlackResponseUrl, sendSlackResponse } from './slack.ts';
import { type Sender } from './sender.ts';

describe('the signature of a request', () => {
  // The example of Slack's documentation.
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const timestamp = '1531420618';
  const text =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const body = Buffer.from(text);
  const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
  const sent = { timestamp, signature, body };

  it('is that of Slack, for five minutes', () => {
    const at = Number(timestamp);
    for (const now of [at, at + 300, at - 300]) expect(isSignedBySlack(secret, sent, now)).toBe(true);
    for (const now of [at + 301, at - 301]) expect(isSignedBySlack(secret, sent, now)).toBe(false);
  });

  it.each([
    ['another body', { body: Buffer.from(`${text}&`) }],
    ['another time', { timestamp: '1531420619' }],
    ['another version', { signature: signature.replace('v0', 'v1') }],
    ['no signature', { signature: '' }],
    ['a time that is no number', { timestamp: '1531420618.0' }],
  ])('does not hold for %s', (_, changes) => {
    expect(isSignedBySlack(secret, { ...sent, ...changes }, Number(timestamp))).toBe(false);
  });
});

describe('what Muster signs', () => {
  const answer = {
    orgId: '01936d5c-0000-7000-8000-000000000001',
    questionId: '01936d5c-0000-7000-8000-000000000002',
    option: 3,
  };
  const key = Buffer.alloc(32, 1);

  it('is read with any configured key, for one organization', () => {
    const tokens = createSlackTokens(['new key', 'old key']);
    for (const signing of [tokens, createSlackTokens(['old key'])]) {
      const parsed = tokens.parseValue(signing.valueOf(key, answer));
      expect(parsed).toMatchObject(answer);
      expect(parsed && tokens.isSigned(key, parsed)).toBe(true);
      expect(parsed && tokens.isSigned(Buffer.alloc(32, 2), parsed)).toBe(false);
      expect(parsed && tokens.isSigned(key, { ...parsed, option: 1 })).toBe(false);
    }
    expect(createSlackTokens(['another']).valueOf(key, answer)).not.toBe(tokens.valueOf(key, answer));
  });

  it('cannot be used for another purpose', () => {
    const tokens = createSlackTokens(['key']);
    const link = { teamId: 'T0', userId: 'U0', userName: 'Größe', expiresAt: 1 };
    const token = tokens.linkTokenOf(key, link);
    expect(tokens.openLinkToken(key, token)).toEqual(link);
    expect(tokens.parseValue(token)).toBeUndefined();
    expect(tokens.openLinkToken(key, tokens.valueOf(key, answer))).toBeUndefined();
  });
});

describe('a response', () => {
  it.each([
    ['https://hooks.slack.com/actions/T0/1/x', true],
    ['https://hooks.slack-gov.com/actions/T0/1/x', true],
    ['https://hooks.slack.com:444/actions', false],
    ['http://hooks.slack.com/actions', false],
    ['https://hooks.slack.com.evil.example/', false],
    ['https://user@hooks.slack.com/', false],
    ['hooks.slack.com', false],
  ])('to %s is allowed: %s', (url, isAllowed) => {
    expect(isSlackResponseUrl(url)).toBe(isAllowed);
  });

  it.each([
    [200, false],
    [404, false],
    [410, false],
    [302, true],
    [408, true],
    [429, true],
    [500, true],
  ])('that is answered with %s is sent again: %s', async (status, isRetried) => {
    const sender = { post: async () => ({ status }) } as unknown as Sender;
    const sending = sendSlackResponse(sender, 'https://hooks.slack.com/actions/x', '{}');
    await (isRetried ? expect(sending).rejects.toThrow(String(status)) : sending);
  });
});
