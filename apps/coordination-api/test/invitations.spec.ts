/**
 * Accepting an invitation without a token: the page that the e-mail links to, and the path that it posts to.
 */
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
const { world } = api;
const path = '/invitations/accept';

const post = (body: unknown, headers: Record<string, string> = {}) => api.request(path, { body, headers });

async function inviteMember(
  { ana }: People<AllHandlers>,
  email = 'noor@example.com',
): Promise<{ id: string; secret: string }> {
  const { invitation } = await ana.members.invite({ email });
  const secret = `inv_${randomBytes(16).toString('hex')}`;
  await world.rows(
    'update invitations set token_hash = sha256($2::bytea) where id = $1',
    invitation.id,
    Buffer.from(secret),
  );
  return { id: invitation.id, secret };
}

describe('POST /invitations/accept', () => {
  it('makes a member of somebody without a token, and answers one that works', async () => {
    const people = await api.org();
    const { secret } = await inviteMember(people);
    const answer = await post({ token: secret, name: 'Noor' });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'application/json; charset=utf-8',
      'no-store',
    ]);
    expect(Object.keys(answer.body).sort()).toEqual(['apiToken', 'member']);
    const noor = api.client(String(answer.body['apiToken']));
    const me = await noor.session.identity();
    expect(me.member).toEqual(answer.body['member']);
    expect(me.token).toMatchObject({ name: 'invitation', scopes: ['write'], agentId: null });
    expect((await people.dan.members.list({ query: 'noor' })).items).toEqual([answer.body['member']]);
  });

  it('tells whoever invited', async () => {
    const people = await api.org();
    const { secret } = await inviteMember(people);
    await post({ token: secret, name: 'Noor' });
    const { items } = await people.ana.notifications.list({ kinds: ['invitation_accepted'] });
    expect(items).toMatchObject([{ kind: 'invitation_accepted', actor: { name: 'Noor' } }]);
  });

  it('leaves the request in the audit, and the secrets nowhere', async () => {
    const people = await api.org();
    const { id, secret } = await inviteMember(people);
    const answer = await post(
      { token: secret, name: 'Noor' },
      { 'x-request-id': 'accepting', 'user-agent': 'curl/8' },
    );
    const { items } = await people.ana.audit.list({ operation: 'invitations.accept' });
    expect(items).toMatchObject([
      {
        actor: { name: 'Noor' },
        target: id,
        outcome: 'allowed',
        requestId: 'accepting',
        userAgent: 'curl/8',
      },
    ]);
    const traces = await world.rows<{ text: string }>(
      `select t::text as text from (select to_jsonb(a) as t from audit a union all select to_jsonb(a) from activity a
         union all select to_jsonb(o) from outbox o union all select to_jsonb(i) from invitations i
         union all select to_jsonb(k) from tokens k) rows`,
    );
    expect(traces.length).toBeGreaterThan(5);
    for (const { text } of traces) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(String(answer.body['apiToken']));
    }
  });

  it.each([
    ['unknown', async () => undefined, 404, 'not_found'],
    ['used', (secret: string) => post({ token: secret, name: 'First' }), 409, 'already_resolved'],
    [
      'expired',
      (secret: string) =>
        world.rows(
          `update invitations set expires_at = now() - interval '1 s' where token_hash = sha256($1::bytea)`,
          Buffer.from(secret),
        ),
      422,
      'expired',
    ],
    [
      'without a seat',
      (secret: string) =>
        world.rows(
          'update subscriptions set seats = 1 where org_id = (select org_id from invitations where token_hash = sha256($1::bytea))',
          Buffer.from(secret),
        ),
      422,
      'seats_exhausted',
    ],
  ] as const)('refuses one that is %s', async (what, before, status, reason) => {
    const people = await api.org();
    const { secret } = await inviteMember(people);
    await before(secret);
    const answer = await post({ token: what === 'unknown' ? `inv_${'x'.repeat(32)}` : secret, name: 'Noor' });
    expect([answer.status, answer.body.status, answer.body.details?.reason]).toEqual([
      status,
      status,
      reason,
    ]);
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
  });

  it.each([
    ['nothing', undefined],
    ['no JSON', '{'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a text', '"hello"'],
    ['no name', { token: `inv_${'x'.repeat(32)}` }],
    ['no token', { name: 'Noor' }],
    ['a field too many', { token: `inv_${'x'.repeat(32)}`, name: 'Noor', role: 'owner' }],
    ['a name that is no text', { token: 'x', name: { first: 'Noor' } }],
    ['a name with NUL', '{"token": "x", "name": "a\\u0000b"}'],
    ['a lone surrogate', '{"token": "x", "name": "a\\ud800b"}'],
    ['a token of a megabyte', JSON.stringify({ token: 'x'.repeat(10_000), name: 'Noor' })],
  ])('answers %s with 400', async (_what, body) => {
    const answer = await post(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  });

  it('reads no more than it needs, and nothing but JSON', async () => {
    expect((await post(JSON.stringify({ token: 'x', name: 'y'.repeat(20_000) }))).status).toBe(413);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      expect((await post('token=x&name=y', { 'content-type': type })).status).toBe(415);
  });
});

describe('GET /invitations/accept', () => {
  const page = () => fetch(new URL(`${path}?token=inv_%3Cscript%3Ealert(1)%3C/script%3E`, api.url()));

  it('is a page in which nothing of the request stands', async () => {
    const response = await page();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    const html = await response.text();
    expect(html).not.toContain('alert(1)');
    expect(html).toContain('<form id="form">');
    expect(html).toBe(await (await fetch(new URL(path, api.url()))).text());
  });

  it('runs its own script and style, by hash, and nothing else', async () => {
    const response = await page();
    const policy = response.headers.get('content-security-policy') ?? '';
    const html = await response.text();
    for (const [tag, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const inline = [...html.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))].map(
        (match) => match[1] ?? '',
      );
      const hashes = inline.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
      expect(hashes).toHaveLength(1);
      expect(policy).toContain(`${directive} ${hashes.join(' ')};`);
    }
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(html).not.toMatch(/\son[a-z]+=|style=/);
  });

  it('keeps its address, which has the secret, to itself', async () => {
    const response = await page();
    await response.text();
    const { headers } = response;
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual([
      'no-referrer',
      'no-store',
    ]);
  });
});
