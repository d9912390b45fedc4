/** What every answer carries: whether it is the last word, that nobody may keep it, and a signature. */
import { badRequest } from '@muster/service';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { isNonce } from './sign-answer.ts';
import { type Keys } from './signing-key.ts';

/** For probes and collectors, many times a minute; they check no signature. */
const forMachinesHere = new Set(['/livez', '/readyz', '/metrics']);

const nonceOf = (request: FastifyRequest): string | undefined => {
  const nonce = request.headers['license-nonce'];
  return typeof nonce === 'string' && isNonce(nonce) ? nonce : undefined;
};

/**
 * `final`: the service has decided. `retry`: it has not, and nobody may take that for a refusal. A path that does not
 * exist says nothing of any license either.
 */
const verdictOf = (status: number, isKnownPath: boolean): 'final' | 'retry' =>
  status === 429 || status >= 500 || !isKnownPath ? 'retry' : 'final';

export function addSignedAnswers(app: FastifyInstance, keys: () => Keys | undefined): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isUnfit = request.headers['license-nonce'] !== undefined && nonceOf(request) === undefined;
    done(
      isUnfit
        ? badRequest('The nonce does not fit.', [
            { path: 'License-Nonce', message: 'must be 1 to 256 printable ASCII characters without spaces' },
          ])
        : undefined,
    );
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    if (forMachinesHere.has(request.routeOptions.url ?? '')) {
      done();
      return;
    }
    reply.header('license-verdict', verdictOf(reply.statusCode, request.routeOptions.url !== undefined));
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    const signer = keys()?.signer;
    if (signer !== undefined) {
      const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
      const content = isText && request.method !== 'HEAD' ? payload : '';
      const asked = { method: request.method, target: request.raw.url ?? '/', nonce: nonceOf(request) };
      reply.headers(signer.signAnswer(asked, { status: reply.statusCode, content }));
    }
    done();
  });
}

export function addPublishedKeys(app: FastifyInstance, keys: () => Keys | undefined): void {
  app.get('/.well-known/license-keys.json', (_request, reply) =>
    reply
      .header('content-type', 'application/jwk-set+json')
      // Much shorter than the time between the publication of a key and its use.
      .header('cache-control', 'public, max-age=300')
      .send(JSON.stringify({ keys: keys()?.published ?? [] })),
  );
}
