import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { deliveryIdOf, eventNameOf, newForgeSecret, verifyTrust } from './signatures.ts';

const body = '{"action": "closed", "title": "Größe ✓"}';
const hmac = (secret: string, text: string): string =>
  `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;

describe.each(['github', 'gitea', 'forgejo'] as const)('what %s signs', (kind) => {
  const secret = newForgeSecret(kind);
  const trust = (signature: string | undefined, text = body) =>
    verifyTrust(kind, secret, { 'x-hub-signature-256': signature }, text);

  it('is verified over the bytes as they came', async () => {
    expect(await trust(hmac(secret, body))).toBe('verified');
    expect(await trust(hmac(secret, body), body.replace(' ', ''))).toBeNull();
  });

  it('is nobody else’s: by another secret, cut short, empty, or not signed at all', async () => {
    expect(await trust(hmac(newForgeSecret(kind), body))).toBeNull();
    for (const wrong of [hmac(secret, body).slice(0, -1), 'sha256=', '', 'x', undefined])
      expect(await trust(wrong)).toBeNull();
    expect(await verifyTrust(kind, secret, { 'x-gitlab-token': secret }, body)).toBeNull();
  });
});

it('takes the header of old Gitea, which GitHub does not have, and never in place of a wrong signature', async () => {
  const secret = newForgeSecret('gitea');
  const own = { 'x-gitea-signature': hmac(secret, body).replace('sha256=', '') };
  expect(await verifyTrust('gitea', secret, own, body)).toBe('verified');
  expect(await verifyTrust('forgejo', secret, own, body)).toBe('verified');
  expect(await verifyTrust('gitea', secret, own, `${body} `)).toBeNull();
  expect(await verifyTrust('github', secret, own, body)).toBeNull();
  expect(await verifyTrust('gitea', secret, { ...own, 'x-hub-signature-256': 'sha256=0' }, body)).toBeNull();
});

describe('what GitLab sends', () => {
  const secret = newForgeSecret('gitlab');
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const sign = (seconds: number, id = 'one') => ({
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`,
  });
  const now = Math.floor(Date.now() / 1_000);

  it('is verified by its signing token', async () => {
    expect(await verifyTrust('gitlab', secret, sign(now), body)).toBe('verified');
  });

  it('is refused where the signature is of another body, of long ago, or of another delivery', async () => {
    expect(await verifyTrust('gitlab', secret, sign(now), `${body} `)).toBeNull();
    expect(await verifyTrust('gitlab', secret, sign(now - 3_600), body)).toBeNull();
    expect(await verifyTrust('gitlab', secret, { ...sign(now), 'webhook-id': 'two' }, body)).toBeNull();
  });

  it('is a report by the token in clear, which says nothing of the body, and never in place of a wrong signature', async () => {
    expect(await verifyTrust('gitlab', secret, { 'x-gitlab-token': secret }, body)).toBe('reported');
    expect(await verifyTrust('gitlab', secret, { 'x-gitlab-token': `${secret}x` }, body)).toBeNull();
    expect(
      await verifyTrust('gitlab', secret, { 'x-gitlab-token': secret, 'webhook-signature': 'v1,x' }, body),
    ).toBeNull();
    expect(await verifyTrust('gitlab', secret, {}, body)).toBeNull();
  });
});

it('reads the event and the id of a delivery from the headers of each forge', () => {
  const headers = { 'x-github-event': 'push', 'x-github-delivery': 'one' };
  expect([eventNameOf('github', headers), deliveryIdOf('github', headers)]).toEqual(['push', 'one']);
  const forgejo = { 'x-forgejo-event': 'push', 'x-gitea-event': 'other', 'x-forgejo-delivery': 'two' };
  expect([eventNameOf('forgejo', forgejo), deliveryIdOf('forgejo', forgejo)]).toEqual(['push', 'two']);
  expect(deliveryIdOf('gitlab', { 'idempotency-key': 'three' })).toBe('three');
  for (const id of ['', 'a'.repeat(201), 'a\nb', undefined])
    expect(deliveryIdOf('github', { 'x-github-delivery': id })).toBeUndefined();
});
