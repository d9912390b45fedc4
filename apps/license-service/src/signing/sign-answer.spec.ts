import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { component, createSignatureSync } from 'http-message-sig';
import { createAnswerSigner, digestOf } from './sign-answer.ts';

const { privateKey } = generateKeyPairSync('ed25519');
// A key ID that ends with the same digits as the template's placeholder for the status code. A real key ID may
// contain them, because it is a thumbprint.
const kid = 'a-key-599';
const signAnswer = createAnswerSigner({ kid, key: privateKey });

const ofRequest = (name: string) => component(name, { req: true });

/** Signs an answer directly with the library, without a prepared form. */
function byLibrary(
  method: string,
  target: string,
  body: string | undefined,
  nonce: string | undefined,
  status: number,
  digest: string,
  created: number,
) {
  const always = ['@status', 'content-digest', ofRequest('@method'), ofRequest('@path'), ofRequest('@query')];
  return createSignatureSync(
    {
      ...{ kind: 'response', status, fields: [{ name: 'content-digest', value: digest }] },
      request: {
        ...{ kind: 'request', method, targetUri: `https://example.com${target}` },
        fields: [
          ...(body === undefined ? [] : [{ name: 'content-digest', value: body }]),
          ...(nonce === undefined ? [] : [{ name: 'license-nonce', value: nonce }]),
        ],
      },
    },
    {
      label: 'license',
      components: [
        ...always,
        ...(body === undefined ? [] : [ofRequest('content-digest')]),
        ...(nonce === undefined ? [] : [ofRequest('license-nonce')]),
      ],
      parameters: { created, keyid: kid, alg: 'ed25519' },
      signer: { algorithm: 'ed25519', sign: (base) => sign(null, base, privateKey) },
    },
  );
}

const unit = fc.constantFrom(...Array.from('abcXYZ019-._~!$&()*+,;=:@/%\'"<>[]{}|^`\\?'));

it('is what the library makes of the same answer, to the letter', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE'),
      fc.string({ unit, maxLength: 40 }),
      fc.option(fc.string().map(digestOf), { nil: undefined }),
      fc.option(fc.string({ unit, minLength: 1, maxLength: 40 }), { nil: undefined }),
      fc.constantFrom(200, 400, 404, 409, 429, 503),
      fc.string(),
      (method, rest, digest, nonce, status, content) => {
        const target = `/${rest}`;
        const ours = signAnswer({ method, target, digest, nonce }, { status, content });
        const created = Number(/created=(\d+)/.exec(ours['signature-input'])?.[1]);
        const theirs = byLibrary(method, target, digest, nonce, status, ours['content-digest'], created);
        expect(ours).toMatchObject({ signature: theirs.signature, 'signature-input': theirs.signatureInput });
      },
    ),
    { numRuns: 300 },
  );
});

it('signs whatever came as a target', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (target) => {
      expect(
        signAnswer(
          { method: 'GET', target, digest: undefined, nonce: undefined },
          { status: 404, content: '' },
        ),
      ).toMatchObject({
        signature: expect.stringMatching(/^license=:[A-Za-z0-9+/]{86}==:$/),
      });
    }),
    { numRuns: 300 },
  );
});

it('does not take what looks like a place in its form for one', () => {
  const target = '/PATH-HERE?QUERY-HERE&NONCE-HERE&ASKED-BODY-HERE';
  const digest = digestOf('');
  const asked = { method: 'GET', target, digest, nonce: '1111111111' };
  const ours = signAnswer(asked, { status: 599, content: '' });
  const created = Number(/created=(\d+)/.exec(ours['signature-input'])?.[1]);
  const theirs = byLibrary('GET', target, digest, '1111111111', 599, ours['content-digest'], created);
  expect(ours.signature).toBe(theirs.signature);
});
